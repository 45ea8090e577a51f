"""Where two texts that should be the same part, and whether rounding explains it.

A pass over one token and a pass over several may round differently, so texts can part where two tokens are nearly
level. Arithmetic on logits only; who computes them is not known here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

import numpy as np

from desktop_app.core import noise
from desktop_app.core.acceptance import rule_for
from desktop_app.core.sampling import Logits, filtered
from desktop_app.core.settings import Rule, Sampling


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place where two texts differ. A text that ended before has no token there (None)."""

    index: int
    """Place in the answer, in tokens, from 0."""
    first_id: int | None
    first_text: str
    second_id: int | None
    second_text: str
    margin: float | None
    """By how much a pass over one token prefers the first text's token, in units of logits; None where it can't be
    said.

    Greedy: the gap between the two logits. Shared noise: the gap between the two noisy scores times the temperature,
    None where the filters leave out one of the tokens.
    """
    rounding: float | None
    """Largest difference of any logit there between passes over one token and passes of the largest size used."""
    near_tie: bool
    """Whether a change of the logits by no more than `rounding` explains the parting; otherwise it is a bug."""


@dataclass(frozen=True, slots=True)
class TextPair:
    """Two answers to one prompt that should be the same, as token ids, and what is needed to judge where they part."""

    first: tuple[int, ...]
    second: tuple[int, ...]
    sampling: Sampling
    """Of both, with a seed unless greedy."""
    rule: Rule
    pass_size: int
    """Tokens in the largest pass that wrote either."""

    @property
    def parting(self) -> int | None:
        """The first index at which they differ; None for equal texts."""
        return first_difference(self.first, self.second)


def first_difference(first: Sequence[int], second: Sequence[int]) -> int | None:
    """The first index at which the token ids differ, or one sequence has ended; None for equal sequences."""
    pairs = enumerate(zip_longest(first, second))
    return next((at for at, (ours, theirs) in pairs if ours != theirs), None)


@dataclass(frozen=True, slots=True)
class Fork:
    """Two tokens that two runs with the same sampling put at the same position of the context.

    All rows are logits after the repetition penalty, shape (n_vocab,).
    """

    position: int
    first: int
    second: int
    sampling: Sampling
    """With a seed, unless greedy."""
    rule: Rule

    def margin(self, row: Logits) -> float | None:
        """`Difference.margin` by a row of a pass over one token."""
        sampling = self.sampling
        if sampling.greedy:
            return float(row[self.first] - row[self.second])
        ids = np.array([self.first, self.second])
        probs = filtered(row, sampling).probs_of(ids)
        if not probs.all():
            return None
        assert sampling.seed is not None
        scores = np.log(probs) - np.log(-np.log(noise.uniform(sampling.seed, self.position, ids)))
        return sampling.temperature * float(scores[0] - scores[1])

    def is_near_tie(self, single: Logits, batched: Logits, rounding: float) -> bool:
        """Whether rounding explains the fork.

        Greedy: the margin is at most twice the rounding difference. Shared noise: either token is what the rule takes
        from the batched row, or once both logits are moved by that difference, so that a token at the border of a
        filter is judged too.
        """
        if self.sampling.greedy:
            margin = self.margin(single)
            return margin is not None and abs(margin) <= 2 * rounding
        return all(
            winner in (self._pick(_moved(single, winner, loser, rounding)), self._pick(batched))
            for winner, loser in ((self.first, self.second), (self.second, self.first))
        )

    def _pick(self, row: Logits) -> int:
        assert self.sampling.seed is not None
        sampling = replace(self.sampling, repeat_penalty=1.0)
        # Without a penalty the rule looks at the length of the history only, which is the key of the noise.
        return rule_for(sampling, self.rule, self.sampling.seed).pick(row, range(self.position)).id


def _moved(row: Logits, up: int, down: int, by: float) -> Logits:
    moved = row.copy()
    moved[up] += by
    moved[down] -= by
    return moved
