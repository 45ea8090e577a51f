"""The store on its own thread: order, delivery and failure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread, current_thread, main_thread

import pytest
from pytestqt.qtbot import QtBot

from desktop_app.core.errors import DraftglassError, Problem
from desktop_app.services.archive import Archive
from desktop_app.store import ChatStore

pytestmark = pytest.mark.usefixtures("qtbot")


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[Archive]:
    archive = Archive(lambda: ChatStore(tmp_path / "chats.sqlite3"))
    yield archive
    archive.close()


def test_jobs_run_elsewhere_and_results_come_home(qtbot: QtBot, archive: Archive) -> None:
    threads: list[Thread] = []

    def job(store: ChatStore) -> int:
        threads.append(current_thread())
        return store.create_chat()

    def then(chat_id: int) -> None:
        threads.append(current_thread())
        assert chat_id == 1

    archive.ask(job, then)
    qtbot.waitUntil(lambda: len(threads) == 2)
    assert threads[0] is not main_thread()
    assert threads[1] is main_thread()


def test_results_come_in_the_order_asked(qtbot: QtBot, archive: Archive) -> None:
    seen: list[int] = []
    for _ in range(50):
        archive.ask(lambda store: store.create_chat(), seen.append)
    qtbot.waitUntil(lambda: len(seen) == 50)
    assert seen == sorted(seen)


def test_a_refused_job_is_told_to_whoever_answers_for_it(qtbot: QtBot, archive: Archive) -> None:
    problems: list[Problem] = []
    with qtbot.assertNotEmitted(archive.failed):
        archive.ask(lambda store: store.rename(99, "no such chat"), otherwise=problems.append)
        qtbot.waitUntil(lambda: bool(problems))
    with qtbot.waitSignal(archive.failed):
        archive.ask(lambda store: store.rename(99, "no such chat"))


def test_a_bug_in_a_job_is_logged_and_told(qtbot: QtBot, archive: Archive, expect_log: Callable[[str], None]) -> None:
    expect_log("job on the chat store failed")
    with qtbot.waitSignal(archive.failed) as failed:
        archive.ask(lambda store: [][store.create_chat()])
    assert failed.args is not None
    assert "IndexError" in failed.args[0].message


def test_a_store_that_does_not_open_fails_every_job(qtbot: QtBot) -> None:
    def refuse() -> ChatStore:
        raise DraftglassError(Problem("The disk is gone."))

    archive = Archive(refuse)
    with qtbot.waitSignal(archive.failed) as failed:
        archive.ask(lambda store: store.chats())
    assert failed.args == [Problem("The disk is gone.")]
    archive.close()


def test_what_the_store_found_when_opening_is_told(qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "chats.sqlite3").write_bytes(b"no database" * 500)
    archive = Archive(lambda: ChatStore(tmp_path / "chats.sqlite3"))
    with qtbot.waitSignal(archive.failed) as failed:
        pass
    assert failed.args is not None
    assert "damaged" in failed.args[0].message
    archive.close()


def test_closing_does_what_was_asked_before(tmp_path: Path) -> None:
    archive = Archive(lambda: ChatStore(tmp_path / "chats.sqlite3"))
    archive.ask(lambda store: store.create_chat("kept"))
    archive.close()
    store = ChatStore(tmp_path / "chats.sqlite3")
    assert [chat.title for chat in store.chats()] == ["kept"]
    store.close()
