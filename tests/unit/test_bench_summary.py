"""Figures from runs with known times."""

from __future__ import annotations

import pytest

from desktop_app.bench.summary import RunPair, figures, paired
from desktop_app.core.rounds import Seconds
from desktop_app.core.speedup import predicted_speedup
from tests.fakes.bench_runs import PLAIN_STEP_S, plain_run, run_of, speculative_run
from tests.fakes.timed_rounds import timed_round


def test_pairs_are_neighbours_in_either_order() -> None:
    plain, other_plain, two, four = plain_run(), plain_run(), speculative_run([1], gamma=2), speculative_run([1])

    assert paired([plain, two, four, other_plain]) == [RunPair(plain, two), RunPair(other_plain, four)]


def test_a_run_without_a_partner_makes_no_pair() -> None:
    assert paired([plain_run(), speculative_run([1]), plain_run()]) == [RunPair(plain_run(), speculative_run([1]))]
    assert paired([plain_run(), plain_run()]) == []


def test_speed_of_a_pair_is_relative_to_its_own_plain_run() -> None:
    # 10 tok/s plain, 5 tokens in 0.2 s speculative.
    assert RunPair(plain_run(step_s=0.1), speculative_run([4])).speedup == pytest.approx(2.5)
    assert RunPair(plain_run(step_s=0.05), speculative_run([4])).speedup == pytest.approx(1.25)


def test_the_speedup_is_the_median_of_pairs_so_that_one_hiccup_does_not_count() -> None:
    hiccup = speculative_run([4], seconds=Seconds(verify=20.0))
    pairs = [RunPair(plain_run(), run) for run in (hiccup, speculative_run([4]), speculative_run([4]))]

    found = figures([pair.speculative for pair in pairs], pairs)

    assert found.speedup_median == pytest.approx(2.5)
    assert found.speedups[0] == pytest.approx(0.025)
    assert found.tok_per_s == pytest.approx(15 / 20.4)


def test_figures_of_speculative_runs() -> None:
    runs = [speculative_run([4, 0]), speculative_run([2, 2])]

    found = figures(runs, [RunPair(plain_run(), run) for run in runs])

    assert found.acceptance_rate == pytest.approx(8 / 11)
    assert found.tokens_per_pass == pytest.approx(12 / 4)
    assert found.shares is not None
    assert [found.shares.draft, found.shares.verify] == pytest.approx([0.2, 0.7])
    assert found.shares.overhead == pytest.approx(0.1)


def test_plain_runs_have_no_speedup_and_no_acceptance_rate() -> None:
    found = figures([plain_run(10, step_s=0.1)])

    assert found.tok_per_s == pytest.approx(10)
    assert (found.speedup_median, found.predicted_speedup, found.acceptance_rate) == (None, None, None)


def test_without_runs_nothing_is_known() -> None:
    found = figures([])

    assert (found.tok_per_s, found.tokens_per_pass, found.shares) == (None, None, None)


class TestPrediction:
    def test_is_the_cost_models_where_every_round_drafts_gamma_tokens(self) -> None:
        run = speculative_run([4, 0, 2, 4])
        alpha = 10 / 12

        expected = predicted_speedup(
            alpha=alpha, gamma=4, plain_s=PLAIN_STEP_S, draft_step_s=0.01, verify_s=0.14, overhead_s=0.02
        )
        assert RunPair(plain_run(), run).predicted_speedup == pytest.approx(expected)

    def test_equals_the_measured_speedup_where_everything_is_accepted(self) -> None:
        pair = RunPair(plain_run(), speculative_run([4, 4, 4]))

        assert pair.predicted_speedup == pytest.approx(pair.speedup)

    def test_takes_each_round_with_what_was_drafted_in_it(self) -> None:
        # A look-up that found nothing three times out of four: 5 + 3 tokens expected, not 4 · 5.
        idle = timed_round(0, 0, Seconds(verify=0.1))
        pair = RunPair(plain_run(), run_of([timed_round(4, 4, Seconds(verify=0.2)), idle, idle, idle], gamma=4))

        assert pair.predicted_speedup == pytest.approx(8 * 0.1 / 0.5)

    def test_a_run_that_never_drafted_is_as_fast_as_its_passes(self) -> None:
        pair = RunPair(plain_run(), run_of([timed_round(0, 0, Seconds(verify=0.2))] * 3, gamma=4))

        assert pair.predicted_speedup == pytest.approx(0.5)
