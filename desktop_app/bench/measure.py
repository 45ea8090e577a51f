"""Makes one run after another on the loaded pair, in this process: the engine without its pipe.

Owns nothing of the models; reports what the engine's rounds say and draws no conclusions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from desktop_app.bench.deck import Prompt
from desktop_app.bench.plan import AUTO, Gamma, Planned
from desktop_app.bench.record import RunRecord, record
from desktop_app.core.errors import DraftglassError
from desktop_app.core.rounds import Round
from desktop_app.core.settings import AnswerSettings, DraftSource
from desktop_app.engine.calibration import calibrate
from desktop_app.engine.pair import LoadedModel, Pair
from desktop_app.engine.prompt import prompt_tokens
from desktop_app.protocol.messages import Finished, RoundDone

WARM_UP_TOKENS = 8

GREEDY = "greedy"
"""The rule of every run at temperature 0."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A prompt of the deck, as tokens of the target."""

    id: str
    category: str
    tokens: tuple[int, ...]


class Measurer:
    """Answers prompts with the settings given, changing only γ and the seed from run to run."""

    def __init__(self, pair: Pair, settings: AnswerSettings) -> None:
        """`pair` has a target in memory. The settings carry a seed; the r-th repeat draws with seed + r."""
        assert pair.target is not None
        self._pair = pair
        self._settings = settings
        self.target: LoadedModel = pair.target

    @property
    def draft_name(self) -> str | None:
        """The draft's file, "lookup", both with a plus between them, or None."""
        names = [str(DraftSource.LOOKUP)] if self._settings.speculation.source.uses_lookup else []
        if self._pair.draft is not None:
            names.append(Path(self._pair.draft.model.path).name)
        return " + ".join(names) or None

    @property
    def rule_name(self) -> str:
        return GREEDY if self._settings.sampling.greedy else str(self._settings.speculation.rule)

    @property
    def comparable(self) -> bool:
        """Whether plain and speculative runs should write the same text, not only text of the same distribution."""
        return self.rule_name != "rejection"

    def prepare(self, prompt: Prompt) -> Prepared:
        """Raises DraftglassError where the target can't take the prompt."""
        return Prepared(prompt.id, prompt.category, prompt_tokens(self.target, prompt.messages))

    def warm_up(self, prompt: Prepared, gammas: Sequence[Gamma]) -> None:
        """Touch weights and caches once, so that the first run that counts doesn't pay for it; time passes for auto."""
        if AUTO in gammas:
            self._calibrate()
        for gamma in (0, *gammas[-1:]):
            settings = replace(self.settings(Planned(gamma, 0)), max_tokens=WARM_UP_TOKENS)
            self._answer(prompt, settings)

    def forget(self) -> None:
        """Empty the caches, so that a prompt's runs don't depend on the prompt before it."""
        for loaded in (self._pair.target, self._pair.draft):
            if loaded is not None:
                loaded.context.clear()

    def run(self, prompt: Prepared, planned: Planned) -> RunRecord:
        """Answer the prompt. Raises Aborted, or DraftglassError where the draft fails."""
        rounds, finished = self._answer(prompt, self.settings(planned))
        return record(
            rounds,
            prompt=prompt.id,
            draft=self.draft_name if planned.gamma else None,
            rule=self.rule_name,
            gamma=planned.gamma,
            repeat=planned.repeat,
            prefill_s=finished.prefill_s,
            stop=finished.stop,
        )

    def settings(self, planned: Planned) -> AnswerSettings:
        """The settings of a run."""
        base = self._settings
        assert base.sampling.seed is not None
        gamma = None if planned.gamma == AUTO else planned.gamma
        speculation = replace(base.speculation, enabled=gamma != 0, gamma=gamma)
        sampling = replace(base.sampling, seed=base.sampling.seed + planned.repeat)
        return replace(base, sampling=sampling, speculation=speculation)

    def _answer(self, prompt: Prepared, settings: AnswerSettings) -> tuple[list[Round], Finished]:
        assert settings.sampling.seed is not None
        generation = self._pair.generation(0, prompt.tokens, settings, seed=settings.sampling.seed)
        rounds, finished = [], None
        for event in generation.events():
            if isinstance(event, RoundDone):
                rounds.append(event.round)
            elif isinstance(event, Finished):
                finished = event
        assert finished is not None
        if finished.speculation_problem is not None:
            raise DraftglassError(finished.speculation_problem)
        return rounds, finished

    def _calibrate(self) -> None:
        costs = calibrate(self._pair, interrupted=lambda: False)
        if costs is not None:
            self._pair.experience.calibrate(costs)
