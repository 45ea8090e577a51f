"""Which target and draft are chosen and loaded, and how to speculate with them. Owns what the state chip says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QThreadPool, Signal

from desktop_app.core.errors import Blame, Fault, Problem
from desktop_app.core.facts import Costs, ModelFacts
from desktop_app.core.pacing import Pace
from desktop_app.core.settings import GAMMA_MAX, DraftSource, ModelSettings, Rule, Speculation
from desktop_app.protocol.messages import Calibrated, Failed, Loaded, LoadProgress
from desktop_app.services.engine_client import EngineClient, EngineState
from desktop_app.services.pair_state import PairState
from desktop_app.services.settings import SettingsService
from desktop_app.services.settings_file import Settings
from desktop_app.services.status import Status, status_of
from desktop_app.services.verdict import header_problem

Judge = Callable[[Path, Path], Problem | None]
"""Why this target and this draft can't be a pair, as far as their headers tell. Runs on a thread of its own."""

_NO_TARGET = Problem("No model is chosen.", "Choose a GGUF file as the target first.", Blame.USER, Fault.NO_MODEL)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What a load asks for."""

    target: ModelSettings
    draft: ModelSettings | None


class PairService(QObject):
    """Loads the chosen pair through the engine; choices persist in the settings."""

    changed = Signal()  # anything the top bar or the chip shows
    load_progressed = Signal(object)  # LoadProgress
    problem_raised = Signal(object)  # Problem

    _judged = Signal(object, object)  # _Wanted, Problem | None

    def __init__(
        self,
        engine: EngineClient,
        settings: SettingsService,
        parent: QObject | None = None,
        *,
        judge: Judge = header_problem,
    ) -> None:
        super().__init__(parent)
        self._engine = engine
        self._settings = settings
        self._judge = judge
        self._judges = QThreadPool(self)
        self._judges.setMaxThreadCount(1)
        self._state = PairState(settings.current.answer.speculation).chosen(settings.current)
        self._asked: _Wanted | None = None
        """The last pair asked for, if it is still the one to have in memory."""
        self._judging = False
        self._request: int | None = None
        """The last load that the engine client was given."""
        self._after_asking: list[Callable[[], None]] = []
        self._connect()

    # What is chosen and what is in memory

    @property
    def target_path(self) -> str | None:
        """The chosen target, loaded or not."""
        return self._state.target_path

    @property
    def draft_path(self) -> str | None:
        """The chosen GGUF draft, also while prompt lookup or none is selected."""
        return self._state.draft_path

    @property
    def target(self) -> ModelFacts | None:
        """The target in memory."""
        return self._state.target

    @property
    def target_name(self) -> str:
        """The target's own name, or its file's while it is not in memory; empty if none is chosen."""
        if self._state.target is not None:
            return self._state.target.name
        return Path(self._state.target_path).stem if self._state.target_path else ""

    @property
    def draft(self) -> ModelFacts | None:
        """The draft in memory."""
        return self._state.draft

    @property
    def target_problem(self) -> Problem | None:
        """Why the target could not be loaded."""
        return self._state.target_problem

    @property
    def draft_problem(self) -> Problem | None:
        """Why the draft can't be used."""
        return self._state.draft_problem

    @property
    def obstacle(self) -> Problem | None:
        """Why no message can be answered; None while loading, and after a death, since the next message reloads."""
        return _NO_TARGET if self._state.target_path is None else self._state.target_problem

    @property
    def costs(self) -> Costs | None:
        """What passes of the pair in memory cost on this machine."""
        return self._state.costs

    @property
    def speculation(self) -> Speculation:
        return self._state.speculation

    @property
    def loading(self) -> bool:
        return self._state.loading

    def status(self) -> Status:
        """What the chip shows."""
        return status_of(self._state)

    # Choosing

    def choose_target(self, path: str) -> None:
        """Take this GGUF as the target, remember it, load it."""
        self._choose(replace(self._settings.current, target_path=path))

    def choose_draft(self, path: str) -> None:
        """Take this GGUF as the draft, remember it, select it as the source, load it."""
        self._choose(self._with_draft(self._settings.current, path))

    def choose_pair(self, target: str, draft: str | None) -> None:
        """Take both at once, with one load; `draft` None keeps the chosen draft."""
        settings = replace(self._settings.current, target_path=target)
        self._choose(settings if draft is None else self._with_draft(settings, draft))

    def set_source(self, source: DraftSource) -> None:
        """What proposes tokens. The draft stays in memory when prompt lookup or none is selected."""
        self._speculate(replace(self.speculation, source=source))

    def set_enabled(self, *, enabled: bool) -> None:
        """Speculation on or off, for the next message."""
        self._speculate(replace(self.speculation, enabled=enabled))

    def set_gamma(self, gamma: int | None) -> None:
        """Tokens drafted in a round, clamped to 1 … GAMMA_MAX; None leaves it to the engine."""
        if gamma is not None:
            gamma = min(max(gamma, 1), GAMMA_MAX)
        self._speculate(replace(self.speculation, gamma=gamma))

    def set_rule(self, rule: Rule) -> None:
        """How drafted tokens are judged at temperature > 0."""
        self._speculate(replace(self.speculation, rule=rule))

    # Loading

    def load(self) -> None:
        """Load the pair that the settings name, unless there is no target or that very pair is being loaded."""
        self._load(self._wanted(self.speculation))

    def _load(self, wanted: _Wanted | None) -> None:
        if wanted is None or (self._state.loading and wanted == self._asked):
            return
        self._asked = wanted
        self._become(self._state.load_begun())
        self._judging = wanted.draft is not None
        if self._judging:
            self._judges.start(lambda: self._run_judge(wanted))
        else:
            self._ask(wanted)

    def cancel_load(self) -> None:
        """Stop loading, and a message that waits for it. Nothing is in memory then; the next message loads again."""
        if self._judging and self._asked is not None:
            self._judging = False
            self._ask(self._asked)
        if self._state.loading and self._request is not None:
            self._engine.cancel(self._request)

    def prepare(self, then: Callable[[], None], speculation: Speculation) -> None:
        """Call `then` once the engine client has been asked for the pair: at once, unless it must be asked first.

        `speculation` is that of the answer to be written: it may need a draft that the settings don't.
        """
        wanted = self._wanted(speculation)
        if self._asked is None or (wanted is not None and wanted.draft is not None and self._asked.draft is None):
            self._load(wanted)
        if self._judging:
            self._after_asking.append(then)
        else:
            then()

    def note_pace(self, speculation: Speculation, pace: Pace | None) -> None:
        """A round of an answer with these settings was decoded."""
        if speculation == self.speculation:
            self._become(self._state.paced(pace))

    def note_answer(self, speculation: Speculation, problem: Problem | None) -> None:
        """An answer with these settings was written; `problem` is why it was not drafted.

        Settings that are not in force say nothing about the next answer.
        """
        if speculation == self.speculation:
            self._become(replace(self._state, answer_problem=problem))

    def close(self) -> None:
        """Wait for a header that is being read. For the end of the app."""
        self._judges.clear()
        self._judges.waitForDone()

    def _connect(self) -> None:
        self._judged.connect(self._on_judged, Qt.ConnectionType.QueuedConnection)
        self._settings.changed.connect(self._on_settings_changed)
        engine = self._engine
        engine.state_changed.connect(self._on_engine_state_changed)
        engine.load_progressed.connect(self._on_load_progressed)
        engine.loaded.connect(self._on_loaded)
        engine.calibrated.connect(self._on_calibrated)
        engine.cancelled.connect(self._on_cancelled)
        engine.failed.connect(self._on_failed)
        engine.died.connect(self._on_died)

    def _choose(self, settings: Settings) -> None:
        """A choice by hand loads again even if it is the same: the file, or the memory free, may have changed."""
        self._asked = None
        self._settings.apply(settings)
        self.load()

    def _with_draft(self, settings: Settings, path: str) -> Settings:
        source = self.speculation.source if self.speculation.source.uses_model else DraftSource.MODEL
        speculation = replace(self.speculation, source=source)
        return replace(settings, draft_path=path, answer=replace(settings.answer, speculation=speculation))

    def _speculate(self, speculation: Speculation) -> None:
        settings = self._settings.current
        self._settings.apply(replace(settings, answer=replace(settings.answer, speculation=speculation)))

    def _wanted(self, speculation: Speculation) -> _Wanted | None:
        """The pair that answers with this speculation; a draft is kept ready while speculation is switched off."""
        settings = self._settings.current
        if settings.target_path is None:
            return None
        wants_draft = speculation.source.uses_model
        draft = settings.draft_path if wants_draft else None
        return _Wanted(_model(settings, settings.target_path), _model(settings, draft) if draft else None)

    def _run_judge(self, wanted: _Wanted) -> None:
        """On a thread of its own."""
        assert wanted.draft is not None, "only pairs are judged"
        self._judged.emit(wanted, self._judge(Path(wanted.target.path), Path(wanted.draft.path)))

    def _ask(self, wanted: _Wanted) -> None:
        """Hand the load to the engine client, then what waited for that."""
        self._request = None
        self._request = self._engine.load(wanted.target, wanted.draft)
        waiting, self._after_asking = self._after_asking, []
        for then in waiting:
            then()

    def _become(self, state: PairState) -> None:
        if state != self._state:
            self._state = state
            self.changed.emit()

    # What is heard

    def _on_settings_changed(self, settings: Settings) -> None:
        """A draft that is not wanted any more is no reason to load: it stays for when it is selected again."""
        self._become(self._state.chosen(settings))
        wanted, asked = self._wanted(self.speculation), self._asked
        if wanted is None or asked is None:
            return
        if wanted.target != asked.target or wanted.draft not in {None, asked.draft}:
            self.load()

    def _on_judged(self, wanted: _Wanted, problem: Problem | None) -> None:
        if not self._judging or wanted != self._asked:
            return
        self._judging = False
        if problem is None:
            self._ask(wanted)
            return
        self._become(replace(self._state, draft_problem=problem))
        self.problem_raised.emit(problem)
        self._ask(replace(wanted, draft=None))

    def _on_engine_state_changed(self, state: EngineState) -> None:
        self._become(self._state.engine_now(state))

    def _on_load_progressed(self, progress: LoadProgress) -> None:
        self._become(replace(self._state, progress=progress))
        self.load_progressed.emit(progress)

    def _on_loaded(self, loaded: Loaded) -> None:
        if loaded.request != self._request:
            return
        self._become(self._state.loaded(loaded))
        if loaded.draft_problem is not None:
            self.problem_raised.emit(loaded.draft_problem)

    def _on_calibrated(self, calibrated: Calibrated) -> None:
        self._become(self._state.calibrated(calibrated.costs))

    def _on_cancelled(self, request: int) -> None:
        if request == self._request:
            self._asked = None
            self._become(self._state.load_undone())

    def _on_failed(self, failed: Failed) -> None:
        if failed.request == self._request:
            self._asked = None
            self._become(self._state.load_undone(failed.problem))
            self.problem_raised.emit(failed.problem)

    def _on_died(self, problem: Problem) -> None:
        """The client loads the pair again with the next question."""
        was_loading = self._state.loading
        self._become(self._state.died(problem, loading=self._judging))
        if was_loading:
            self.problem_raised.emit(problem)


def _model(settings: Settings, path: str) -> ModelSettings:
    return settings.loading_of(path).of(path)
