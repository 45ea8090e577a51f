"""Writes files that the user asked for, on a thread of its own. What they hold is made there as well."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal

from desktop_app.core.errors import Blame, Problem

logger = logging.getLogger(__name__)


class FileWriter(QObject):
    """Every `write` is answered by `written` or `failed`."""

    written = Signal(object)  # Path
    failed = Signal(object)  # Problem

    _done = Signal(object, object)  # Path, Problem | None

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="files")
        self._done.connect(self._on_done, Qt.ConnectionType.QueuedConnection)

    def write(self, path: Path, content: Callable[[], bytes]) -> None:
        """Replace the file in one step; `content` runs on the writer's thread and must touch nothing that changes."""
        self._thread.submit(self._run, path, content)

    def close(self) -> None:
        """Finish what was asked; blocks. For the end of the app."""
        self._thread.shutdown(wait=True)

    def _run(self, path: Path, content: Callable[[], bytes]) -> None:
        """On the writer's thread."""
        problem = None
        try:
            _replace(path, content())
        except OSError as error:
            reason = error.strerror or str(error)
            problem = Problem(
                f"{path.name} could not be written: {reason}.", "Choose another place.", Blame.ENVIRONMENT
            )
        except Exception as error:
            # A bug must not vanish in the executor's future.
            logger.exception("%s could not be made", path.name)
            problem = Problem(f"{path.name} could not be made: {error!r}.", "Please report it with the log.")
        self._done.emit(path, problem)

    def _on_done(self, path: Path, problem: Problem | None) -> None:
        if problem is None:
            self.written.emit(path)
        else:
            self.failed.emit(problem)


def _replace(path: Path, content: bytes) -> None:
    """The old or the new file is there at any moment."""
    new = path.with_name(f"{path.name}.part")
    try:
        new.write_bytes(content)
        new.replace(path)
    except OSError:
        new.unlink(missing_ok=True)
        raise
