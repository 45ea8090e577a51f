"""Chats on disk: trees of messages, each answer with its trace. SQL stands in this room and nowhere else.

Plain and synchronous: one connection, used from the thread that made it. Every method that writes does so in one
transaction and raises DraftglassError. What it has returned from survives a killed process; a power cut may cost the
last moments, never the file.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

from desktop_app.core.baseline import Baseline
from desktop_app.core.errors import Blame, DraftglassError, Problem
from desktop_app.core.rounds import Round
from desktop_app.core.settings import AnswerSettings
from desktop_app.protocol.messages import Finished, Prefilling, Role
from desktop_app.store.codec import pack, pack_rounds, unpack, unpack_rounds
from desktop_app.store.database import open_database, open_or_copy, transaction, translated
from desktop_app.store.records import ChatSummary, MessageState, Outcome, StoredMessage, TurnIds

NEW_CHAT_TITLE = "New chat"
TITLE_CHARACTERS = 60

_BRANCH = """
    WITH RECURSIVE branch (id, parent_id) AS (
        SELECT m.id, m.parent_id FROM messages m JOIN chats c ON c.leaf_id = m.id WHERE c.id = ?
        UNION ALL
        SELECT m.id, m.parent_id FROM messages m JOIN branch b ON m.id = b.parent_id
    )
    SELECT id, chat_id, parent_id, role, text, visible, state, created_ms, model, settings, ending, baseline, problem,
        prefill, left_out
    FROM messages WHERE id IN (SELECT id FROM branch) ORDER BY id
"""
"""Ids grow from root to leaf, so their order is that of the conversation."""

_NEWEST_BELOW = """
    WITH RECURSIVE below (id) AS (
        SELECT :top UNION ALL
        SELECT m.id FROM messages m JOIN below b ON m.chat_id = :chat AND m.parent_id IS b.id
    )
    SELECT max(id) FROM below
"""
"""The newest message in the tree under :top, itself included; NULL is above the roots. It is a leaf, since ids grow."""


def _system_ms() -> int:
    return time.time_ns() // 1_000_000


class ChatStore:
    """The chats in one file.

    `opening_problem` is what the user should know about opening it, such as a damaged file that was moved aside.
    """

    def __init__(
        self,
        path: Path,
        now_ms: Callable[[], int] = _system_ms,
        *,
        opener: Callable[[Path], tuple[sqlite3.Connection, Problem | None]] = open_database,
    ) -> None:
        """Open or make the file. Raises DraftglassError where it cannot be used; `open` doesn't."""
        self._connection, self.opening_problem = opener(path)
        self._now_ms = now_ms

    @classmethod
    def open(cls, path: Path, now_ms: Callable[[], int] = _system_ms) -> Self:
        """Where the file cannot be used, work on a copy in memory; `opening_problem` then says why."""
        return cls(path, now_ms, opener=open_or_copy)

    def close(self) -> None:
        with translated():
            self._connection.close()

    # The list of chats

    def create_chat(self, title: str = "") -> int:
        """Add an empty chat; without a title it takes that of its first message."""
        with transaction(self._connection) as db:
            return _insert_chat(db, title, self._now_ms())

    def chats(self) -> list[ChatSummary]:
        """Every chat that is not deleted, the latest used first."""
        with translated():
            rows = self._connection.execute(
                "SELECT id, title, created_ms, updated_ms FROM chats WHERE deleted_ms IS NULL"
                " ORDER BY updated_ms DESC, id DESC"
            )
            return [ChatSummary(*row) for row in rows]

    def rename(self, chat_id: int, title: str) -> None:
        """Give a chat a title of the user's own."""
        with transaction(self._connection) as db:
            _must_change(db.execute("UPDATE chats SET title = ?, named = 1 WHERE id = ?", (title, chat_id)))

    def delete(self, chat_id: int) -> None:
        """Take a chat off the list; it can come back until `purge_deleted`."""
        with transaction(self._connection) as db:
            _must_change(db.execute("UPDATE chats SET deleted_ms = ? WHERE id = ?", (self._now_ms(), chat_id)))

    def undo_delete(self, chat_id: int) -> None:
        with transaction(self._connection) as db:
            _must_change(db.execute("UPDATE chats SET deleted_ms = NULL WHERE id = ?", (chat_id,)))

    def purge_deleted(self) -> int:
        """Erase deleted chats for good; how many. For the start of the app, when no undo is on offer any more."""
        with transaction(self._connection) as db:
            return db.execute("DELETE FROM chats WHERE deleted_ms IS NOT NULL").rowcount

    # Turns

    def begin_turn(
        self, chat_id: int | None, parent_id: int | None, user_text: str, *, model: str, settings: AnswerSettings
    ) -> TurnIds:
        """Store the user's message below `parent_id` (None: at the root) and an empty answer to it.

        `chat_id` None makes a new chat for them.
        """
        now = self._now_ms()
        with transaction(self._connection) as db:
            if chat_id is None:
                chat_id = _insert_chat(db, "", now)
            db.execute(
                "UPDATE chats SET title = ? WHERE id = ? AND named = 0"
                " AND NOT EXISTS (SELECT 1 FROM messages WHERE chat_id = chats.id)",
                (title_from(user_text), chat_id),
            )
            cursor = db.execute(
                "INSERT INTO messages (chat_id, parent_id, role, text, visible, state, created_ms)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (chat_id, parent_id, Role.USER, user_text, len(user_text), MessageState.COMPLETE, now),
            )
            user_id = _new_id(cursor)
            return TurnIds(chat_id, user_id, self._insert_answer(db, user_id, model, settings, now))

    def begin_answer(self, user_message_id: int, *, model: str, settings: AnswerSettings) -> int:
        """Add another empty answer to a user's message and make it the current one; its id."""
        with transaction(self._connection) as db:
            return self._insert_answer(db, user_message_id, model, settings, self._now_ms())

    def note_prompt(self, answer_id: int, prefill: Prefilling, left_out: int) -> None:
        """Store how the prompt of a streaming answer was read, and how many of the oldest turns were left out."""
        with transaction(self._connection) as db:
            _must_change(
                db.execute(
                    "UPDATE messages SET prefill = ?, left_out = ? WHERE id = ? AND state = ?",
                    (pack(prefill), left_out, answer_id, MessageState.STREAMING),
                )
            )

    def append_rounds(self, answer_id: int, rounds: Sequence[Round], text: str, visible: int) -> None:
        """Store new rounds of a streaming answer, with its whole text so far and how much of it is settled."""
        with transaction(self._connection) as db:
            _must_change(
                db.execute(
                    "UPDATE messages SET text = ?, visible = ? WHERE id = ? AND state = ?",
                    (text, visible, answer_id, MessageState.STREAMING),
                )
            )
            if rounds:
                db.execute("INSERT INTO rounds (message_id, trace) VALUES (?, ?)", (answer_id, pack_rounds(rounds)))

    def finish_answer(
        self,
        answer_id: int,
        state: MessageState,
        *,
        text: str,
        visible: int,
        ending: Finished | None = None,
        baseline: Baseline | None = None,
        problem: Problem | None = None,
    ) -> None:
        """Close a streaming answer with its final text. Rounds not yet stored go to `append_rounds` first."""
        with transaction(self._connection) as db:
            _must_change(
                db.execute(
                    "UPDATE messages SET state = ?, text = ?, visible = ?, ending = ?, baseline = ?, problem = ?"
                    " WHERE id = ? AND state = ?",
                    (
                        state,
                        text,
                        visible,
                        pack(ending),
                        pack(baseline),
                        pack(problem),
                        answer_id,
                        MessageState.STREAMING,
                    ),
                )
            )
            db.execute(
                "UPDATE chats SET updated_ms = ? WHERE id = (SELECT chat_id FROM messages WHERE id = ?)",
                (self._now_ms(), answer_id),
            )

    def remove_turn(self, message_id: int) -> None:
        """Remove a refused prompt (or a refused second answer) and what hangs below it.

        If the current branch ran through it, the branch now ends at the newest message left below its parent.
        """
        with transaction(self._connection) as db:
            row = db.execute("SELECT chat_id, parent_id FROM messages WHERE id = ?", (message_id,)).fetchone()
            if row is None:
                raise DraftglassError(_missing("message", message_id))
            chat_id, parent_id = row
            db.execute("DELETE FROM messages WHERE id = ?", (message_id,))
            (newest,) = db.execute(_NEWEST_BELOW, {"top": parent_id, "chat": chat_id}).fetchone()
            db.execute("UPDATE chats SET leaf_id = ? WHERE id = ? AND leaf_id IS NULL", (newest, chat_id))
            db.execute(
                "UPDATE chats SET title = ? WHERE id = ? AND named = 0"
                " AND NOT EXISTS (SELECT 1 FROM messages WHERE chat_id = chats.id)",
                (NEW_CHAT_TITLE, chat_id),
            )

    def repair_interrupted(self) -> int:
        """Mark answers that a killed app left streaming; how many. For the start of the app."""
        problem = Problem(
            "Draftglass ended while this answer was being written.",
            "The text up to there is kept; regenerate for a whole answer.",
            Blame.ENVIRONMENT,
        )
        with transaction(self._connection) as db:
            return db.execute(
                "UPDATE messages SET state = ?, problem = ? WHERE state = ?",
                (MessageState.INTERRUPTED, pack(problem), MessageState.STREAMING),
            ).rowcount

    def branch(self, chat_id: int) -> list[StoredMessage]:
        """The messages from the root to the current leaf, answers with their traces."""
        with translated():
            rows = self._connection.execute(_BRANCH, (chat_id,)).fetchall()
            return [_message(row, self._rounds(row[0])) for row in rows]

    def _rounds(self, message_id: int) -> tuple[Round, ...]:
        traces = self._connection.execute("SELECT trace FROM rounds WHERE message_id = ? ORDER BY id", (message_id,))
        return tuple(round_ for (trace,) in traces for round_ in unpack_rounds(trace))

    def _insert_answer(
        self, db: sqlite3.Connection, user_message_id: int, model: str, settings: AnswerSettings, now: int
    ) -> int:
        cursor = db.execute(
            "INSERT INTO messages (chat_id, parent_id, role, text, visible, state, created_ms, model, settings)"
            " SELECT chat_id, id, ?, '', 0, ?, ?, ?, ? FROM messages WHERE id = ? AND role = ?",
            (Role.ASSISTANT, MessageState.STREAMING, now, model, pack(settings), user_message_id, Role.USER),
        )
        if cursor.rowcount != 1:
            raise DraftglassError(_missing("user's message", user_message_id))
        answer_id = _new_id(cursor)
        db.execute(
            "UPDATE chats SET leaf_id = ?, updated_ms = ? WHERE id = (SELECT chat_id FROM messages WHERE id = ?)",
            (answer_id, now, answer_id),
        )
        return answer_id


def _insert_chat(db: sqlite3.Connection, title: str, now: int) -> int:
    cursor = db.execute(
        "INSERT INTO chats (title, named, created_ms, updated_ms) VALUES (?, ?, ?, ?)",
        (title or NEW_CHAT_TITLE, bool(title), now, now),
    )
    return _new_id(cursor)


def title_from(text: str) -> str:
    """A chat's title from its first message: its words on one line, cut where it grows long."""
    title = " ".join(text.split())
    if len(title) > TITLE_CHARACTERS:
        title = title[: TITLE_CHARACTERS - 1].rstrip() + "…"
    return title or NEW_CHAT_TITLE


def _message(row: tuple[Any, ...], rounds: tuple[Round, ...]) -> StoredMessage:
    *plain, role, text, visible, state, created_ms, model, settings, ending, baseline, problem, prefill, left_out = row
    id_, chat_id, parent_id = plain
    return StoredMessage(
        id=id_,
        chat_id=chat_id,
        parent_id=parent_id,
        role=Role(role),
        text=text,
        visible=visible,
        state=MessageState(state),
        created_ms=created_ms,
        model=model,
        settings=unpack(settings, AnswerSettings),
        outcome=Outcome(unpack(ending, Finished), unpack(baseline, Baseline), unpack(problem, Problem)),
        prefill=unpack(prefill, Prefilling),
        left_out=left_out,
        rounds=rounds,
    )


def _new_id(cursor: sqlite3.Cursor) -> int:
    assert cursor.lastrowid is not None, "only called after an INSERT"
    return cursor.lastrowid


def _must_change(cursor: sqlite3.Cursor) -> None:
    if cursor.rowcount != 1:
        raise DraftglassError(Problem("A change was meant for a chat or an answer that is not there any more."))


def _missing(what: str, id_: int) -> Problem:
    return Problem(f"There is no {what} {id_} in the store.")
