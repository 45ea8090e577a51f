"""The guards that watch every test: they must be able to fail."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from tests.helpers import leaks
from tests.helpers.log_watch import LogWatch

# The outer watch of every test must hear of what these tests log on purpose.
LOGGER = logging.getLogger("guards")


@pytest.fixture
def stray_thread() -> Iterator[threading.Event]:
    end = threading.Event()
    yield end
    end.set()


def test_an_unexpected_record_fails(expect_log: LogWatch) -> None:
    expect_log("smoke")
    with LogWatch() as watch:
        LOGGER.warning("smoke")

    with pytest.raises(pytest.fail.Exception, match="unexpected log records"):
        watch.verify()


def test_an_expected_record_passes(expect_log: LogWatch) -> None:
    expect_log("smoke")
    with LogWatch() as watch:
        watch("smoke")
        LOGGER.error("smoke and fire")

    watch.verify()


def test_an_expected_record_that_never_comes_fails() -> None:
    with LogWatch() as watch:
        watch("smoke")
        LOGGER.info("smoke")

    with pytest.raises(pytest.fail.Exception, match="never came"):
        watch.verify()


def test_a_thread_that_stays_is_named(stray_thread: threading.Event) -> None:
    before = leaks.snapshot()
    threading.Thread(target=stray_thread.wait, name="stray").start()

    assert leaks.left_since(before, grace_s=0) == ["thread stray"]


def test_a_thread_that_ends_in_time_is_no_leak(stray_thread: threading.Event) -> None:
    before = leaks.snapshot()
    threading.Thread(target=stray_thread.wait).start()
    threading.Timer(0.05, stray_thread.set).start()

    assert leaks.left_since(before) == []


@pytest.mark.skipif(sys.platform != "linux", reason="child processes are listed in /proc only")
def test_a_child_process_that_stays_is_named() -> None:
    before = leaks.snapshot()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        left = leaks.left_since(before, grace_s=0)

    assert len(left) == 1
    assert left[0].startswith(f"process {child.pid}")
