"""The chance that a drafted token is kept, learned from those that were judged."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from desktop_app.core.acceptance import Drafted

START = -1
"""Stands for what precedes the first drafted token of a round."""

_CONFIDENCE_EDGES = (0.3, 0.5, 0.7, 0.85, 0.95, 0.99)
_CONFIDENCE_PRIORS = (0.25, 0.45, 0.6, 0.75, 0.87, 0.94, 0.98)
"""How sure the draft is, is a fair first guess at the chance that the target agrees."""

_MATCH_EDGES = (3, 4, 6, 10, 16)
_MATCH_PRIORS = (0.4, 0.5, 0.6, 0.75, 0.85, 0.92)
"""By the length of the match that prompt lookup copies from: the longer, the likelier it goes on."""

_PRIORS = (*_CONFIDENCE_PRIORS, *_MATCH_PRIORS)

_NEXT_PRIOR = 0.75
"""For a token that is not drafted yet."""

_PRIOR_WEIGHT = 2.0
"""Judged tokens that a prior counts for."""

_OPTIMISM = 0.15
"""Standard errors above the mean at which a chance is taken: what is hardly known is worth a try."""

_LOWEST, _HIGHEST = 0.01, 0.998
"""No chance is taken to be lower or higher."""

_HALF_LIFE = 192
"""Emitted tokens after which what was learned counts half: texts change."""

_MOOD_STEP = 0.15
_MOOD_HALF_LIFE = 32
"""How far, in log odds, one surprise moves the mood, and the emitted tokens after which half of it is forgotten."""


def bin_of(drafted: Drafted) -> int:
    """Drafted tokens in the same bin have about the same chance."""
    if drafted.match:
        return len(_CONFIDENCE_PRIORS) + bisect_right(_MATCH_EDGES, drafted.match)
    return bisect_right(_CONFIDENCE_EDGES, drafted.confidence)


def _is_copied(bin_: int) -> bool:
    return bin_ >= len(_CONFIDENCE_PRIORS)


@dataclass(slots=True)
class _Record:
    """Kept and refused tokens, fading."""

    prior: float
    kept: float = 0.0
    refused: float = 0.0

    @property
    def chance(self) -> float:
        weight = self.kept + self.refused + _PRIOR_WEIGHT
        mean = (self.kept + _PRIOR_WEIGHT * self.prior) / weight
        return mean + _OPTIMISM * math.sqrt(mean * (1 - mean) / weight)

    def add(self, *, kept: bool) -> None:
        self.kept += kept
        self.refused += not kept

    def fade(self, factor: float) -> None:
        self.kept *= factor
        self.refused *= factor


class AcceptanceModel:
    """Estimates by bin, before and after a token is drafted.

    Two memories: records by bin that last for hundreds of tokens, and one mood, the latest surprises, that shifts all
    estimates alike and passes in dozens. So a text that turns is noticed within a few tokens, and what was off is tried
    again as the mood lifts.
    """

    def __init__(self) -> None:
        self._own = [_Record(prior) for prior in _PRIORS]
        self._next = {before: _Record(_NEXT_PRIOR) for before in range(START, len(_PRIORS))}
        self._steady = _Record(_NEXT_PRIOR)
        self._mood = 0.0
        """Added to the log odds."""

    def of(self, bin_: int) -> float:
        """The chance of a drafted token."""
        return self._now(self._own[bin_])

    def after(self, bin_: int) -> float:
        """The chance of the model's next token, not drafted yet, behind one of that bin or behind START."""
        return self._now(self._next[bin_])

    @property
    def steady(self) -> float:
        """The chance of any token that the model drafts."""
        return self._now(self._steady)

    @property
    def usual(self) -> float:
        """As `steady`, whatever the mood."""
        return self._steady.chance

    def learn(self, bins: Sequence[int], accepted: int, *, refused: bool) -> None:
        """A round drafted tokens of these bins: the first `accepted` were kept, the next one refused or not judged."""
        judged = [True] * accepted + [False] * refused
        self._mood += _MOOD_STEP * sum(kept - self.of(bins[place]) for place, kept in enumerate(judged))
        for place, kept in enumerate(judged):
            self._own[bins[place]].add(kept=kept)
            if not _is_copied(bins[place]):
                self._steady.add(kept=kept)
                self._next[bins[place - 1] if place else START].add(kept=kept)

    def fade(self, emitted: int) -> None:
        """The text went on by that many tokens."""
        self._mood *= 0.5 ** (emitted / _MOOD_HALF_LIFE)
        factor = 0.5 ** (emitted / _HALF_LIFE)
        for record in (*self._own, *self._next.values(), self._steady):
            record.fade(factor)

    def _now(self, record: _Record) -> float:
        usual = min(max(record.chance, _LOWEST), _HIGHEST)
        odds = math.exp(self._mood) * usual / (1 - usual)
        return min(odds / (1 + odds), _HIGHEST)
