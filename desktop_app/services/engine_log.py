"""What the engine writes to stderr: the last lines in memory, all of it in a rotating file. No Qt."""

from __future__ import annotations

import codecs
import logging
from collections import deque
from logging.handlers import RotatingFileHandler
from pathlib import Path

TAIL_LINES = 200
MAX_FILE_BYTES = 1_000_000
KEPT_FILES = 2


class EngineLog:
    """Collects chunks of bytes into lines."""

    def __init__(self, path: Path | None) -> None:
        """Without a path the lines are kept in memory only."""
        self._lines: deque[str] = deque(maxlen=TAIL_LINES)
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._partial = ""
        self._file = _rotating(path) if path else None

    @property
    def lines(self) -> tuple[str, ...]:
        """The last lines, an unfinished one included."""
        return (*self._lines, self._partial) if self._partial else tuple(self._lines)

    def feed(self, chunk: bytes) -> None:
        *whole, self._partial = (self._partial + self._decoder.decode(chunk)).split("\n")
        for line in whole:
            self._keep(line)

    def begin(self) -> None:
        """A new process: its lines say nothing of the death of an earlier one."""
        self._lines.clear()
        self._partial = ""
        self._decoder.reset()

    def close(self) -> None:
        if self._file:
            self._file.close()

    def _keep(self, line: str) -> None:
        self._lines.append(line)
        if self._file:
            self._file.emit(logging.makeLogRecord({"msg": "%s", "args": (line,)}))


def _rotating(path: Path) -> RotatingFileHandler | None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return RotatingFileHandler(path, maxBytes=MAX_FILE_BYTES, backupCount=KEPT_FILES, encoding="utf-8")
    except OSError as error:
        logging.getLogger(__name__).warning("The engine's log stays in memory: %s", error)
        return None
