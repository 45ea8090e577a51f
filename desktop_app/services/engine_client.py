"""The window's end of the engine: its states, what each event means in them, and how long silence is borne.

Owns the `EngineProcess` and starts a new one after a death. Knows nothing of chats. Nothing here waits for the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from desktop_app.core.difference import TextPair
from desktop_app.core.errors import Problem
from desktop_app.core.settings import AnswerSettings, ModelSettings
from desktop_app.protocol.messages import (
    PROTOCOL_VERSION,
    AnyEvent,
    Calibrated,
    Cancel,
    Cancelled,
    ChatMessage,
    Count,
    Counted,
    Explained,
    Failed,
    Finished,
    Load,
    Loaded,
    LoadProgress,
    Prefilling,
    Ready,
    RoundDone,
    Shutdown,
    TurnsLeftOut,
    Unload,
    Unloaded,
)
from desktop_app.services.engine_death import stopped
from desktop_app.services.engine_log import EngineLog
from desktop_app.services.engine_process import EngineProcess, engine_argv
from desktop_app.services.engine_requests import EngineRequests, Question, Request


class EngineState(StrEnum):
    STOPPED = "stopped"
    STARTING = "starting"
    IDLE = "idle"
    LOADING = "loading"
    GENERATING = "generating"
    """An answer is being written, or two are being examined."""
    CANCELLING = "cancelling"
    STOPPING = "stopping"


@dataclass(frozen=True, slots=True)
class Patience:
    """How long the engine may stay silent, in seconds, where an answer is due."""

    ready_s: float = 60.0
    cancel_s: float = 5.0
    shutdown_s: float = 2.0


class EngineClient(QObject):
    """One engine process at a time and at most one request in it; later requests wait here.

    Every request is answered by exactly one of its ending signals or by `died`, which answers all of them.
    """

    state_changed = Signal(object)  # EngineState
    ready = Signal(object)  # Ready
    load_progressed = Signal(object)  # LoadProgress
    loaded = Signal(object)  # Loaded
    calibrated = Signal(object)  # Calibrated
    counted = Signal(object)  # Counted
    turns_left_out = Signal(object)  # TurnsLeftOut
    prefilled = Signal(object)  # Prefilling
    round_received = Signal(object)  # RoundDone
    finished = Signal(object)  # Finished
    explained = Signal(object)  # Explained
    cancelled = Signal(object)  # int, the request
    failed = Signal(object)  # Failed
    died = Signal(object)  # Problem

    def __init__(
        self,
        argv: Sequence[str] | None = None,
        *,
        log_path: Path | None = None,
        patience: Patience | None = None,
        parent: QObject | None = None,
    ) -> None:
        """`argv` defaults to this very app with `--engine`; without `log_path` stderr is kept in memory only."""
        super().__init__(parent)
        self._argv = tuple(argv) if argv is not None else tuple(engine_argv())
        self._patience = patience or Patience()
        self._log = EngineLog(log_path)
        self._state = EngineState.STOPPED
        self._process: EngineProcess | None = None
        self._requests = EngineRequests()
        self._count: int | None = None
        """The last count that was asked for."""
        self._patience_timer = QTimer(self)
        self._patience_timer.setSingleShot(True)
        self._patience_timer.timeout.connect(self._on_patience_ended)

    @property
    def state(self) -> EngineState:
        return self._state

    def start(self) -> None:
        """Start the process, unless it runs; `ready` or `died` follows."""
        if self._state is not EngineState.STOPPED:
            return
        process = EngineProcess(self._argv, self._log, self)
        process.event_received.connect(self._on_event)
        process.garbled.connect(self._fail)
        process.ended.connect(self._on_ended)
        self._process = process
        self._requests.process_started()
        self._enter(EngineState.STARTING, self._patience.ready_s)
        process.start()

    def load(self, target: ModelSettings, draft: ModelSettings | None) -> int:
        """Ask for this pair; returns the request, answered by `loaded`, `cancelled` or `failed`.

        A load that still waits or runs is cancelled; a running answer is not, the load waits for its end.
        """
        replaced = self._requests.loads
        load = self._requests.add_load(target, draft)
        for request in replaced:
            self.cancel(request)
        self._proceed()
        return load.request

    def generate(self, messages: Sequence[ChatMessage], settings: AnswerSettings) -> int:
        """Ask for an answer; returns the request, answered by `finished`, `cancelled` or `failed`, or `died`.

        After a death a new process is started and the last pair loaded first, under the request it had.
        """
        question = self._requests.add_question(messages, settings)
        self._proceed()
        return question.request

    def explain(self, messages: Sequence[ChatMessage], settings: AnswerSettings, texts: TextPair) -> int:
        """Ask where two answers part; returns the request, answered by `explained`, `cancelled` or `failed`, or `died`.

        After a death it is as with `generate`.
        """
        question = self._requests.add_examination(messages, settings, texts)
        self._proceed()
        return question.request

    def count(self, messages: Sequence[ChatMessage], settings: AnswerSettings) -> int | None:
        """Ask for the size of a prompt; returns the request, which `counted` may answer, or nothing if superseded.

        None where the engine is not idle: a count holds nothing up and never starts an engine.
        """
        if self._state is not EngineState.IDLE:
            return None
        self._count = self._requests.next_number()
        self._send(Count(self._count, tuple(messages), settings))
        return self._count

    def cancel(self, request: int) -> None:
        """Stop that request; unknown or finished requests are ignored."""
        waiting = self._requests.take_back(request)
        if waiting is not None:
            self._cancelled(waiting)
        elif self._runs(request):
            self._cancel_running()

    def unload(self) -> None:
        """Let the engine free its models, and forget the pair."""
        for request in self._requests.loads:
            self.cancel(request)
        self._requests.forget_pair()
        if self._process is not None:
            self._process.send(Unload())

    def shutdown(self) -> None:
        """End the engine without waiting: asked first, killed when it doesn't go. Requests are dropped."""
        if self._process is None or self._state is EngineState.STOPPING:
            return
        self._requests.drop_all()
        self._process.send(Shutdown())
        self._process.close_input()
        self._enter(EngineState.STOPPING, self._patience.shutdown_s)

    def wait_until_stopped(self) -> None:
        """Block until the engine is gone, killing it if need be. Only for the end of the app."""
        self.shutdown()
        # Those given up earlier are killed, but perhaps not gone yet.
        for process in self.findChildren(EngineProcess):
            if not process.wait(self._patience.shutdown_s):
                process.kill()
                process.wait(self._patience.shutdown_s)
        self._log.close()

    def log_tail(self) -> str:
        """The last lines the engine wrote to stderr."""
        return "\n".join(self._log.lines)

    # What to send next

    def _proceed(self) -> None:
        """Send what waits, if the engine can take it."""
        if self._state is EngineState.STOPPED and self._requests.any_wait:
            self.start()
        request = self._requests.begin_next() if self._state is EngineState.IDLE else None
        if request is not None:
            self._send(request)
            self._enter(EngineState.LOADING if isinstance(request, Load) else EngineState.GENERATING)

    def _send(self, command: Request | Count | Cancel) -> None:
        assert self._process is not None, "a state that sends has a process"
        self._process.send(command)

    def _runs(self, request: int) -> bool:
        running = self._requests.running
        return running is not None and running.request == request

    def _cancel_running(self) -> None:
        running = self._requests.running
        if running is not None and self._state is not EngineState.CANCELLING:
            self._send(Cancel(running.request))
            self._enter(EngineState.CANCELLING, self._patience.cancel_s)

    def _enter(self, state: EngineState, patience_s: float | None = None) -> None:
        """Change state; with `patience_s`, the engine is given up when it stays in it for longer."""
        self._patience_timer.stop()
        if patience_s is not None:
            self._patience_timer.start(round(patience_s * 1000))
        if state is not self._state:
            self._state = state
            self.state_changed.emit(state)

    # What the engine says

    def _on_event(self, event: AnyEvent) -> None:
        match event:
            case Ready():
                self._on_ready(event)
            case Calibrated():
                # One that was on its way while another pair was asked for speaks of the old one.
                if not self._requests.loads:
                    self.calibrated.emit(event)
            case Counted():
                if event.request == self._count:
                    self.counted.emit(event)
            case Unloaded():
                pass
            case _ if self._runs(event.request):
                self._on_answer(event)
            case _:
                pass

    def _on_ready(self, ready: Ready) -> None:
        if self._state is not EngineState.STARTING:
            return
        if ready.protocol != PROTOCOL_VERSION:
            reason = f"it speaks protocol {ready.protocol}, this window speaks {PROTOCOL_VERSION}"
            self._fail(stopped(reason, hint="Parts of two versions are installed together; install Draftglass again."))
            return
        self._enter(EngineState.IDLE)
        self.ready.emit(ready)
        self._proceed()

    def _on_answer(
        self,
        event: LoadProgress
        | Loaded
        | TurnsLeftOut
        | Prefilling
        | RoundDone
        | Finished
        | Explained
        | Cancelled
        | Failed,
    ) -> None:
        """An event of the running request."""
        match event:
            case LoadProgress():
                self.load_progressed.emit(event)
            case TurnsLeftOut():
                self.turns_left_out.emit(event)
            case Prefilling():
                self.prefilled.emit(event)
            case RoundDone():
                self.round_received.emit(event)
            case Loaded():
                self._end_request(lambda _: self.loaded.emit(event))
            case Finished():
                self._end_request(lambda _: self.finished.emit(event))
            case Explained():
                self._end_request(lambda _: self.explained.emit(event))
            case Cancelled():
                self._end_request(self._cancelled)
            case Failed():
                self._end_request(lambda request: self._failed(request, event.problem))

    def _end_request(self, announce: Callable[[Request], None]) -> None:
        """The running request has its answer: be idle first, so that whoever hears of it may ask the next thing."""
        request = self._requests.end_running()
        self._enter(EngineState.IDLE)
        announce(request)
        self._proceed()

    def _cancelled(self, request: Request) -> None:
        """A question that waited for a cancelled load goes with it."""
        stranded = self._strand(request)
        self.cancelled.emit(request.request)
        for question in stranded:
            self.cancelled.emit(question.request)

    def _failed(self, request: Request, problem: Problem) -> None:
        """A question that waited for a failed load fails for the same reason."""
        stranded = self._strand(request)
        self.failed.emit(Failed(request.request, problem))
        for question in stranded:
            self.failed.emit(Failed(question.request, problem))

    def _strand(self, request: Request) -> list[Question]:
        """What can't be answered any more, now that `request` came to nothing."""
        if isinstance(request, Question):
            return []
        self._requests.load_undone(request)
        return self._requests.take_stranded()

    # How it ends

    def _on_patience_ended(self) -> None:
        match self._state:
            case EngineState.STARTING:
                self._fail(stopped(f"it was not ready within {self._patience.ready_s:g} s"))
            case EngineState.CANCELLING:
                self._fail(stopped(f"it did not obey Stop within {self._patience.cancel_s:g} s"))
            case EngineState.STOPPING if self._process is not None:
                self._process.kill()
            case _:
                pass

    def _fail(self, problem: Problem) -> None:
        """Give up on the process: it is killed, and counts as dead at once."""
        process = self._process
        if process is not None:
            process.ended.disconnect(self._on_ended)
            process.event_received.disconnect(self._on_event)
            process.ended.connect(process.deleteLater)
            process.kill()
        self._bury(problem)

    def _on_ended(self, problem: Problem) -> None:
        if self._process is not None:
            self._process.deleteLater()
        if self._state is EngineState.STOPPING:
            self._process = None
            self._enter(EngineState.STOPPED)
            self._proceed()
        else:
            self._bury(problem)

    def _bury(self, problem: Problem) -> None:
        self._process = None
        self._requests.drop_all()
        self._enter(EngineState.STOPPED)
        self.died.emit(problem)
