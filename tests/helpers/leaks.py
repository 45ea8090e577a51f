"""What a test left running or open: Python and Qt threads, child processes, Qt timers, top-level widgets."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QEvent, QThread, QTimer
from PySide6.QtWidgets import QApplication
from shiboken6 import isValid

GRACE_S = 2.0
"""How long things that were told to end may take to do so."""

_POLL_S = 0.02

Snapshot = dict[str, str]
"""What runs or is open: a name for each thing, by a key that no other thing has."""


def snapshot() -> Snapshot:
    return dict(_everything())


def left_since(before: Snapshot, grace_s: float = GRACE_S) -> list[str]:
    """Names of what is there now but was not before, once the period of grace is over."""
    left = _new(before)
    deadline = time.monotonic() + grace_s
    while left and time.monotonic() < deadline:
        _let_qt_delete()
        gc.collect()
        # No signal tells that a foreign thread or process is gone, so this is one place that polls.
        threading.Event().wait(_POLL_S)
        left = _new(before)
    return left


def _new(before: Snapshot) -> list[str]:
    return [name for key, name in _everything() if key not in before]


def _everything() -> Iterator[tuple[str, str]]:
    for thread in threading.enumerate():
        yield f"thread {id(thread)}", f"thread {thread.name}"
    yield from _children()
    if QCoreApplication.instance() is not None:
        yield from _qt_objects()


def _children() -> Iterator[tuple[str, str]]:
    """Child processes, where the system lists them in /proc."""
    for listing in Path("/proc/self/task").glob("*/children"):
        try:
            pids = listing.read_text().split()
        except OSError:  # the thread ended meanwhile
            continue
        for pid in pids:
            yield f"process {pid}", f"process {pid} ({_command(pid)})"


def _command(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ").strip()
    except OSError:  # the process ended meanwhile
        return "gone"


def _qt_objects() -> Iterator[tuple[str, str]]:
    main = QThread.currentThread()
    for thing in gc.get_objects():
        # By its type, since a proxy's isinstance() would run foreign code.
        if issubclass(type(thing), QThread | QTimer) and isValid(thing) and thing is not main and _runs(thing):
            yield f"{type(thing).__name__} {id(thing)}", f"{thing.objectName() or thing} of {thing.parent()}"
    for widget in QApplication.topLevelWidgets():
        yield f"widget {id(widget)}", f"widget {widget}"


def _runs(thing: QThread | QTimer) -> bool:
    return thing.isRunning() if isinstance(thing, QThread) else thing.isActive()


def _let_qt_delete() -> None:
    if QCoreApplication.instance() is not None:
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
        QCoreApplication.processEvents()
