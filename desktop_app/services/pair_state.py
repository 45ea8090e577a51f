"""What is known of the pair at a moment, and how each thing heard changes that. Values and pure functions; no Qt."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from desktop_app.core.errors import Problem
from desktop_app.core.facts import Costs, ModelFacts
from desktop_app.core.pacing import Pace
from desktop_app.core.settings import Speculation
from desktop_app.protocol.messages import Loaded, LoadProgress
from desktop_app.services.engine_client import EngineState
from desktop_app.services.settings_file import Settings


@dataclass(frozen=True, slots=True)
class PairState:
    """Everything that the top bar and the state chip show."""

    speculation: Speculation
    target_path: str | None = None
    draft_path: str | None = None
    target: ModelFacts | None = None
    """In memory."""
    draft: ModelFacts | None = None
    """In memory."""
    costs: Costs | None = None
    """Of the pair in memory."""
    target_problem: Problem | None = None
    draft_problem: Problem | None = None
    engine_problem: Problem | None = None
    """Why the engine stopped; None while it runs and before it was started."""
    answer_problem: Problem | None = None
    """Why the last answer was not drafted although that was asked for."""
    pace: Pace | None = None
    """As the last round of an answer under these settings left it; None where γ is fixed."""
    starting: bool = False
    loading: bool = False
    progress: LoadProgress | None = None
    measuring: bool = False
    """A calibration is running."""

    def chosen(self, settings: Settings) -> Self:
        """The settings may have changed."""
        speculation = settings.answer.speculation
        return replace(
            self,
            speculation=speculation,
            target_path=settings.target_path,
            draft_path=settings.draft_path,
            answer_problem=self.answer_problem if speculation == self.speculation else None,
            pace=self.pace if speculation == self.speculation else None,
        )

    def load_begun(self) -> Self:
        return replace(
            self,
            loading=True,
            progress=None,
            measuring=False,
            target_problem=None,
            draft_problem=None,
            answer_problem=None,
            pace=None,
        )

    def paced(self, pace: Pace | None) -> Self:
        """After a round; as exact as the chip shows it, so that not every round changes it."""
        if pace is not None and pace.expected_speedup is not None:
            pace = replace(pace, expected_speedup=round(pace.expected_speedup, 1))
        return replace(self, pace=pace)

    def loaded(self, loaded: Loaded) -> Self:
        """A draft problem found in the headers stays: the engine was not asked for that draft."""
        return replace(
            self,
            target=loaded.target,
            draft=loaded.draft,
            costs=None,
            draft_problem=None if loaded.draft else loaded.draft_problem or self.draft_problem,
            loading=False,
            progress=None,
            measuring=True,
        )

    def load_undone(self, problem: Problem | None = None) -> Self:
        """It was cancelled, or failed for this reason."""
        return replace(self._emptied(), loading=False, target_problem=problem)

    def calibrated(self, costs: Costs | None) -> Self:
        return replace(self, costs=costs, measuring=False)

    def engine_now(self, state: EngineState) -> Self:
        starting = state is EngineState.STARTING
        return replace(
            self,
            starting=starting,
            engine_problem=None if starting else self.engine_problem,
            loading=self.loading or state is EngineState.LOADING,
            # A command makes the engine break off its calibration.
            measuring=self.measuring and state is EngineState.IDLE,
        )

    def died(self, problem: Problem, *, loading: bool) -> Self:
        """The engine is gone with all it held; `loading` if a load is still to be sent to the next one."""
        return replace(self._emptied(), starting=False, loading=loading, engine_problem=problem)

    def _emptied(self) -> Self:
        return replace(self, target=None, draft=None, costs=None, pace=None, progress=None, measuring=False)
