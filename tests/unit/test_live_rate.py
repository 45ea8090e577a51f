"""Speed now and its course, on rounds of known length."""

from __future__ import annotations

from itertools import pairwise

import pytest

from desktop_app.core.live_rate import MIN_ROUNDS, LiveRate
from desktop_app.core.rounds import Seconds
from tests.fakes.timed_rounds import plain_round, timed_round


def test_unknown_before_the_first_round() -> None:
    rate = LiveRate()
    assert rate.now is None
    assert rate.points == ()


def test_rounds_without_duration_give_no_rate() -> None:
    rate = LiveRate()
    for _ in range(5):
        rate.add(plain_round(0.0))
    assert rate.now is None
    assert rate.points == ()


def test_counts_emitted_tokens_over_all_parts_of_the_round() -> None:
    rate = LiveRate()
    rate.add(timed_round(4, 2, Seconds(draft=0.05, verify=0.1, sample=0.03, rest=0.02)))
    assert rate.now == pytest.approx(3 / 0.2)


def test_forgets_what_lies_behind_the_window() -> None:
    rate = LiveRate(window_s=1.0)
    for _ in range(10):
        rate.add(plain_round(0.5))
    assert rate.now == pytest.approx(2.0)
    for _ in range(10):
        rate.add(plain_round(0.125))
    assert rate.now == pytest.approx(8.0)


def test_keeps_as_many_rounds_as_the_window_needs() -> None:
    rate = LiveRate(window_s=1.0)
    rate.add(plain_round(0.75))
    rate.add(plain_round(0.5))
    rate.add(plain_round(0.25))
    assert rate.now == pytest.approx(3 / 1.5)


def test_rounds_that_fill_the_window_exactly_suffice() -> None:
    rate = LiveRate(window_s=1.0)
    for seconds in (1.0, 0.5, 0.5):
        rate.add(plain_round(seconds))
    assert rate.now == pytest.approx(2.0)


def test_a_round_longer_than_the_window_stands_alone() -> None:
    rate = LiveRate(window_s=1.0)
    rate.add(plain_round(0.25))
    rate.add(plain_round(4.0))
    assert rate.now == pytest.approx(0.25)


def test_course_starts_once_there_are_enough_rounds() -> None:
    rate = LiveRate()
    for index in range(MIN_ROUNDS):
        assert rate.points == ()
        rate.add(plain_round(0.5, index=index))
    (point,) = rate.points
    assert (point.at_s, point.tok_per_s) == pytest.approx((1.5, 2.0))


def test_a_long_course_is_thinned_evenly_and_keeps_its_ends() -> None:
    rate = LiveRate(max_points=32)
    for index in range(5000):
        rate.add(plain_round(0.01, index=index))
    times = [point.at_s for point in rate.points]
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert len(times) <= 33
    assert times[0] == pytest.approx(0.03)
    assert times[-1] == pytest.approx(50.0)
    assert max(gaps) < 50.0 / 8
