"""Exceptions that nobody caught, and the interrupt key."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from desktop_app.core.errors import Blame
from desktop_app.services.app_log import CrashReporter
from desktop_app.services.interrupt import Interrupt
from tests.helpers.log_watch import LogWatch


@pytest.fixture
def reporter() -> Iterator[CrashReporter]:
    reporter = CrashReporter(Path("window.log"))
    yield reporter
    reporter.close()


def test_an_uncaught_exception_is_logged_and_reported(
    qtbot: QtBot, reporter: CrashReporter, expect_log: LogWatch
) -> None:
    expect_log("uncaught exception")
    with qtbot.waitSignal(reporter.raised) as raised:
        sys.excepthook(ValueError, ValueError("seven"), None)
    (problem,) = raised.args
    assert "seven" in problem.message
    assert "window.log" in problem.hint
    assert problem.blame is Blame.BUG


def test_a_thread_that_fails_is_reported_too(qtbot: QtBot, reporter: CrashReporter, expect_log: LogWatch) -> None:
    expect_log("uncaught exception")

    def fail() -> None:
        raise OSError("no such disk")

    with qtbot.waitSignal(reporter.raised) as raised:
        threading.Thread(target=fail).start()
    assert "no such disk" in raised.args[0].message


def test_the_hooks_of_before_come_back() -> None:
    before = (sys.excepthook, threading.excepthook)
    CrashReporter(Path("window.log")).close()
    assert (sys.excepthook, threading.excepthook) == before


@pytest.mark.skipif(not hasattr(os, "kill") or sys.platform == "win32", reason="sends itself a POSIX signal")
def test_ctrl_c_becomes_a_signal_of_qt(qtbot: QtBot) -> None:
    before = signal.getsignal(signal.SIGINT)
    interrupt = Interrupt()
    try:
        with qtbot.waitSignal(interrupt.received):
            os.kill(os.getpid(), signal.SIGINT)
    finally:
        interrupt.close()
    assert signal.getsignal(signal.SIGINT) is before
