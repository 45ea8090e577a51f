"""The cost model against its closed form and against a simulation."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from desktop_app.core.facts import Costs
from desktop_app.core.speedup import best_possible_speedup, expected_tokens, predicted_speedup


@pytest.mark.parametrize(("alpha", "gamma"), list(product((0.0, 0.3, 0.9, 0.999), (0, 1, 4, 16))))
def test_expected_tokens_is_the_closed_form(alpha: float, gamma: int) -> None:
    assert expected_tokens(alpha, gamma) == pytest.approx((1 - alpha ** (gamma + 1)) / (1 - alpha))


def test_expected_tokens_where_the_closed_form_divides_by_zero() -> None:
    assert expected_tokens(1.0, 4) == 5


def test_expected_tokens_of_simulated_rounds() -> None:
    alpha, gamma = 0.7, 5
    kept = np.random.default_rng(0).random((200_000, gamma)) < alpha
    emitted = np.cumprod(kept, axis=1).sum(axis=1) + 1

    assert emitted.mean() == pytest.approx(expected_tokens(alpha, gamma), rel=0.005)


@pytest.mark.parametrize("alpha", [-0.1, 1.1, float("nan")])
def test_a_chance_lies_between_0_and_1(alpha: float) -> None:
    with pytest.raises(ValueError, match="alpha must lie in"):
        expected_tokens(alpha, 4)


def test_prediction_at_a_cost_known_by_hand() -> None:
    # 1 + 0.5 + 0.25 tokens for two draft steps of 10 ms, a pass of 50 ms and 5 ms beside; plainly 40 ms each.
    speedup = predicted_speedup(alpha=0.5, gamma=2, plain_s=0.04, draft_step_s=0.01, verify_s=0.05, overhead_s=0.005)

    assert speedup == pytest.approx(1.75 * 0.04 / 0.075)


def test_a_draft_that_never_hits_costs_what_it_takes() -> None:
    speedup = predicted_speedup(alpha=0.0, gamma=4, plain_s=1.0, draft_step_s=0.25, verify_s=1.0)

    assert speedup == pytest.approx(0.5)


def test_a_plain_step_is_as_fast_as_itself() -> None:
    assert predicted_speedup(alpha=0.5, gamma=0, plain_s=0.03, draft_step_s=0.01, verify_s=0.03) == pytest.approx(1.0)


def test_a_free_perfect_draft_gives_gamma_plus_1() -> None:
    assert predicted_speedup(alpha=1.0, gamma=4, plain_s=1.0, draft_step_s=0.0, verify_s=1.0) == pytest.approx(5.0)


class TestBestPossible:
    COSTS = Costs(0, ((1, 0.04), (2, 0.05), (5, 0.08), (9, 0.2)), 0.01)

    def test_takes_the_gamma_that_gains_most_if_every_token_is_accepted(self) -> None:
        # γ 1: 2 · 40 / (10 + 50), γ 4: 5 · 40 / (40 + 80), γ 8: 9 · 40 / (80 + 200).
        assert best_possible_speedup(self.COSTS, 0.01) == pytest.approx(200 / 120)

    def test_looking_up_costs_nothing(self) -> None:
        assert best_possible_speedup(self.COSTS, 0.0) == pytest.approx(200 / 80)

    def test_where_verifying_costs_as_much_as_decoding_there_is_nothing_to_gain(self) -> None:
        compute_bound = Costs(0, tuple((n, 0.04 * n) for n in range(1, 18)), 0.01)
        best = best_possible_speedup(compute_bound, 0.01)
        assert best is not None
        assert best < 1

    def test_is_unknown_where_only_plain_passes_were_timed(self) -> None:
        assert best_possible_speedup(Costs(0, ((1, 0.04),), 0.01), 0.01) is None
