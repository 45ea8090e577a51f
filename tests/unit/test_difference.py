"""When rounding explains that two texts part."""

from __future__ import annotations

import numpy as np
import pytest

from desktop_app.core import noise
from desktop_app.core.difference import Fork, first_difference
from desktop_app.core.sampling import Logits, filtered
from desktop_app.core.settings import Rule, Sampling

ROUNDING = 0.01
POSITION = 17


def row(*values: float) -> Logits:
    return np.array(values, dtype=np.float32)


@pytest.mark.parametrize(
    ("first", "second", "index"),
    [
        ((1, 2), (1, 2), None),
        ((), (), None),
        ((1, 2), (1, 3), 1),
        ((1, 2), (1,), 1),
        ((1,), (1, 2), 1),
        ((1,), (2,), 0),
    ],
)
def test_first_difference(first: tuple[int, ...], second: tuple[int, ...], index: int | None) -> None:
    assert first_difference(first, second) == index


class TestGreedy:
    fork = Fork(POSITION, 0, 1, Sampling(temperature=0.0), Rule.SHARED_NOISE)

    def test_the_margin_is_the_gap_of_the_logits(self) -> None:
        assert self.fork.margin(row(3.0, 2.5, 0.0)) == pytest.approx(0.5)

    @pytest.mark.parametrize(("gap", "near_tie"), [(0.0, True), (0.019, True), (0.021, False), (3.0, False)])
    def test_a_near_tie_has_a_gap_of_at_most_twice_the_rounding(self, gap: float, near_tie: bool) -> None:
        single = row(3.0, 3.0 - gap, 0.0)

        assert self.fork.is_near_tie(single, single, ROUNDING) is near_tie

    def test_a_third_token_between_the_two_does_not_matter(self) -> None:
        single = row(3.0, 2.985, 2.999)

        assert self.fork.is_near_tie(single, single, ROUNDING)

    @pytest.mark.parametrize(("gap", "near_tie"), [(0.019, True), (0.021, False)])
    def test_the_first_text_may_be_the_one_that_rounding_moved(self, gap: float, near_tie: bool) -> None:
        single = row(3.0 - gap, 3.0, 0.0)

        assert self.fork.margin(single) == pytest.approx(-gap, rel=1e-4)
        assert self.fork.is_near_tie(single, single, ROUNDING) is near_tie


class TestSharedNoise:
    sampling = Sampling(temperature=0.7, top_k=0, top_p=1.0, min_p=0.0, seed=5)

    def fork(self, first: int, second: int, sampling: Sampling) -> Fork:
        return Fork(POSITION, first, second, sampling, Rule.SHARED_NOISE)

    def winner(self, logits: Logits, sampling: Sampling) -> int:
        assert sampling.seed is not None
        return noise.pick(filtered(logits, sampling), sampling.seed, POSITION)

    def test_the_margin_is_how_far_the_other_logit_must_rise(self) -> None:
        logits = row(1.0, 1.2, 0.9)
        first = self.winner(logits, self.sampling)
        other = (first + 1) % 3
        margin = self.fork(first, other, self.sampling).margin(logits)
        assert margin is not None
        assert margin > 0

        for factor, wins in ((0.99, False), (1.01, True)):
            raised = logits.copy()
            raised[other] += factor * margin
            raised[(first + 2) % 3] = -50.0
            assert (self.winner(raised, self.sampling) == other) is wins

    def test_a_near_tie_of_the_noisy_scores(self) -> None:
        logits = row(1.0, 1.2, -50.0)
        first = self.winner(logits, self.sampling)
        fork = self.fork(first, 1 - first, self.sampling)
        margin = fork.margin(logits)
        assert margin is not None

        assert fork.is_near_tie(logits, logits, rounding=0.51 * margin)
        assert not fork.is_near_tie(logits, logits, rounding=0.49 * margin)

    def test_neither_text_need_hold_the_token_that_single_passes_take(self) -> None:
        logits = row(1.0, 1.2, -50.0)
        first = 1 - self.winner(logits, self.sampling)
        fork = self.fork(first, 1 - first, self.sampling)
        margin = fork.margin(logits)
        assert margin is not None
        assert margin < 0

        assert fork.is_near_tie(logits, logits, rounding=-0.51 * margin)
        assert not fork.is_near_tie(logits, logits, rounding=-0.49 * margin)

    def test_a_token_at_the_border_of_a_filter(self) -> None:
        sampling = Sampling(temperature=0.7, top_k=1, top_p=1.0, min_p=0.0, seed=5)
        fork = self.fork(0, 1, sampling)

        assert fork.margin(row(1.0, 0.995)) is None
        assert fork.is_near_tie(row(1.0, 0.995), row(1.0, 0.995), ROUNDING)
        assert not fork.is_near_tie(row(1.0, 0.9), row(1.0, 0.9), ROUNDING)
