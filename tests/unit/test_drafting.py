"""Which drafter is asked, how far, and what prompt lookup finds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from desktop_app.core.acceptance import AcceptanceRule, Drafted, GreedyRule
from desktop_app.core.errors import DraftglassError, Problem
from desktop_app.core.pacing import FixedPacer
from desktop_app.core.sampling import Distribution
from desktop_app.core.settings import Sampling
from desktop_app.engine.drafters.lookup import LookupDrafter
from desktop_app.engine.drafting import Drafting
from tests.helpers.log_watch import LogWatch

RULE = GreedyRule(Sampling(temperature=0.0))


class Scripted:
    """Proposes the same token again and again, and counts how often it was asked for one."""

    free = False
    busy_s = sample_s = 0.0

    def __init__(self, token: int, *, fails: bool = False) -> None:
        self._token = token
        self._fails = fails
        self.made = 0
        self.observed: list[int] = []

    def prefill(self, tokens: Sequence[int]) -> Iterator[int]:
        if self._fails:
            raise DraftglassError(Problem("It broke."))
        yield len(tokens)

    def lag(self, committed: Sequence[int]) -> int:
        return 1

    def draft(self, committed: Sequence[int], limit: int, rule: AcceptanceRule) -> Iterator[Drafted]:
        for _ in range(limit):
            self.made += 1
            yield Drafted(self._token, 0.5, Distribution.point(self._token), confidence=0.5)

    def observe(self, batch: Sequence[int], accepted: int) -> None:
        self.observed.append(accepted)


class Reluctant(FixedPacer):
    """Wants two tokens of whatever may be drafted and verifies one."""

    def wants_more(self, drafted: Sequence[Drafted]) -> bool:
        return len(drafted) < 2

    def keep(self, drafted: Sequence[Drafted]) -> int:
        return 1


def ids(drafted: Sequence[Drafted]) -> list[int]:
    return [token.id for token in drafted]


def looked_up(text: Sequence[int], limit: int = 4, max_n: int = 4) -> list[Drafted]:
    return list(LookupDrafter(min_n=2, max_n=max_n).draft(text, limit, RULE))


def test_nothing_is_drafted_that_the_pacer_does_not_want() -> None:
    model = Scripted(7)
    drafting = Drafting([model], Reluctant(8, has_model=True), RULE)

    assert ids(drafting.draft([1, 2, 3], 8)) == [7]
    assert model.made == 2


def test_a_long_match_spares_the_model_its_turn() -> None:
    model = Scripted(7)
    drafting = Drafting([LookupDrafter(min_n=2, max_n=4), model], FixedPacer(2, has_model=True), RULE)

    assert ids(drafting.draft([1, 2, 3, 4, 5, 9, 1, 2, 3, 4], 8)) == [5, 9]
    assert model.made == 0


def test_a_short_match_gives_the_model_its_turn() -> None:
    model = Scripted(7)
    drafting = Drafting([LookupDrafter(min_n=2, max_n=4), model], FixedPacer(2, has_model=True), RULE)

    assert ids(drafting.draft([1, 2, 5, 9, 8, 1, 2], 8)) == [7, 7]
    drafting.observe([2, 7, 7], 1)
    assert model.observed == [1]


def test_a_drafter_that_fails_is_not_asked_again_and_the_other_goes_on(expect_log: LogWatch) -> None:
    expect_log("the draft failed, going on without: It broke.")
    broken = Scripted(7, fails=True)
    drafting = Drafting([LookupDrafter(min_n=2, max_n=4), broken], FixedPacer(2, has_model=False), RULE)

    assert list(drafting.prefill([1, 2])) == []
    assert drafting.problem == Problem("It broke.")
    assert ids(drafting.draft([1, 2, 5, 9, 8, 1, 2], 8)) == [5, 9]
    assert drafting.draft([1, 2, 3], 8) == []
    assert broken.made == 0


def test_lookup_takes_the_longest_match_and_of_those_the_latest() -> None:
    assert ids(looked_up([1, 2, 3, 10, 9, 2, 3, 11, 9, 1, 2, 3], limit=1)) == [10]
    assert ids(looked_up([2, 3, 10, 9, 2, 3, 11, 9, 2, 3], limit=1)) == [11]


def test_lookup_tells_how_long_its_match_is() -> None:
    text = [*range(1, 13), 99, *range(1, 13)]

    assert [token.match for token in looked_up(text, limit=3, max_n=3)] == [12, 13, 14]


@pytest.mark.parametrize("text", [[], [1], [1, 2], [1, 2, 3, 4]])
def test_lookup_finds_nothing_where_nothing_repeats(text: list[int]) -> None:
    assert looked_up(text) == []
