"""Asks the drafters for a round's tokens, as the pacer bids."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence

from desktop_app.core.acceptance import AcceptanceRule, Drafted
from desktop_app.core.errors import DraftglassError, Problem
from desktop_app.core.pacing import Pace, Pacer
from desktop_app.core.rounds import Round
from desktop_app.engine.drafters.base import Drafter

logger = logging.getLogger(__name__)


class Drafting:
    """The drafters of one answer. One that fails is not asked again: a draft never costs the answer."""

    def __init__(self, drafters: Sequence[Drafter], pacer: Pacer, rule: AcceptanceRule) -> None:
        """The drafters in the order in which they are asked."""
        self._all = tuple(drafters)
        self._usable = [each for each in drafters if each.free or not pacer.hopeless]
        self._pacer = pacer
        self._rule = rule
        self._asked: Drafter | None = None
        self._proposed: list[Drafted] = []
        self.problem: Problem | None = None
        """Why a drafter is not asked any more."""

    @property
    def pace(self) -> Pace | None:
        return self._pacer.pace if self._usable else None

    @property
    def busy_s(self) -> float:
        return sum(each.busy_s for each in self._all)

    @property
    def sample_s(self) -> float:
        return sum(each.sample_s for each in self._all)

    def prefill(self, tokens: Sequence[int]) -> Iterator[int]:
        """Counts of tokens done, as `Drafter.prefill`; at most one drafter has any to report. Raises Aborted."""
        for drafter in tuple(self._usable):
            try:
                yield from drafter.prefill(tokens)
            except DraftglassError as error:
                self._give_up(drafter, error)

    def draft(self, committed: Sequence[int], room: int) -> list[Drafted]:
        """0 … room tokens for the target to verify, all from one drafter. Raises Aborted."""
        self._pacer.begin(room=room, depth=len(committed))
        self._asked, self._proposed = None, []
        for drafter in tuple(self._usable):
            try:
                proposed = self._ask(drafter, committed)
            except DraftglassError as error:
                self._give_up(drafter, error)
                continue
            if not proposed:
                continue
            self._asked, self._proposed = drafter, proposed
            if kept := self._pacer.keep(proposed):
                return proposed[:kept]
        return []

    def observe(self, batch: Sequence[int], accepted: int) -> None:
        """The target decoded `batch` and kept `accepted` of the drafted tokens in it."""
        if self._asked is not None:
            self._asked.observe(batch, accepted)

    def learn(self, round_: Round) -> None:
        """What the round brought and cost."""
        self._pacer.learn(round_, self._proposed)

    def _ask(self, drafter: Drafter, committed: Sequence[int]) -> list[Drafted]:
        limit = self._pacer.limit(free=drafter.free, lag=drafter.lag(committed))
        proposed: list[Drafted] = []
        if limit:
            for token in drafter.draft(committed, limit, self._rule):
                proposed.append(token)
                if not self._pacer.wants_more(proposed):
                    break
        return proposed

    def _give_up(self, drafter: Drafter, error: DraftglassError) -> None:
        logger.warning("the draft failed, going on without: %s", error)
        self._usable.remove(drafter)
        self.problem = error.problem
