"""Garbage is collected on the GUI thread and nowhere else."""

from __future__ import annotations

import gc
import threading
import weakref

import pytest
from pytestqt.qtbot import QtBot

from desktop_app.services.garbage import GarbageCollector


class Knot:
    """Refers to itself, so that only the collector can free it."""

    def __init__(self, freed_in: list[str]) -> None:
        self.itself = self
        weakref.finalize(self, lambda: freed_in.append(threading.current_thread().name))


def tie(freed_in: list[str]) -> None:
    """Leave a knot, and more garbage than any threshold."""
    Knot(freed_in)
    for _ in range(2 * gc.get_threshold()[0]):
        Knot([])


def test_another_thread_may_leave_garbage_but_never_collects_it(qtbot: QtBot) -> None:
    collector = GarbageCollector()
    freed_in: list[str] = []
    worker = threading.Thread(target=tie, args=(freed_in,), name="worker")
    worker.start()
    worker.join()
    assert freed_in == []

    qtbot.waitUntil(lambda: freed_in == [threading.main_thread().name])
    collector.close()


@pytest.mark.usefixtures("qtbot")
def test_closing_gives_the_collector_back() -> None:
    gc.enable()
    collector = GarbageCollector()
    assert not gc.isenabled()

    collector.close()

    assert gc.isenabled()
