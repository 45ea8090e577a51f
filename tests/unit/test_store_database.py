"""The database file: migrations, and what goes wrong with files and disks."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from desktop_app.core.errors import Blame, DraftglassError, Problem
from desktop_app.core.settings import AnswerSettings
from desktop_app.store import ChatStore, database
from desktop_app.store.schema import MIGRATIONS, migrate


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "chats.db"


@pytest.fixture
def connection(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        yield connection


def _refusal(path: Path) -> Problem:
    with pytest.raises(DraftglassError) as caught:
        ChatStore(path).close()
    return caught.value.problem


def _filled(path: Path, chats: int = 200) -> None:
    with closing(ChatStore(path)) as store:
        for number in range(chats):
            store.begin_turn(store.create_chat(), None, f"chat {number} " * 20, model="Tiny", settings=AnswerSettings())


def _version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def test_from_nothing_to_version_1(connection: sqlite3.Connection) -> None:
    migrate(connection, MIGRATIONS[:1])
    assert _version(connection) == 1
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert {"chats", "messages", "rounds"} <= tables
    migrate(connection, MIGRATIONS[:1])
    assert _version(connection) == 1


def test_from_version_1_to_2_keeps_answers_whose_prompt_is_not_known(
    path: Path, connection: sqlite3.Connection
) -> None:
    migrate(connection, MIGRATIONS[:1])
    connection.execute("INSERT INTO chats (title, created_ms, updated_ms) VALUES ('old', 1, 1)")
    for role, parent in (("user", None), ("assistant", 1)):
        connection.execute(
            "INSERT INTO messages (chat_id, parent_id, role, text, visible, state, created_ms)"
            " VALUES (1, ?, ?, 'Hi', 2, 'complete', 1)",
            (parent, role),
        )
    connection.execute("UPDATE chats SET leaf_id = 2")
    migrate(connection, MIGRATIONS[:2])
    assert _version(connection) == 2
    with closing(ChatStore(path)) as store:
        question, answer = store.branch(1)
    assert (question.shown, answer.shown) == ("Hi", "Hi")
    assert (answer.prefill, answer.left_out) == (None, 0)


def test_each_migration_starts_where_the_last_one_ended(connection: sqlite3.Connection) -> None:
    first, second = ("CREATE TABLE a (x INTEGER)",), ("ALTER TABLE a ADD COLUMN y INTEGER",)
    migrate(connection, (first,))
    connection.execute("INSERT INTO a (x) VALUES (1)")
    migrate(connection, (first, second))
    assert _version(connection) == 2
    assert connection.execute("SELECT x, y FROM a").fetchall() == [(1, None)]


def test_a_failing_migration_leaves_the_version_before(connection: sqlite3.Connection) -> None:
    first, broken = ("CREATE TABLE a (x INTEGER)",), ("CREATE TABLE b (x INTEGER)", "CREATE TABLE a (x INTEGER)")
    with pytest.raises(sqlite3.OperationalError):
        migrate(connection, (first, broken))
    assert _version(connection) == 1
    assert connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'b'").fetchone() == (0,)


def test_a_newer_file_is_refused_and_left_alone(path: Path, connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE future (x INTEGER)")
    connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    problem = _refusal(path)
    assert "newer version of Draftglass" in problem.message
    assert problem.blame is Blame.USER
    assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("future",)]


def test_durable_settings(path: Path) -> None:
    with closing(ChatStore(path)) as store:
        pragmas = [
            store._connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("journal_mode", "synchronous", "foreign_keys")
        ]
    assert pragmas == ["wal", 1, 1]


@pytest.mark.parametrize("damage", ["header", "page", "garbage"])
def test_a_damaged_file_is_moved_aside(path: Path, damage: str) -> None:
    _filled(path)
    content = bytearray(path.read_bytes())
    if damage == "header":
        content[:16] = b"\0" * 16
    elif damage == "page":
        content[4096 * 5 : 4096 * 9] = b"\xa5" * (4096 * 4)
    else:
        content = bytearray(b"these are not the chats you are looking for " * 50)
    path.write_bytes(content)

    with closing(ChatStore(path)) as store:
        problem = store.opening_problem
        assert store.chats() == []
        store.create_chat("new")
    (aside,) = path.parent.glob("chats.damaged-*.db")
    assert aside.read_bytes() == content
    assert problem is not None
    assert problem.blame is Blame.ENVIRONMENT
    assert aside.name in problem.message
    with closing(ChatStore(path)) as store:
        assert store.opening_problem is None
        assert [chat.title for chat in store.chats()] == ["new"]


def test_a_second_damaged_file_does_not_overwrite_the_first(path: Path) -> None:
    for text in (b"first " * 100, b"second " * 100, b"third " * 100):
        path.write_bytes(text)
        ChatStore(path).close()
    kept = {aside.read_bytes()[:5] for aside in path.parent.glob("chats.damaged-*.db")}
    assert kept == {b"first", b"secon", b"third"}


def test_damage_found_in_use_is_explained(path: Path) -> None:
    with closing(ChatStore(path)) as store:
        for number in range(50):
            store.begin_turn(store.create_chat(), None, f"{number} " * 500, model="", settings=AnswerSettings())
        store._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        store._connection.execute("PRAGMA shrink_memory")
        size = path.stat().st_size
        with path.open("r+b") as file:
            file.seek(4096)
            file.write(b"\xa5" * (size - 4096))
        with pytest.raises(DraftglassError) as caught:
            store.chats()
        assert "damaged" in caught.value.problem.message


def test_a_full_disk(path: Path) -> None:
    with closing(ChatStore(path)) as store:
        chat = store.create_chat("kept")
        pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
        store._connection.execute(f"PRAGMA max_page_count = {pages + 2}")
        with pytest.raises(DraftglassError) as caught:
            store.begin_turn(chat, None, "long " * 10_000, model="", settings=AnswerSettings())
        assert "disk is full" in caught.value.problem.message
        assert caught.value.problem.blame is Blame.ENVIRONMENT
        assert store.branch(chat) == []
        store._connection.execute("PRAGMA max_page_count = 1000000")
        store.begin_turn(chat, None, "long " * 10_000, model="", settings=AnswerSettings())
        assert len(store.branch(chat)) == 2, "it goes on once there is room"


def test_another_program_holds_the_file(
    path: Path, connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "_BUSY_TIMEOUT_S", 0.0)
    with closing(ChatStore(path)) as store:
        connection.execute("BEGIN IMMEDIATE")
        with pytest.raises(DraftglassError) as caught:
            store.create_chat()
        assert "Another program" in caught.value.problem.message
        connection.execute("ROLLBACK")
        store.create_chat()


@pytest.mark.parametrize("blocked", ["file", "folder"])
def test_a_place_that_cannot_be_used(tmp_path: Path, blocked: str) -> None:
    if blocked == "file":
        path = tmp_path / "chats.db"
        path.mkdir()
    else:
        (tmp_path / "data").write_text("a file where the folder should be")
        path = tmp_path / "data" / "chats.db"
    problem = _refusal(path)
    assert problem.blame is Blame.ENVIRONMENT

    with closing(ChatStore.open(path)) as store:
        assert store.opening_problem is not None
        assert store.opening_problem.message == problem.message
        assert "lost when the window closes" in store.opening_problem.hint
        store.create_chat("still a chat")
        assert [chat.title for chat in store.chats()] == ["still a chat"]


def test_chats_stay_readable_where_nothing_can_be_written(path: Path) -> None:
    _filled(path, chats=3)
    # SQLite cannot make its log beside the database, as on a full disk.
    path.with_name("chats.db-wal").mkdir()
    before = path.read_bytes()
    with closing(ChatStore.open(path)) as store:
        assert store.opening_problem is not None
        assert store.opening_problem.blame is Blame.ENVIRONMENT
        assert len(store.chats()) == 3
        assert store.branch(store.chats()[0].id)[0].text.startswith("chat 2")
        store.create_chat("in memory")
        assert len(store.chats()) == 4
    assert path.read_bytes() == before


def test_a_newer_file_is_not_even_copied(path: Path) -> None:
    _filled(path, chats=3)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    with closing(ChatStore.open(path)) as store:
        assert store.opening_problem is not None
        assert "newer version" in store.opening_problem.message
        assert store.chats() == []
