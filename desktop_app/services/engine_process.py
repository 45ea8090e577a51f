"""One run of the engine program: moves bytes both ways and turns them into messages. Decides nothing."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from PySide6.QtCore import QObject, QProcess, Qt, Signal

from desktop_app.protocol import framing
from desktop_app.protocol.messages import AnyCommand
from desktop_app.services.engine_death import explain_exit, stopped
from desktop_app.services.engine_log import EngineLog


def engine_argv() -> list[str]:
    """This very app as the engine, frozen or not."""
    if getattr(sys, "frozen", False):
        return [sys.executable, "--engine"]
    return [sys.executable, "-m", "desktop_app", "--engine"]


class EngineProcess(QObject):
    """Emits `ended` once, whatever the end."""

    event_received = Signal(object)  # AnyEvent
    garbled = Signal(object)  # Problem: stdout held something else than messages
    ended = Signal(object)  # Problem, as if the end had not been asked for

    def __init__(self, argv: Sequence[str], log: EngineLog, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._log = log
        self._reader = framing.event_reader()
        self._garbled = False
        self._process = QProcess(self)
        self._process.setProgram(argv[0])
        self._process.setArguments(list(argv[1:]))
        self._process.readyReadStandardOutput.connect(self._on_output)
        self._process.readyReadStandardError.connect(self._on_error_output)
        self._process.finished.connect(self._on_finished)
        # Queued, because a failure to start may be reported before the caller of `start` knows what it asked for.
        self._process.errorOccurred.connect(self._on_error, Qt.ConnectionType.QueuedConnection)

    @property
    def running(self) -> bool:
        return self._process.state() is not QProcess.ProcessState.NotRunning

    def start(self) -> None:
        self._log.begin()
        self._process.start()

    def send(self, command: AnyCommand) -> None:
        if self.running:
            self._process.write(framing.encode(command))

    def close_input(self) -> None:
        """The engine sees the end of its commands and goes."""
        self._process.closeWriteChannel()

    def kill(self) -> None:
        self._process.kill()

    def wait(self, timeout_s: float) -> bool:
        """Block until it is gone; False if it still runs after that long."""
        return not self.running or self._process.waitForFinished(round(timeout_s * 1000))

    def _on_output(self) -> None:
        chunk = bytes(self._process.readAllStandardOutput().data())
        if self._garbled:
            return
        try:
            for event in self._reader.feed(chunk):
                self.event_received.emit(event)
        except framing.FramingError as error:
            self._garbled = True
            seen = error.seen.decode("utf-8", "backslashreplace").strip()
            self.garbled.emit(stopped(f"it wrote something else than messages, “{seen}” ({error})"))

    def _on_error_output(self) -> None:
        self._log.feed(bytes(self._process.readAllStandardError().data()))

    def _on_finished(self, code: int, status: QProcess.ExitStatus) -> None:
        self._on_output()
        self._on_error_output()
        crashed = status is QProcess.ExitStatus.CrashExit
        self.ended.emit(explain_exit(code, crashed=crashed, log=self._log.lines))

    def _on_error(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart:
            reason = f"its program {self._process.program()} could not be started ({self._process.errorString()})"
            self.ended.emit(stopped(reason, hint="Install Draftglass again."))
