"""Compares two settings on one prompt: conducts their runs in the engine, by turns, and finds whether the texts agree.

Owns the record of the comparison that runs or ran last. Stores nothing. While it runs no chat is answered.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from desktop_app.core.errors import Blame, Problem
from desktop_app.core.settings import AnswerSettings
from desktop_app.protocol.messages import Explained, Failed, Ready
from desktop_app.services.baselines import Baselines
from desktop_app.services.comparison_record import ComparisonRecord, ComparisonState, Plan, Run, RunPair, Side, Verdict
from desktop_app.services.engine_client import EngineClient
from desktop_app.services.engine_use import EngineUse, Party
from desktop_app.services.pair import PairService
from desktop_app.services.turn import Turn, TurnState
from desktop_app.services.turn_conductor import TurnConductor

WARM_UP_TOKENS = 4
"""Enough for a round of drafting and verifying, too few to count as a baseline."""

_CHANGED = Problem("The models were changed during the comparison.", "Run it again.", Blame.USER)


class Comparison(QObject):
    """One comparison at a time: `started`, then runs, then `ended`."""

    started = Signal(object)  # ComparisonRecord
    run_started = Signal(object)  # Run
    run_grew = Signal(object)  # Run: it read some of the prompt, or a round was added
    run_ended = Signal(object)  # Run
    examining_started = Signal(object)  # ComparisonRecord
    ended = Signal(object)  # ComparisonRecord

    def __init__(
        self,
        engine: EngineClient,
        pair: PairService,
        baselines: Baselines,
        use: EngineUse,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._engine = engine
        self._pair = pair
        self._use = use
        self._conductor = TurnConductor(engine, pair, baselines, parent=self)
        self._record: ComparisonRecord | None = None
        self._run: Run | None = None
        self._steps: Iterator[tuple[Side, int | None]] = iter(())
        self._unexamined: list[RunPair] = []
        self._ready: Ready | None = None
        self._request: int | None = None
        """The examination that runs."""
        self._connect()

    @property
    def record(self) -> ComparisonRecord | None:
        """Of the comparison that runs or ran last."""
        return self._record

    @property
    def running(self) -> bool:
        return self._record is not None and not self._record.state.ended

    @property
    def run(self) -> Run | None:
        """The run that is being made."""
        return self._run

    @property
    def obstacle(self) -> Problem | None:
        """Why none can begin now."""
        return self._pair.obstacle or self._use.obstacle(Party.COMPARISON)

    def begin(self, plan: Plan) -> Problem | None:
        """Run the plan; returns why it can't be run now, or None once it has `started`."""
        assert not self.running, "one at a time"
        if (obstacle := self.obstacle) is not None:
            return obstacle
        self._record = ComparisonRecord(plan)
        self._unexamined = []
        self._steps = _steps(plan)
        self.started.emit(self._record)
        self._go_on(self._record)
        return None

    def stop(self) -> None:
        """End it; `ended` follows, with what was measured until then."""
        if self._request is not None:
            self._engine.cancel(self._request)
        elif self._run is not None:
            self._conductor.stop()

    def _connect(self) -> None:
        conductor, engine = self._conductor, self._engine
        conductor.prefill_progressed.connect(self._on_turn_grew)
        conductor.round_added.connect(self._on_turn_grew)
        conductor.turn_ended.connect(self._on_turn_ended)
        engine.ready.connect(self._on_engine_ready)
        engine.explained.connect(self._on_explained)
        engine.cancelled.connect(self._on_cancelled)
        engine.failed.connect(self._on_failed)
        engine.died.connect(self._on_died)
        self._pair.changed.connect(self._on_pair_changed)
        self._use.join(Party.COMPARISON, lambda: self.running)

    def _on_engine_ready(self, ready: Ready) -> None:
        self._ready = ready

    # The runs

    def _go_on(self, record: ComparisonRecord) -> None:
        """Make the next run, or draw the conclusions after the last."""
        step = next(self._steps, None)
        if step is None:
            self._conclude(record)
            return
        side, repeat = step
        plan = record.plan
        settings = plan.settings(side) if repeat is not None else _brief(plan, side)
        run = Run(side, repeat, _turn(len(record.runs), plan, settings))
        if repeat is not None:
            record.state = ComparisonState.RUNNING
            record.runs.append(run)
        self._run = run
        self.run_started.emit(run)
        self._conductor.begin(run.turn, plan.messages)

    def _on_turn_grew(self, turn: Turn) -> None:
        if self._run is not None and turn is self._run.turn:
            self.run_grew.emit(self._run)

    def _on_turn_ended(self, turn: Turn) -> None:
        record, run = self._record, self._run
        if record is None or run is None or turn is not run.turn:
            return
        self._run = None
        self.run_ended.emit(run)
        problem = turn.problem or turn.speculation_problem or record.problem
        if problem is not None:
            self._end(record, ComparisonState.FAILED, problem)
        elif turn.state is TurnState.CANCELLED:
            self._end(record, ComparisonState.STOPPED)
        else:
            record.target, record.draft, record.engine = self._pair.target, self._pair.draft, self._ready
            self._go_on(record)

    def _on_pair_changed(self) -> None:
        """Runs on different models can't be compared; while the prompt is read, the pair may still be on its way."""
        record = self._record
        if record is not None and record.state is ComparisonState.RUNNING and self._pair.loading:
            record.problem = _CHANGED
            self._conductor.stop()

    # The conclusions

    def _conclude(self, record: ComparisonRecord) -> None:
        record.verdict = _verdict(record)
        self._unexamined = record.partings() if record.plan.comparable else []
        if self._unexamined:
            record.state = ComparisonState.EXAMINING
            self.examining_started.emit(record)
        self._examine_next(record)

    def _examine_next(self, record: ComparisonRecord) -> None:
        if not self._unexamined:
            self._end(record, ComparisonState.DONE)
            return
        plan = record.plan
        self._request = self._engine.explain(plan.messages, plan.settings(Side.A), self._unexamined[0].texts(plan))

    def _on_explained(self, explained: Explained) -> None:
        record = self._record
        if record is None or explained.request != self._request:
            return
        self._request = None
        pair, verdict = self._unexamined.pop(0), record.verdict
        known = verdict.difference if verdict else None
        # A bug goes before a near-tie.
        if known is None or known.near_tie:
            record.verdict = Verdict(pair, expected=True, parting=pair.parting, difference=explained.difference)
        self._examine_next(record)

    def _on_cancelled(self, request: int) -> None:
        if self._record is not None and request == self._request:
            self._end(self._record, ComparisonState.STOPPED)

    def _on_failed(self, failed: Failed) -> None:
        if self._record is not None and failed.request == self._request:
            self._end(self._record, ComparisonState.FAILED, failed.problem)

    def _on_died(self, problem: Problem) -> None:
        """A run that dies is ended by its conductor."""
        if self._record is not None and self._request is not None:
            self._end(self._record, ComparisonState.FAILED, problem)

    def _end(self, record: ComparisonRecord, state: ComparisonState, problem: Problem | None = None) -> None:
        self._request = None
        record.state = state
        record.problem = problem
        record.verdict = record.verdict or _verdict(record)
        self.ended.emit(record)


def _steps(plan: Plan) -> Iterator[tuple[Side, int | None]]:
    """First a short run of each side, so that every run that counts finds prompt and weights where the others do."""
    yield from ((side, None) for side in Side)
    yield from plan.order()


def _brief(plan: Plan, side: Side) -> AnswerSettings:
    settings = plan.settings(side)
    return replace(settings, max_tokens=min(WARM_UP_TOKENS, settings.max_tokens))


def _turn(number: int, plan: Plan, settings: AnswerSettings) -> Turn:
    """A turn of no chat; the transcript tells turns apart by their number."""
    return Turn(chat_id=0, user_message_id=0, answer_message_id=number, prompt=plan.prompt, settings=settings)


def _verdict(record: ComparisonRecord) -> Verdict | None:
    """What the texts alone tell; None without a pair."""
    pairs = record.partings() or record.pairs
    return Verdict(pairs[-1], record.plan.comparable, pairs[-1].parting) if pairs else None
