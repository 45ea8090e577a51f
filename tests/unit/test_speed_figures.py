"""Every figure of the speed panel against numbers worked out by hand, and its words."""

from __future__ import annotations

import pytest

from desktop_app.core.baseline import Baseline, BaselineSource
from desktop_app.core.facts import Costs
from desktop_app.core.metrics import Tally
from desktop_app.core.rounds import Round, Seconds
from desktop_app.core.settings import DraftSource, Speculation
from desktop_app.core.speedup import predicted_speedup
from desktop_app.ui.speed_panel import tips, wording
from desktop_app.ui.speed_panel.axis import ticks
from desktop_app.ui.speed_panel.figures import Figures, compute_figures
from tests.fakes.timed_rounds import plain_round, timed_round

PLAIN_20 = Baseline(20.0, BaselineSource.THIS_PROMPT)
COSTS = Costs(depth=64, passes=((1, 0.04), (5, 0.06)), draft_step=0.004)
ROUND = Seconds(draft=0.02, verify=0.07, sample=0.006, rest=0.004)
"""0.1 s, of which a drafted token takes 0.005 at γ = 4."""


def figures_of(
    *rounds: Round,
    baseline: Baseline | None = PLAIN_20,
    costs: Costs | None = None,
    speculation: Speculation | None = None,
) -> Figures:
    return compute_figures(
        Tally.of(rounds),
        now_tok_per_s=None,
        baseline=baseline,
        costs=costs,
        speculation=speculation or Speculation(gamma=4),
    )


def test_nothing_is_known_of_an_empty_answer() -> None:
    assert figures_of(baseline=None) == Figures(draft_cost_at_load=True, gamma=4, gamma_setting=4)


def test_an_answer_of_four_rounds() -> None:
    figures = figures_of(*(timed_round(4, accepted, ROUND) for accepted in (4, 1, 0, 3)))
    assert figures.tok_per_s == pytest.approx(12 / 0.4)
    assert figures.speedup == pytest.approx(1.5)
    assert (figures.accepted, figures.judged) == (8, 11)
    assert figures.acceptance_rate == pytest.approx(8 / 11)
    assert figures.tokens_per_pass == pytest.approx(3.0)
    assert figures.draft_cost == pytest.approx(0.005 * 20)
    assert not figures.draft_cost_at_load
    assert figures.gamma == 4
    assert figures.accepted_per_round == (1, 1, 0, 1, 1)
    assert figures.shares is not None
    assert (figures.shares.draft, figures.shares.verify) == pytest.approx((0.2, 0.7))
    assert (figures.shares.sample, figures.shares.rest) == pytest.approx((0.06, 0.04))


def test_prediction_at_fixed_gamma_is_the_cost_model_at_measured_costs() -> None:
    figures = figures_of(*(timed_round(4, accepted, ROUND) for accepted in (4, 1, 0, 3)))
    expected = predicted_speedup(
        alpha=8 / 11, gamma=4, plain_s=0.05, draft_step_s=0.005, verify_s=0.07, overhead_s=0.01
    )
    assert figures.predicted_speedup == pytest.approx(expected)


def test_prediction_counts_plain_passes_at_one_token_each() -> None:
    figures = figures_of(timed_round(2, 2, Seconds(verify=0.1)), plain_round(0.05), plain_round(0.05))
    assert figures.predicted_speedup == pytest.approx((3 + 1 + 1) / 0.2 / 20)
    assert figures.predicted_speedup == pytest.approx(figures.speedup)


def test_prediction_between_whole_gammas() -> None:
    figures = figures_of(timed_round(2, 2, Seconds(verify=0.1)), timed_round(1, 1, Seconds(verify=0.1)))
    assert figures.gamma == pytest.approx(1.5)
    assert figures.predicted_speedup == pytest.approx(2.5 * 2 / 0.2 / 20)


def test_a_plain_answer_has_no_speedup() -> None:
    figures = figures_of(plain_round(0.05), plain_round(0.05), speculation=Speculation(enabled=False))
    assert figures.tok_per_s == pytest.approx(20)
    assert figures.tokens_per_pass == pytest.approx(1)
    assert figures.speedup is None
    assert figures.acceptance_rate is None
    assert figures.predicted_speedup is None
    assert figures.gamma is None
    assert figures.accepted_per_round == ()


def test_rounds_without_duration_divide_nothing_by_zero() -> None:
    figures = figures_of(timed_round(4, 2, Seconds()))
    assert figures.tok_per_s is None
    assert figures.shares is None
    assert figures.speedup is None
    assert figures.predicted_speedup is None


def test_without_any_baseline_ratios_stay_unknown() -> None:
    figures = figures_of(timed_round(4, 2, ROUND), baseline=None)
    assert figures.tok_per_s == pytest.approx(30)
    assert (figures.speedup, figures.draft_cost, figures.predicted_speedup) == (None, None, None)


def test_calibration_stands_in_until_something_better_is_known() -> None:
    figures = figures_of(baseline=None, costs=COSTS)
    assert figures.baseline == Baseline(25.0, BaselineSource.CALIBRATION, depth=64)
    assert figures.draft_cost == pytest.approx(0.1)
    assert figures.draft_cost_at_load
    assert figures_of(costs=COSTS).baseline is PLAIN_20


def test_calibrated_draft_step_says_nothing_about_prompt_lookup() -> None:
    lookup = Speculation(source=DraftSource.LOOKUP)
    assert figures_of(costs=COSTS, speculation=lookup).draft_cost is None


def test_histogram_reaches_up_to_the_gamma_that_was_set() -> None:
    figures = figures_of(timed_round(2, 1, ROUND), speculation=Speculation(gamma=8))
    assert figures.accepted_per_round == (0, 1, 0, 0, 0, 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("tok_per_s", "text"), [(None, "–"), (8.44, "8.4"), (41.83, "41.8"), (99.96, "100"), (312.4, "312")]
)
def test_rate_text(tok_per_s: float | None, text: str) -> None:
    assert wording.rate_text(tok_per_s) == text


@pytest.mark.parametrize(
    ("share", "text"), [(None, "–"), (0.0, "0 %"), (0.002, "< 1 %"), (0.006, "1 %"), (0.714, "71 %"), (1.0, "100 %")]
)
def test_percent_text(share: float | None, text: str) -> None:
    assert wording.percent_text(share) == text


@pytest.mark.parametrize(
    ("gamma", "setting", "text"),
    [(None, None, "–"), (4.0, 4, "4"), (3.98, 4, "4"), (3.6, 4, "3.6 (set 4)"), (2.0, 8, "2 (set 8)")],
)
def test_gamma_text(gamma: float | None, setting: int | None, text: str) -> None:
    assert wording.gamma_text(Figures(gamma=gamma, gamma_setting=setting)) == text


@pytest.mark.parametrize("source", BaselineSource)
def test_every_baseline_names_its_source(source: BaselineSource) -> None:
    assert wording.SOURCE_WORDS[source] in wording.baseline_text(Baseline(19.9, source))


def test_tooltip_of_alpha_gives_the_counts() -> None:
    assert tips.acceptance(Figures(accepted=8, judged=11)).endswith("Here: 8 of 11.")
    assert "Here" not in tips.acceptance(Figures())


def test_tooltip_of_c_names_the_source_in_use() -> None:
    assert "this answer" in tips.draft_cost(Figures(draft_cost=0.1))
    assert "calibration" in tips.draft_cost(Figures(draft_cost=0.1, draft_cost_at_load=True))


@pytest.mark.parametrize(
    ("top", "expected"), [(0.0, (0, 1)), (10.0, (0, 5, 10)), (21.3, (0, 10, 20, 30)), (48.0, (0, 20, 40, 60))]
)
def test_axis_ticks_are_round_and_cover_the_top(top: float, expected: tuple[float, ...]) -> None:
    assert ticks(top, 3) == pytest.approx(expected)
