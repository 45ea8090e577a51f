"""Ctrl+C in the terminal as a Qt signal: Python runs its handlers between bytecodes, and Qt's loop has none."""

from __future__ import annotations

import signal
import socket

from PySide6.QtCore import QObject, QSocketNotifier, Signal


class Interrupt(QObject):
    """Takes SIGINT and SIGTERM over until `close`. Make it in the main thread."""

    received = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._read_end, self._write_end = socket.socketpair()
        self._read_end.setblocking(False)
        self._write_end.setblocking(False)
        self._wakeup_before = signal.set_wakeup_fd(self._write_end.fileno(), warn_on_full_buffer=False)
        self._before = {number: signal.signal(number, _wake) for number in (signal.SIGINT, signal.SIGTERM)}
        self._notifier = QSocketNotifier(self._read_end.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._on_readable)

    def close(self) -> None:
        self._notifier.setEnabled(False)
        signal.set_wakeup_fd(self._wakeup_before)
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._read_end.close()
        self._write_end.close()

    def _on_readable(self) -> None:
        self._read_end.recv(64)
        self.received.emit()


def _wake(_number: int, _frame: object) -> None:
    """The wake-up socket carries the news; a Python handler must exist for it to be written."""
