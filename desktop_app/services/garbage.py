"""Keeps Python's cyclic garbage collector on the GUI thread.

By itself it runs in whichever thread happens to allocate. In a worker thread it would destroy Qt objects that live on
the GUI thread, which crashes. Here it also runs between events instead of within them.
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, QTimer

_INTERVAL_MS = 500


class GarbageCollector(QObject):
    """Takes the collector over until `close`."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._was_enabled = gc.isenabled()
        gc.disable()
        self._timer = QTimer(self, interval=_INTERVAL_MS)
        self._timer.timeout.connect(self._on_due)
        self._timer.start()

    def spare_what_is_there(self) -> None:
        """Never look again at what exists now: the modules and widgets of a started app."""
        gc.freeze()

    def close(self) -> None:
        self._timer.stop()
        if self._was_enabled:
            gc.enable()

    def _on_due(self) -> None:
        """Collect the oldest generation whose threshold is reached, as the collector itself would."""
        counts, thresholds = gc.get_count(), gc.get_threshold()
        due = [age for age, (count, most) in enumerate(zip(counts, thresholds, strict=True)) if count > most]
        if due:
            gc.collect(due[-1])
