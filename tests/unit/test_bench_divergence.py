"""When rounding explains that two texts part."""

from __future__ import annotations

import numpy as np
import pytest

from desktop_app.bench.divergence import Fork, first_difference
from desktop_app.core import noise
from desktop_app.core.sampling import Logits, filtered
from desktop_app.core.settings import AnswerSettings, Rule, Sampling, Speculation

ROUNDING = 0.01
POSITION = 17


def settings(sampling: Sampling) -> AnswerSettings:
    return AnswerSettings(sampling, Speculation(gamma=4, rule=Rule.SHARED_NOISE))


def row(*values: float) -> Logits:
    return np.array(values, dtype=np.float32)


@pytest.mark.parametrize(
    ("plain", "speculative", "index"),
    [
        ((1, 2), (1, 2), None),
        ((), (), None),
        ((1, 2), (1, 3), 1),
        ((1, 2), (1,), 1),
        ((1,), (1, 2), 1),
        ((1,), (2,), 0),
    ],
)
def test_first_difference(plain: tuple[int, ...], speculative: tuple[int, ...], index: int | None) -> None:
    assert first_difference(plain, speculative) == index


class TestGreedy:
    fork = Fork(POSITION, plain=0, speculative=1, settings=settings(Sampling(temperature=0.0)))

    def test_the_margin_is_the_gap_of_the_logits(self) -> None:
        assert self.fork.margin(row(3.0, 2.5, 0.0)) == pytest.approx(0.5)

    @pytest.mark.parametrize(("gap", "near_tie"), [(0.0, True), (0.019, True), (0.021, False), (3.0, False)])
    def test_a_near_tie_has_a_gap_of_at_most_twice_the_rounding(self, gap: float, near_tie: bool) -> None:
        single = row(3.0, 3.0 - gap, 0.0)

        assert self.fork.is_near_tie(single, single, ROUNDING) is near_tie

    def test_a_third_token_between_the_two_does_not_matter(self) -> None:
        single = row(3.0, 2.985, 2.999)

        assert self.fork.is_near_tie(single, single, ROUNDING)


class TestSharedNoise:
    sampling = Sampling(temperature=0.7, top_k=0, top_p=1.0, min_p=0.0, seed=5)

    def fork(self, plain: int, speculative: int, sampling: Sampling) -> Fork:
        return Fork(POSITION, plain, speculative, settings(sampling))

    def winner(self, logits: Logits, sampling: Sampling) -> int:
        assert sampling.seed is not None
        return noise.pick(filtered(logits, sampling), sampling.seed, POSITION)

    def test_the_margin_is_how_far_the_other_logit_must_rise(self) -> None:
        logits = row(1.0, 1.2, 0.9)
        plain = self.winner(logits, self.sampling)
        other = (plain + 1) % 3
        margin = self.fork(plain, other, self.sampling).margin(logits)
        assert margin is not None
        assert margin > 0

        for factor, wins in ((0.99, False), (1.01, True)):
            raised = logits.copy()
            raised[other] += factor * margin
            raised[(plain + 2) % 3] = -50.0
            assert (self.winner(raised, self.sampling) == other) is wins

    def test_a_near_tie_of_the_noisy_scores(self) -> None:
        logits = row(1.0, 1.2, -50.0)
        plain = self.winner(logits, self.sampling)
        fork = self.fork(plain, 1 - plain, self.sampling)
        margin = fork.margin(logits)
        assert margin is not None

        assert fork.is_near_tie(logits, logits, rounding=0.51 * margin)
        assert not fork.is_near_tie(logits, logits, rounding=0.49 * margin)

    def test_a_token_at_the_border_of_a_filter(self) -> None:
        sampling = Sampling(temperature=0.7, top_k=1, top_p=1.0, min_p=0.0, seed=5)
        fork = self.fork(0, 1, sampling)

        assert fork.margin(row(1.0, 0.995)) is None
        assert fork.is_near_tie(row(1.0, 0.995), row(1.0, 0.995), ROUNDING)
        assert not fork.is_near_tie(row(1.0, 0.9), row(1.0, 0.9), ROUNDING)
