"""Opens the database file and puts SQLite's errors into words. The only place that catches sqlite3 exceptions."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from desktop_app.core.errors import Blame, DraftglassError, Problem
from desktop_app.store.schema import migrate

_MEMORY: Final = Path(":memory:")
_BUSY_TIMEOUT_S = 2.0
_PRIMARY_CODE = 0xFF
"""SQLite's extended result codes carry the primary one in their low byte."""
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_COMPANIONS = ("", "-wal", "-shm")


class _FailedCheck(sqlite3.DatabaseError):
    """`PRAGMA quick_check` found damage that SQLite had not stumbled over yet."""

    sqlite_errorcode = sqlite3.SQLITE_CORRUPT


def open_database(path: Path) -> tuple[sqlite3.Connection, Problem | None]:
    """Connect to the file at `path`, made and migrated as needed.

    A damaged file is moved aside and a new one started; the Problem then says where the old one lies. Raises
    DraftglassError where the file cannot be opened, or was written by a newer version.
    """
    with translated():
        try:
            return _connect(path), None
        except sqlite3.DatabaseError as error:
            if _code(error) not in _DAMAGED:
                raise
        aside = _move_aside(path)
        problem = Problem(
            f"The file with your chats was damaged; it is kept as {aside.name} and a new one was started.",
            f"The old file lies in {aside.parent}.",
            Blame.ENVIRONMENT,
        )
        return _connect(path), problem


def open_or_copy(path: Path) -> tuple[sqlite3.Connection, Problem | None]:
    """Like `open_database`, but never refuses: where the file cannot be used, chats live in memory for this run.

    They begin with what the file holds, as far as that can be read; a full disk, say, leaves old chats readable.
    """
    try:
        return open_database(path)
    except DraftglassError as error:
        cause = error.problem
    hint = f"{cause.hint} Until then, new messages are lost when the window closes.".strip()
    return _copy(path), Problem(cause.message, hint, cause.blame)


@contextmanager
def translated() -> Iterator[None]:
    """Turn what sqlite3 and the file system raise inside into DraftglassError."""
    try:
        yield
    except sqlite3.Error as error:
        raise DraftglassError(_problem(error)) from error
    except UnicodeEncodeError as error:
        raise DraftglassError(
            Problem(
                "The text holds half a character (a lone surrogate), which cannot be stored.",
                "Delete it and try again.",
                Blame.USER,
            )
        ) from error
    except OSError as error:
        raise DraftglassError(
            Problem(
                f"The folder of the chats cannot be used: {error.strerror or error}.",
                "Check that it exists and can be written to.",
                Blame.ENVIRONMENT,
            )
        ) from error


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """All or nothing: commits at the end, rolls back on any exception. Raises DraftglassError."""
    with translated():
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
            connection.execute("COMMIT")
        finally:
            # SQLite rolls back by itself on a full disk, and so on; a second ROLLBACK would be an error.
            if connection.in_transaction:
                connection.execute("ROLLBACK")


def _connect(path: Path) -> sqlite3.Connection:
    if path != _MEMORY:
        path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path, timeout=_BUSY_TIMEOUT_S, isolation_level=None)
    try:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        _check(connection)
        migrate(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _copy(path: Path) -> sqlite3.Connection:
    """A database in memory with the contents of the file, or an empty one where they cannot be read."""
    connection = sqlite3.connect(_MEMORY, isolation_level=None)
    try:
        # Immutable: reading a database with a log needs to write files beside it otherwise.
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as file:
            file.backup(connection)
        connection.execute("PRAGMA foreign_keys = ON")
        _check(connection)
        migrate(connection)
    except (sqlite3.Error, DraftglassError):
        connection.close()
        return _connect(_MEMORY)
    return connection


def _check(connection: sqlite3.Connection) -> None:
    (answer,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if answer != "ok":
        raise _FailedCheck(answer)


def _move_aside(path: Path) -> Path:
    """Rename the file, with its log, to a name that is free."""
    stamp = datetime.now(UTC).astimezone().strftime("%Y-%m-%d-%H%M%S")
    aside = path.with_name(f"{path.stem}.damaged-{stamp}{path.suffix}")
    number = 1
    while aside.exists():
        number += 1
        aside = path.with_name(f"{path.stem}.damaged-{stamp}-{number}{path.suffix}")
    for suffix in _COMPANIONS:
        companion = path.with_name(path.name + suffix)
        if companion.exists():
            companion.rename(aside.with_name(aside.name + suffix))
    return aside


def _code(error: sqlite3.Error) -> int:
    """SQLite's primary result code, or that of a general error where Python itself raised."""
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    return code & _PRIMARY_CODE


def _problem(error: sqlite3.Error) -> Problem:
    match _code(error):
        case sqlite3.SQLITE_FULL:
            return Problem(
                "The disk is full, so the chat could not be saved.",
                "Free some space; what is on screen is lost when the window closes.",
                Blame.ENVIRONMENT,
            )
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return Problem(
                "Another program holds the file with your chats, so the chat could not be saved.",
                "Close the other program, or wait until it is done.",
                Blame.ENVIRONMENT,
            )
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return Problem(
                "The file with your chats is damaged.",
                "Restart Draftglass: it puts the damaged file aside and starts a new one.",
                Blame.ENVIRONMENT,
            )
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_IOERR:
            return Problem(
                f"The file with your chats cannot be read or written: {error}.",
                "Check the permissions of its folder and whether the disk is there.",
                Blame.ENVIRONMENT,
            )
    return Problem(f"The chat could not be saved: {error}.")
