"""The first start listens, the second hands over; a crash leaves nothing in the way."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from PySide6.QtNetwork import QLocalSocket
from pytestqt.qtbot import QtBot

from desktop_app.services.single_instance import SingleInstance

ROOT = Path(__file__).parents[2]

SECOND = """
import sys
from PySide6.QtCore import QCoreApplication
from desktop_app.services.single_instance import SingleInstance
app = QCoreApplication([])
sys.exit(7 if SingleInstance(sys.argv[1]).claim(sys.argv[2:]) else 0)
"""

CRASH = """
import os, sys
from PySide6.QtCore import QCoreApplication
from desktop_app.services.single_instance import SingleInstance
app = QCoreApplication([])
assert SingleInstance(sys.argv[1]).claim([])
os._exit(5)
"""

pytestmark = pytest.mark.usefixtures("qtbot")


@pytest.fixture
def name() -> str:
    return f"draftglass-test-{uuid4().hex[:8]}"


@pytest.fixture
def first(name: str) -> Iterator[SingleInstance]:
    instance = SingleInstance(name)
    assert instance.claim([])
    yield instance
    instance.close()


def start(code: str, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", code, *arguments], cwd=ROOT)


def test_a_second_start_passes_its_files_and_goes(qtbot: QtBot, first: SingleInstance, name: str) -> None:
    with qtbot.waitSignal(first.second_started, timeout=10_000) as heard:
        second = start(SECOND, name, "/a b/größer.gguf", "")
    assert heard.args == [("/a b/größer.gguf", "")]
    assert second.wait(10) == 0


def test_a_socket_left_by_a_crash_is_taken_over(qtbot: QtBot, name: str) -> None:
    assert start(CRASH, name).wait(10) == 5
    instance = SingleInstance(name)
    assert instance.claim([])
    with qtbot.waitSignal(instance.second_started, timeout=10_000):
        second = start(SECOND, name)
    assert second.wait(10) == 0
    instance.close()


def test_after_the_first_has_closed_the_next_is_first(name: str) -> None:
    instance = SingleInstance(name)
    assert instance.claim([])
    instance.close()
    again = SingleInstance(name)
    assert again.claim([])
    again.close()


@pytest.mark.parametrize("line", [b"hello\n", b'{"a": 1}\n', b"[1, 2]\n", b"\xff\n"])
def test_strangers_are_ignored(qtbot: QtBot, first: SingleInstance, line: bytes) -> None:
    stranger = QLocalSocket()
    with qtbot.assertNotEmitted(first.second_started):
        stranger.connectToServer(first._name)
        assert stranger.waitForConnected(1000)
        stranger.write(line)
        stranger.flush()
        with qtbot.waitSignal(stranger.disconnected):
            pass
