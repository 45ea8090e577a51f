"""A memory whose layers see only the latest tokens: a refused token leaves no trace, within the window and past it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop_app.core.facts import MemoryKind, Rollback
from desktop_app.core.rounds import Kind
from desktop_app.core.settings import AnswerSettings, DraftSource
from desktop_app.engine.pair import Pair
from tests.model.helpers import GREEDY, PLAIN, check_same_text, loaded, run_answer, speculating

pytestmark = pytest.mark.model

WINDOW = 512
"""Tokens that Gemma's sliding layers see."""

SHORT = "Copy this list: " + ", ".join(f"{number} apples" for number in range(30, 50))
LONG = "A fox and a dog met by the river. " * 64 + SHORT


@pytest.fixture(scope="module")
def pair(gemma: Path) -> Iterator[Pair]:
    """Gemma, and itself as its draft."""
    with loaded(gemma, gemma, n_ctx=1024) as twins:
        yield twins


def test_its_kind_is_told(pair: Pair) -> None:
    assert pair.target is not None
    assert (pair.target.facts.memory, pair.target.facts.rollback) == (MemoryKind.SLIDING_WINDOW, Rollback.REMOVAL)


@pytest.mark.parametrize("source", [DraftSource.LOOKUP, DraftSource.MODEL])
@pytest.mark.parametrize("text", [SHORT, LONG], ids=["short", "past the window"])
def test_speculation_leaves_the_text_as_it_is(pair: Pair, text: str, source: DraftSource) -> None:
    settings = AnswerSettings(GREEDY, speculating(6, source), 48)
    plain = run_answer(pair, text, AnswerSettings(GREEDY, PLAIN, 48))
    assert (len(plain.prompt) > WINDOW + 64) == (text == LONG)

    reply = run_answer(pair, text, settings)

    check_same_text(pair, plain, reply, settings)
    assert reply.tally.counts[Kind.ACCEPTED] > 0
