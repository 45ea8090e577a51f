"""The tables, as numbered migrations. A migration that was released is never edited; a change is a new one."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

from desktop_app.core.errors import Blame, DraftglassError, Problem

MIGRATIONS: Final[tuple[tuple[str, ...], ...]] = (
    (
        # A composite key lets a message refer only to a parent in its own chat. AUTOINCREMENT keeps ids growing along
        # every branch, and ids of removed messages from coming back.
        """
        CREATE TABLE chats (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            title TEXT NOT NULL,
            named INTEGER NOT NULL DEFAULT 0 CHECK (named IN (0, 1)),
            created_ms INTEGER NOT NULL,
            updated_ms INTEGER NOT NULL,
            leaf_id INTEGER REFERENCES messages (id) ON DELETE SET NULL,
            deleted_ms INTEGER
        ) STRICT
        """,
        """
        CREATE TABLE messages (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            chat_id INTEGER NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
            parent_id INTEGER,
            role TEXT NOT NULL CHECK (role IN ('system', 'user', 'assistant')),
            text TEXT NOT NULL,
            visible INTEGER NOT NULL,
            state TEXT NOT NULL CHECK (state IN ('complete', 'streaming', 'interrupted', 'cancelled', 'failed')),
            created_ms INTEGER NOT NULL,
            model TEXT NOT NULL DEFAULT '',
            settings BLOB,
            ending BLOB,
            baseline BLOB,
            problem BLOB,
            UNIQUE (chat_id, id),
            FOREIGN KEY (chat_id, parent_id) REFERENCES messages (chat_id, id) ON DELETE CASCADE
        ) STRICT
        """,
        """
        CREATE TABLE rounds (
            id INTEGER PRIMARY KEY,
            message_id INTEGER NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
            trace BLOB NOT NULL
        ) STRICT
        """,
        "CREATE INDEX messages_by_parent ON messages (chat_id, parent_id)",
        "CREATE INDEX messages_streaming ON messages (state) WHERE state = 'streaming'",
        "CREATE INDEX chats_by_leaf ON chats (leaf_id)",
        "CREATE INDEX rounds_by_message ON rounds (message_id, id)",
    ),
    (
        # What the prompt of an answer was: how much of it was read, how many turns had no room in it.
        "ALTER TABLE messages ADD COLUMN prefill BLOB",
        "ALTER TABLE messages ADD COLUMN left_out INTEGER NOT NULL DEFAULT 0",
    ),
)
"""Migration n leads from version n to n + 1 (`PRAGMA user_version`)."""


def migrate(connection: sqlite3.Connection, migrations: Sequence[Sequence[str]] = MIGRATIONS) -> None:
    """Bring the database up to date, each version in a transaction of its own.

    Raises DraftglassError where a newer Draftglass wrote the database, and leaves it as it is.
    """
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > len(migrations):
        raise DraftglassError(
            Problem(
                "The chats were written by a newer version of Draftglass "
                f"(chat format {version}, this one knows up to {len(migrations)}).",
                "Install the newer version to read them; nothing was changed.",
                Blame.USER,
            )
        )
    for number in range(version, len(migrations)):
        _apply(connection, number + 1, migrations[number])


def _apply(connection: sqlite3.Connection, version: int, statements: Sequence[str]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        for statement in statements:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {version}")
        connection.execute("COMMIT")
    except sqlite3.Error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
