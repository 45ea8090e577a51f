"""The user's settings in memory, and their writing in the background. The file's form is `settings_file`'s."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Qt, QThreadPool, QTimer, Signal

from desktop_app.core.errors import Blame, Problem
from desktop_app.services.settings_file import Settings, read, write

SAVE_AFTER_MS = 300
"""Changes that come in a burst, such as moving the window, make one write."""


class SettingsService(QObject):
    """Holds the current `Settings`, says when they change, and saves them soon after."""

    changed = Signal(object)  # Settings
    saved = Signal()
    problem_raised = Signal(object)  # Problem

    _save_failed = Signal(str)

    def __init__(self, path: Path, parent: QObject | None = None) -> None:
        """Reads the file at once: it is small, and the first paint needs the theme and the geometry."""
        super().__init__(parent)
        self._path = path
        self._current, self._load_problem = read(path)
        self._writer = QThreadPool(self)
        self._writer.setMaxThreadCount(1)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(SAVE_AFTER_MS)
        self._timer.timeout.connect(self._on_save_due)
        self._save_failed.connect(self._on_save_failed, Qt.ConnectionType.QueuedConnection)

    @property
    def current(self) -> Settings:
        return self._current

    @property
    def load_problem(self) -> Problem | None:
        """Why the file could not be used; defaults apply then."""
        return self._load_problem

    def apply(self, settings: Settings) -> None:
        """Take over a changed copy: `service.apply(replace(service.current, theme=Theme.DARK))`."""
        if settings == self._current:
            return
        self._current = settings
        self._timer.start()
        self.changed.emit(settings)

    def flush(self) -> None:
        """Write what is pending and wait for it. For the end of the app."""
        if self._timer.isActive():
            self._timer.stop()
            self._on_save_due()
        self._writer.waitForDone()

    def _on_save_due(self) -> None:
        settings = self._current
        self._writer.start(lambda: self._save(settings))

    def _save(self, settings: Settings) -> None:
        """On the writer's thread."""
        try:
            write(self._path, settings)
        except OSError as error:
            self._save_failed.emit(error.strerror or str(error))
        else:
            self.saved.emit()

    def _on_save_failed(self, reason: str) -> None:
        self.problem_raised.emit(
            Problem(
                f"The settings could not be saved: {reason}.",
                f"Check the disk and the permissions of {self._path.parent}.",
                Blame.ENVIRONMENT,
            )
        )
