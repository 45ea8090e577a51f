"""Takes one turn through the engine: asks, follows, ends, and lets the recorder write it down.

Owns the running turn. It doesn't know which chat is open.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from desktop_app.core.errors import Problem
from desktop_app.protocol.messages import ChatMessage, Failed, Finished, Prefilling, RoundDone, TurnsLeftOut
from desktop_app.services.baselines import Baselines
from desktop_app.services.engine_client import EngineClient
from desktop_app.services.pair import PairService
from desktop_app.services.turn import Turn, TurnState
from desktop_app.services.turn_recorder import TurnRecorder


class TurnConductor(QObject):
    """One turn at a time."""

    turns_left_out = Signal(object)  # Turn
    prefill_progressed = Signal(object)  # Turn
    round_added = Signal(object)  # Turn
    turn_ended = Signal(object)  # Turn; the next one may begin

    def __init__(
        self,
        engine: EngineClient,
        pair: PairService,
        baselines: Baselines,
        recorder: TurnRecorder | None = None,
        parent: QObject | None = None,
    ) -> None:
        """Without a recorder nothing is stored."""
        super().__init__(parent)
        self._engine = engine
        self._pair = pair
        self._baselines = baselines
        self._recorder = recorder
        self._turn: Turn | None = None
        self._messages: tuple[ChatMessage, ...] = ()
        self._request: int | None = None
        self._connect()

    @property
    def turn(self) -> Turn | None:
        """The turn that is being answered."""
        return self._turn

    def begin(self, turn: Turn, messages: tuple[ChatMessage, ...]) -> None:
        """Ask the engine for an answer to `messages`, as soon as the pair is on its way."""
        self._turn = turn
        self._messages = messages
        self._request = None
        if self._recorder is not None:
            self._recorder.begin(turn)
        self._find_baseline(turn)
        self._pair.prepare(lambda: self._ask(turn), turn.settings.speculation)

    def stop(self) -> None:
        """End the running answer; `turn_ended` follows, at once where the engine has not been asked yet."""
        if self._turn is None:
            return
        if self._request is None:
            self._end(TurnState.CANCELLED)
        else:
            self._engine.cancel(self._request)

    def interrupt(self, problem: Problem) -> None:
        """End the running answer without the engine's word."""
        if self._turn is not None:
            self._end(TurnState.INTERRUPTED, problem=problem)

    def _connect(self) -> None:
        engine = self._engine
        engine.turns_left_out.connect(self._on_turns_left_out)
        engine.prefilled.connect(self._on_prefilled)
        engine.round_received.connect(self._on_round_received)
        engine.finished.connect(self._on_finished)
        engine.cancelled.connect(self._on_cancelled)
        engine.failed.connect(self._on_failed)
        engine.died.connect(self._on_died)

    def _ask(self, turn: Turn) -> None:
        if self._turn is turn:
            self._request = self._engine.generate(self._messages, turn.settings)

    def _current(self, request: int) -> Turn | None:
        """The running turn, if that is its request."""
        return self._turn if request == self._request else None

    def _find_baseline(self, turn: Turn) -> None:
        """Once the target is known; a baseline that was found stays, so that the figures of an answer don't jump."""
        target = self._pair.target
        if turn.baseline is None and target is not None:
            turn.baseline = self._baselines.find(target, self._messages, turn.settings.sampling, self._pair.costs)

    def _on_turns_left_out(self, event: TurnsLeftOut) -> None:
        if (turn := self._current(event.request)) is not None:
            turn.left_out = event.turns
            self.turns_left_out.emit(turn)

    def _on_prefilled(self, prefilling: Prefilling) -> None:
        if (turn := self._current(prefilling.request)) is not None:
            turn.state = TurnState.PREFILLING
            turn.prefill = prefilling
            self._find_baseline(turn)
            self.prefill_progressed.emit(turn)

    def _on_round_received(self, event: RoundDone) -> None:
        if (turn := self._current(event.request)) is not None:
            turn.state = TurnState.STREAMING
            turn.answer.add(event.round, event.visible)
            self._pair.note_pace(turn.settings.speculation, event.pace)
            self._find_baseline(turn)
            if self._recorder is not None:
                self._recorder.add(event.round)
            self.round_added.emit(turn)

    def _on_finished(self, finished: Finished) -> None:
        if (turn := self._current(finished.request)) is not None:
            turn.answer.close(finished.visible, finished.tail)
            turn.ending = finished
            self._pair.note_answer(turn.settings.speculation, finished.speculation_problem)
            self._end(TurnState.FINISHED)

    def _on_cancelled(self, request: int) -> None:
        if self._current(request) is not None:
            self._end(TurnState.CANCELLED)

    def _on_failed(self, failed: Failed) -> None:
        if self._current(failed.request) is not None:
            self._end(TurnState.FAILED, problem=failed.problem)

    def _on_died(self, problem: Problem) -> None:
        if self._request is not None:
            self.interrupt(problem)

    def _end(self, state: TurnState, problem: Problem | None = None) -> None:
        turn = self._turn
        assert turn is not None, "only a running turn ends"
        turn.state = state
        turn.problem = problem
        if state is not TurnState.FINISHED:
            # No stop string can complete any more, so all that was written is part of the answer.
            turn.answer.close(len(turn.answer.text))
        self._turn = None
        self._request = None
        self._record_plain(turn)
        if self._recorder is not None:
            self._recorder.finish()
        self.turn_ended.emit(turn)

    def _record_plain(self, turn: Turn) -> None:
        if (target := self._pair.target) is not None:
            self._baselines.record(target, self._messages, turn.settings.sampling, turn.answer.tally)
