"""The window's log: a rotating file, Qt's messages, and exceptions that nobody caught, which are also reported."""

from __future__ import annotations

import logging
import sys
import threading
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import TracebackType

from PySide6.QtCore import QMessageLogContext, QObject, QtMsgType, Signal, qInstallMessageHandler

from desktop_app.core.errors import Blame, Problem

_FILE_BYTES = 1_000_000
_FILES_KEPT = 3
_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"

_QT_LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}

_log = logging.getLogger("draftglass")


def log_to_file(path: Path) -> None:
    """Send every log record, Qt's messages among them, to `path`. Where it can't be written, to stderr only."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handler: logging.Handler = RotatingFileHandler(
            path, maxBytes=_FILE_BYTES, backupCount=_FILES_KEPT, encoding="utf-8"
        )
    except OSError as error:
        handler = logging.StreamHandler()
        _log.warning("no log file: %s", error)
    handler.setFormatter(logging.Formatter(_FORMAT))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    qInstallMessageHandler(_on_qt_message)


class CrashReporter(QObject):
    """Takes over the hooks for uncaught exceptions until `close`; the app goes on after one."""

    raised = Signal(object)  # Problem

    def __init__(self, log_path: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._log_path = log_path
        self._hooks = (sys.excepthook, threading.excepthook)
        sys.excepthook = self._on_exception
        threading.excepthook = self._on_thread_exception

    def close(self) -> None:
        sys.excepthook, threading.excepthook = self._hooks

    def _on_exception(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        _log.critical("uncaught exception", exc_info=(kind, error, trace))
        self.raised.emit(
            Problem(
                f"Something went wrong inside Draftglass: {kind.__name__}: {error}",
                f"You can go on; the details are in {self._log_path}.",
                Blame.BUG,
            )
        )

    def _on_thread_exception(self, hook: threading.ExceptHookArgs) -> None:
        error = hook.exc_value or hook.exc_type()
        self._on_exception(hook.exc_type, error, hook.exc_traceback)


def _on_qt_message(level: QtMsgType, _context: QMessageLogContext, text: str) -> None:
    logging.getLogger("qt").log(_QT_LEVELS[level], "%s", text)
