"""The round record: its invariants name what is broken, and sums over rounds are right."""

from __future__ import annotations

from itertools import product

import pytest

from desktop_app.core.rounds import EMITTED, OWN, Kind, Round, Seconds, Token, emitted_ids

A, R, D = Kind.ACCEPTED, Kind.REJECTED, Kind.DISCARDED
C, B, P = Kind.CORRECTED, Kind.BONUS, Kind.PLAIN


def round_of(*kinds: Kind, gamma: int | None = None, cut: bool = False) -> Round:
    """A round of such tokens; their ids count from 10."""
    tokens = tuple(Token(10 + place, "x", kind) for place, kind in enumerate(kinds))
    drafted = sum(kind not in OWN for kind in kinds) if gamma is None else gamma
    return Round(0, 0, drafted, tokens, Seconds(), cut)


@pytest.mark.parametrize(
    "kinds", [(P,), (A, B), (A, A, A, B), (R, C), (R, D, D, C), (A, R, C), (A, A, R, D, C)], ids=str
)
def test_whole_rounds_break_nothing(kinds: tuple[Kind, ...]) -> None:
    assert round_of(*kinds).broken_rule() is None


@pytest.mark.parametrize("kinds", [(A,), (A, A), (A, D), (A, A, D, D)], ids=str)
def test_a_round_that_the_end_cut_short_breaks_nothing(kinds: tuple[Kind, ...]) -> None:
    assert round_of(*kinds, cut=True).broken_rule() is None
    assert round_of(*kinds).broken_rule() is not None


@pytest.mark.parametrize(
    ("broken", "named"),
    [
        (round_of(A, B, gamma=2), "accepted + rejected + discarded = gamma"),
        (round_of(A, A, B, gamma=1), "accepted + rejected + discarded = gamma"),
        (round_of(R, R, C), "at most one rejected"),
        (round_of(A, B, B), "exactly one token of the target's own"),
        (round_of(A), "exactly one token of the target's own"),
        (round_of(D, D, cut=True), "every round emits a token"),
        (round_of(cut=True), "every round emits a token"),
        (round_of(A, C), "own token is plain without a draft, corrected after a rejection, else bonus"),
        (round_of(R, B), "own token is plain without a draft, corrected after a rejection, else bonus"),
        (round_of(A, P), "own token is plain without a draft, corrected after a rejection, else bonus"),
        (round_of(B), "own token is plain without a draft, corrected after a rejection, else bonus"),
        (round_of(R, A, C), "order: accepted, rejected, discarded, own"),
        (round_of(D, R, C), "order: accepted, rejected, discarded, own"),
        (round_of(C, R), "order: accepted, rejected, discarded, own"),
        (round_of(A, R, cut=True), "a rejected token is corrected"),
        (round_of(A, D, B), "discarded only behind a rejected token or the end of the answer"),
    ],
)
def test_a_broken_round_is_named(broken: Round, named: str) -> None:
    assert broken.broken_rule() == named


def test_every_unbroken_round_is_one_that_can_happen() -> None:
    """All sequences of up to four kinds: those that pass are exactly those that the loop can produce."""

    def can_happen(kinds: tuple[Kind, ...], cut: bool) -> bool:
        accepted, discarded, last = kinds.count(A), kinds.count(D), kinds[-1]
        if last not in OWN:
            return cut and accepted >= 1 and kinds == (A,) * accepted + (D,) * discarded
        if last is P:
            return kinds == (P,)
        if last is B:
            return accepted >= 1 and kinds == (A,) * accepted + (B,)
        return kinds == (A,) * accepted + (R,) + (D,) * discarded + (C,)

    for length in range(1, 5):
        for kinds, cut in product(product(Kind, repeat=length), (False, True)):
            unbroken = round_of(*kinds, cut=cut).broken_rule() is None
            assert unbroken == can_happen(kinds, cut), (kinds, cut)


def test_what_was_emitted() -> None:
    rounds = [round_of(A, A, R, D, C), round_of(P), round_of(A, D, cut=True)]

    assert [token.kind for round_ in rounds for token in round_.emitted] == [A, A, C, P, A]
    assert emitted_ids(rounds) == [10, 11, 14, 10, 10]
    assert [rounds[0].count(kind) for kind in Kind] == [2, 1, 1, 1, 0, 0]


def test_each_kind_is_drafted_or_the_targets_own() -> None:
    assert OWN < EMITTED
    assert {A, *OWN} == EMITTED


def test_seconds_add_up() -> None:
    total = Seconds(1, 2, 3, 4) + Seconds(0.5, 0.5, 0.5, 0.5)

    assert total == Seconds(1.5, 2.5, 3.5, 4.5)
    assert total.total == 12
