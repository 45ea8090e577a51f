"""Figures from round records, checked against the trace they come from."""

from __future__ import annotations

import pytest

from desktop_app.core.metrics import Tally
from desktop_app.core.rounds import Kind, Round, Seconds, Token
from tests.fakes.timed_rounds import plain_round, timed_round

SECONDS = Seconds(draft=0.1, verify=0.6, sample=0.2, rest=0.1)


def test_every_figure_from_a_known_trace() -> None:
    tally = Tally.of(
        [
            plain_round(0.5),
            timed_round(4, 4, SECONDS, index=1),
            timed_round(4, 1, SECONDS, index=2),
            timed_round(2, 0, SECONDS, index=3),
        ]
    )

    assert tally.counts == {
        Kind.ACCEPTED: 5,
        Kind.REJECTED: 2,
        Kind.DISCARDED: 3,
        Kind.CORRECTED: 2,
        Kind.BONUS: 1,
        Kind.PLAIN: 1,
    }
    assert (tally.tokens, tally.rounds, tally.speculative_rounds, tally.drafted) == (9, 4, 3, 10)
    assert tally.acceptance_rate == 5 / 7
    assert tally.tokens_per_pass == 9 / 4
    assert tally.mean_gamma == 10 / 3
    assert tally.accepted_per_round == {4: 1, 1: 1, 0: 1}
    assert tally.tok_per_s == pytest.approx(9 / 3.5)
    assert tally.overhead_share == pytest.approx(0.9 / 3.5)


def test_nothing_is_known_before_the_first_round() -> None:
    tally = Tally()

    assert tally.tokens == 0
    unknown = (tally.tok_per_s, tally.acceptance_rate, tally.tokens_per_pass, tally.mean_gamma, tally.overhead_share)
    assert unknown == (None,) * 5


def test_a_plain_answer_has_no_acceptance() -> None:
    tally = Tally.of([plain_round(0.5), plain_round(0.5)])

    assert tally.acceptance_rate is None
    assert tally.mean_gamma is None
    assert tally.tok_per_s == 2.0
    assert tally.accepted_per_round == {}


def test_rounds_that_took_no_time_give_no_speed() -> None:
    assert Tally.of([plain_round(0.0)]).tok_per_s is None


def test_what_stands_behind_the_end_is_drafted_but_never_judged() -> None:
    kinds = (Kind.ACCEPTED, Kind.DISCARDED, Kind.DISCARDED)
    tally = Tally.of([Round(0, 0, 3, tuple(Token(1, "", kind) for kind in kinds), SECONDS, cut=True)])

    assert (tally.tokens, tally.drafted, tally.acceptance_rate) == (1, 3, 1.0)


def test_two_tallies_share_nothing() -> None:
    first, second = Tally(), Tally()
    first.add(timed_round(2, 2, SECONDS))

    assert second.counts[Kind.ACCEPTED] == 0
    assert second.accepted_per_round == {}
