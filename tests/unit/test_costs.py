"""What counts as a measurement of costs."""

from __future__ import annotations

from typing import Any

import pytest

from desktop_app.core.facts import Costs

GOOD: dict[str, Any] = {"depth": 12, "passes": ((1, 0.04), (2, 0.06), (3, 0.05)), "draft_step": 0.004}


def test_plain_speed_is_that_of_a_pass_over_one_token() -> None:
    costs = Costs(**GOOD)
    assert costs.plain_s == 0.04
    assert costs.plain_tok_per_s == pytest.approx(25)


def test_depth_slopes_that_were_not_measured_are_zero() -> None:
    costs = Costs(**GOOD)
    assert (costs.plain_per_depth, costs.draft_per_depth) == (0.0, 0.0)


@pytest.mark.parametrize(
    "change",
    [
        {"passes": ()},
        {"passes": ((2, 0.06),)},
        {"passes": ((1, 0.04), (3, 0.05), (2, 0.06))},
        {"passes": ((1, 0.04), (1, 0.05))},
        {"passes": ((1, 0.0),)},
        {"passes": ((1, float("nan")),)},
        {"draft_step": 0.0},
        {"draft_step": float("inf")},
        {"depth": -1},
        {"plain_per_depth": -1e-6},
        {"draft_per_depth": float("nan")},
    ],
)
def test_what_cannot_have_been_measured_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"pass|sizes"):
        Costs(**{**GOOD, **change})
