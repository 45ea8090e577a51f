"""The engine's two ends of the pipe. They move bytes and know nothing of models."""

from __future__ import annotations

import logging
import os
import queue
import threading
from collections.abc import Iterator

from desktop_app.protocol.framing import FramingError, command_reader, encode
from desktop_app.protocol.messages import AnyCommand, AnyEvent

logger = logging.getLogger(__name__)

_CHUNK_BYTES = 65536
_FLUSH_S = 1.0


def read_commands(fd: int) -> Iterator[AnyCommand]:
    """Yield commands until end-of-file, or until the bytes are not ours."""
    reader = command_reader()
    while chunk := os.read(fd, _CHUNK_BYTES):
        try:
            yield from reader.feed(chunk)
        except FramingError:
            logger.exception("the window sent bytes that are no message")
            return


class EventPipe:
    """Sends events from a thread of its own, so that a slow reader never holds up decoding."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._queue: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._write, name="events", daemon=True)
        self._thread.start()

    def send(self, event: AnyEvent) -> None:
        self._queue.put(encode(event))

    def close(self) -> None:
        """Send what waits, within a second."""
        self._queue.put(None)
        self._thread.join(_FLUSH_S)

    def _write(self) -> None:
        while (frame := self._queue.get()) is not None:
            try:
                _write_all(self._fd, frame)
            except OSError:
                # The window is gone; the reading side sees the end of its file and ends the process.
                return


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
