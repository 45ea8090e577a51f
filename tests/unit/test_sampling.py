"""The sampling filters against a slow and obvious reference."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest

from desktop_app.core.sampling import Distribution, Logits, filtered, penalised, softmax, total_variation
from desktop_app.core.settings import Sampling
from tests.helpers.chi_square import misfit

GRID = [
    Sampling(temperature=temperature, top_k=top_k, top_p=top_p, min_p=min_p)
    for temperature, top_k, top_p, min_p in product(
        (0.01, 0.8, 2.5), (0, 1, 5, 10_000), (0.0, 0.3, 0.95, 1.0), (0.0, 0.05, 0.9, 1.0)
    )
]


def reference(logits: Sequence[float], sampling: Sampling) -> dict[int, float]:
    """llama.cpp's filters, one step after the other, by sorting."""
    order = sorted(range(len(logits)), key=lambda token: -logits[token])
    if sampling.top_k > 0:
        order = order[: sampling.top_k]
    best = logits[order[0]]
    weights = [math.exp(logits[token] - best) for token in order]
    if sampling.top_p < 1:
        reached, count = 0.0, 0
        while count < len(order) and (count == 0 or reached < sampling.top_p * sum(weights)):
            reached += weights[count]
            count += 1
        order = order[:count]
    order = [token for token in order if math.exp(logits[token] - best) >= sampling.min_p]
    hot = [math.exp((logits[token] - best) / sampling.temperature) for token in order]
    return {token: weight / sum(hot) for token, weight in zip(order, hot, strict=True)}


def as_dict(distribution: Distribution) -> dict[int, float]:
    return dict(zip(distribution.ids.tolist(), distribution.probs.tolist(), strict=True))


@pytest.mark.parametrize("size", [1, 2, 17, 3_000])
def test_filters_match_the_reference(size: int) -> None:
    random = np.random.default_rng(size)
    for sampling in GRID:
        logits = random.normal(scale=3, size=size).astype(np.float32)

        distribution = filtered(logits, sampling)

        expected = reference([float(value) for value in logits], sampling)
        assert as_dict(distribution) == pytest.approx(expected, rel=1e-6), sampling
        assert (np.diff(distribution.ids) > 0).all()
        assert distribution.probs.sum() == pytest.approx(1.0)


def test_a_flat_vocabulary_needs_more_than_the_first_look() -> None:
    """Top-p over 3,000 nearly equal tokens keeps more than the 1,024 that are sorted first."""
    logits = np.random.default_rng(0).normal(scale=0.01, size=3_000).astype(np.float32)
    sampling = Sampling(top_k=0, top_p=0.9, min_p=0.0)

    distribution = filtered(logits, sampling)

    assert as_dict(distribution) == pytest.approx(reference([float(value) for value in logits], sampling))
    assert len(distribution.ids) > 2_000


@pytest.mark.parametrize("seed", range(5))
def test_ties_keep_the_right_number_of_the_right_values(seed: int) -> None:
    logits = np.random.default_rng(seed).integers(-3, 4, size=200).astype(np.float32)
    for sampling in GRID:
        distribution = filtered(logits, sampling)

        expected = reference([float(value) for value in logits], sampling)
        assert Counter(logits[distribution.ids].tolist()) == Counter(float(logits[token]) for token in expected)
        assert sorted(distribution.probs) == pytest.approx(sorted(expected.values()))


def test_all_equal_logits_stay_equal() -> None:
    distribution = filtered(np.zeros(50, np.float32), Sampling(top_k=0, top_p=1.0, min_p=1.0))

    assert distribution.probs.tolist() == pytest.approx([1 / 50] * 50)


@pytest.mark.parametrize("sampling", GRID)
def test_extreme_logits_give_probabilities(sampling: Sampling) -> None:
    logits = np.array([-np.inf, 1e30, -1e30, 3.0, 1e30, -np.inf, np.finfo(np.float32).max / 2], np.float32)

    distribution = filtered(logits, sampling)

    assert np.isfinite(distribution.probs).all()
    assert distribution.prob(6) == pytest.approx(1.0)
    assert distribution.prob(0) == 0.0


def test_a_masked_token_is_never_drawn() -> None:
    logits = np.array([-np.inf, 0.0, -np.inf, 0.0, -np.inf], np.float32)
    distribution = filtered(logits, Sampling(top_k=0, top_p=1.0, min_p=0.0))

    assert {distribution.sample(u) for u in (0.0, 0.25, 0.5, 0.75, 1 - 2**-53)} == {1, 3}


class TestPenalty:
    def test_divides_positive_and_multiplies_negative_logits_once(self) -> None:
        logits = np.array([2.0, -2.0, 0.0, 5.0], np.float32)

        result = penalised(logits, [0, 0, 1, 2], 2.0)

        assert result.tolist() == [1.0, -4.0, 0.0, 5.0]
        assert logits.tolist() == [2.0, -2.0, 0.0, 5.0], "the row is llama.cpp's own memory"

    def test_below_1_it_encourages(self) -> None:
        assert penalised(np.array([2.0, -2.0], np.float32), [0, 1], 0.5).tolist() == [4.0, -1.0]

    def test_changes_nothing_at_1_or_without_history(self) -> None:
        logits = np.array([2.0, -2.0], np.float32)

        assert penalised(logits, [0, 1], 1.0) is logits
        assert penalised(logits, [], 2.0) is logits

    def test_ignores_tokens_beyond_the_row(self) -> None:
        """A draft with the smaller vocabulary sees the target's whole history."""
        assert penalised(np.array([2.0, 4.0], np.float32), [1, 2, 9_999], 2.0).tolist() == [2.0, 2.0]

    def test_keeps_a_masked_token_masked(self) -> None:
        assert penalised(np.array([-np.inf, 1.0], np.float32), [0], 2.0).tolist() == [-np.inf, 1.0]


class TestDistribution:
    P = Distribution(np.array([3, 5, 8]), np.array([0.2, 0.5, 0.3]))

    def test_probabilities_inside_and_outside_the_support(self) -> None:
        assert [self.P.prob(token) for token in (0, 3, 4, 5, 8, 9)] == [0, 0.2, 0, 0.5, 0.3, 0]
        assert self.P.probs_of(np.array([9, 8, 0, 5])).tolist() == [0, 0.3, 0, 0.5]
        assert self.P.probs_of(np.array([], np.int64)).tolist() == []

    def test_samples_by_quantile(self) -> None:
        quantiles = (0.0, 0.19, 0.21, 0.69, 0.71, 1 - 2**-53)

        assert [self.P.sample(u) for u in quantiles] == [3, 3, 5, 5, 8, 8]

    def test_samples_follow_the_probabilities(self) -> None:
        drawn = Counter(self.P.sample(u) for u in np.random.default_rng(0).random(100_000))

        assert misfit([drawn[token] for token in (3, 5, 8)], self.P.probs.tolist()) is None

    def test_total_variation(self) -> None:
        other = Distribution(np.array([5, 9]), np.array([0.1, 0.9]))

        assert total_variation(self.P, self.P) == pytest.approx(0.0)
        assert total_variation(self.P, other) == pytest.approx(0.9)
        assert total_variation(self.P, other) == pytest.approx(total_variation(other, self.P))
        assert total_variation(self.P, Distribution.point(1)) == pytest.approx(1.0)


def test_softmax_of_huge_values() -> None:
    assert softmax(np.array([1e300, 1e300, -1e300])).tolist() == [0.5, 0.5, 0.0]


def test_the_row_is_left_alone() -> None:
    logits: Logits = np.arange(20, dtype=np.float32)
    before = logits.copy()

    filtered(logits, Sampling(top_k=5))

    assert (logits == before).all()
