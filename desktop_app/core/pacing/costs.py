"""What rounds cost on this machine: calibrated at load, corrected by every round since."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from desktop_app.core.facts import Costs
from desktop_app.core.rounds import Seconds
from desktop_app.core.settings import GAMMA_MAX

_MEMORY = 7
_PLAIN_MEMORY = 3
"""Latest rounds of one size whose median corrects the calibration: few enough to follow a machine that heats up, and
fewest of plain rounds, since what an answer may take is measured by them."""

_CALIBRATION_VOTES = 2
"""The calibration counts like this many rounds, so that one hiccup does not banish a size for good."""

_GUESSED_GROWTH = 0.25
"""Without a calibration: every further token of a pass costs this share of a plain pass, and so does a draft step."""

_CATCH_UP_SHARE = 0.4
"""Until it was seen: what a token that the draft only reads costs relative to one that it drafts."""

_LAG_OF_A_ROUND = 2
"""Tokens that the draft reads in the first step of a round that follows another: its last one and the target's."""

_SIZES = range(1, GAMMA_MAX + 2)


class CostModel:
    """Seconds of a round in two parts: drafting, and all the rest (the target's pass, sampling, bookkeeping)."""

    def __init__(self, costs: Costs | None) -> None:
        """`costs` is None where nothing was calibrated; then the first plain step makes the model `known`."""
        self._depth = costs.depth if costs else 0
        self._calibrated = _by_size(costs.passes) if costs else ()
        self._per_depth = costs.plain_per_depth if costs else 0.0
        self._draft_step = costs.draft_step if costs else None
        self._ratios: dict[int, deque[float]] = {}
        self._draft_steps: deque[float] = deque(maxlen=_MEMORY)
        self._catch_ups: deque[float] = deque(maxlen=_MEMORY)
        self._corrections: dict[int, float] = {}
        """Asked for many times a round, so kept until the next one changes them."""

    @property
    def known(self) -> bool:
        """Whether plain decoding was ever timed."""
        return bool(self._calibrated)

    def plain_s(self, depth: int) -> float:
        """Seconds of a plain round with `depth` tokens in the context."""
        return self.verify_s(1, depth)

    def verify_s(self, n: int, depth: int) -> float:
        """Seconds of a round whose target pass takes 1 … GAMMA_MAX + 1 tokens, without its drafting."""
        correction = self._corrections.get(n)
        if correction is None:
            correction = self._corrections[n] = self._correction(n)
        return self._at_load(n, depth) * correction

    def draft_s(self, count: int, lag: int = 0) -> float:
        """Seconds to draft `count` tokens with a draft model that has yet to read `lag` tokens."""
        return count * self._step_s() + max(0, lag - _LAG_OF_A_ROUND) * self.catch_up_s

    def speedup(self, gamma: int, *, tokens: float, depth: int) -> float:
        """Against plain decoding, of rounds of a draft model that emit so many tokens on average."""
        return tokens * self.plain_s(depth) / (self.draft_s(gamma) + self.verify_s(gamma + 1, depth))

    def learn(self, n: int, *, depth: int, drafted: int, lag: int, seconds: Seconds) -> None:
        """A round took this long: n tokens in the target's pass, `drafted` steps of the draft, `lag` before them."""
        rest = seconds.total - seconds.draft
        if not self.known:
            if n > 1:
                return
            self._depth, self._calibrated = depth, _by_size(((1, rest),))
        ratios = self._ratios.setdefault(n, deque(maxlen=_PLAIN_MEMORY if n == 1 else _MEMORY))
        ratios.append(rest / self._at_load(n, depth))
        self._corrections.clear()
        if drafted and lag <= _LAG_OF_A_ROUND:
            self._draft_steps.append(seconds.draft / drafted)
        elif drafted:
            self._catch_ups.append(max(0.0, seconds.draft - drafted * self._step_s()) / (lag - _LAG_OF_A_ROUND))

    def _at_load(self, n: int, depth: int) -> float:
        return self._calibrated[n - 1] + self._per_depth * (depth - self._depth)

    def _correction(self, n: int) -> float:
        """Median of the latest rounds of that size over the calibration; of the nearest size where there are none."""
        if not self._ratios:
            return 1.0
        nearest = n if n in self._ratios else min(self._ratios, key=lambda size: abs(size - n))
        ratios = list(self._ratios[nearest])
        if nearest > 1:
            ratios += [median(self._ratios[1]) if 1 in self._ratios else 1.0] * _CALIBRATION_VOTES
        return median(ratios)

    def _step_s(self) -> float:
        if self._draft_steps:
            return median(self._draft_steps)
        if self._draft_step is not None:
            return self._draft_step
        return _GUESSED_GROWTH * self._calibrated[0]

    @property
    def catch_up_s(self) -> float:
        """Seconds for a token that the draft only reads."""
        return median(self._catch_ups) if self._catch_ups else _CATCH_UP_SHARE * self._step_s()


def _by_size(passes: Sequence[tuple[int, float]]) -> tuple[float, ...]:
    """Seconds of passes over 1 … GAMMA_MAX + 1 tokens: linear between the sizes that were timed and beyond them."""
    first_s = passes[0][1]
    if len(passes) == 1:
        return tuple(first_s * (1 + _GUESSED_GROWTH * (n - 1)) for n in _SIZES)
    pairs = list(pairwise(passes))
    seconds = []
    for n in _SIZES:
        (low, low_s), (high, high_s) = next((pair for pair in pairs if n <= pair[1][0]), pairs[-1])
        seconds.append(low_s + (high_s - low_s) * (n - low) / (high - low))
    return tuple(seconds)
