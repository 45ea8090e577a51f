"""Files that the user asked for are written whole or not at all, off the GUI thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from desktop_app.core.errors import Blame
from desktop_app.services.file_writer import FileWriter
from tests.helpers.log_watch import LogWatch

pytestmark = pytest.mark.usefixtures("qtbot")


@pytest.fixture
def writer() -> Iterator[FileWriter]:
    writer = FileWriter()
    yield writer
    writer.close()


def test_the_content_is_made_and_written_elsewhere(qtbot: QtBot, writer: FileWriter, tmp_path: Path) -> None:
    threads: list[int] = []

    def content() -> bytes:
        threads.append(threading.get_ident())
        return b"new"

    path = tmp_path / "a.json"
    path.write_bytes(b"old")
    with qtbot.waitSignal(writer.written) as written:
        writer.write(path, content)
    assert written.args == [path]
    assert path.read_bytes() == b"new"
    assert threads != [threading.get_ident()]
    assert list(tmp_path.glob("a*")) == [path]


def test_a_place_that_takes_no_file(qtbot: QtBot, writer: FileWriter, tmp_path: Path) -> None:
    with qtbot.waitSignal(writer.failed) as failed:
        writer.write(tmp_path / "absent" / "a.json", lambda: b"new")
    assert failed.args is not None
    problem = failed.args[0]
    assert problem.blame is Blame.ENVIRONMENT
    assert "a.json could not be written: No such file or directory" in problem.message


def test_a_bug_in_the_content_is_told(qtbot: QtBot, writer: FileWriter, tmp_path: Path, expect_log: LogWatch) -> None:
    expect_log("could not be made")
    with qtbot.waitSignal(writer.failed) as failed:
        writer.write(tmp_path / "a.json", lambda: bytes(1 // 0))
    assert failed.args is not None
    assert "ZeroDivisionError" in failed.args[0].message
    assert not list(tmp_path.glob("a*"))
