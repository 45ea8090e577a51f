"""The engine says where two answers part, and whether rounding explains it."""

from __future__ import annotations

import pytest

from desktop_app.core.difference import TextPair
from desktop_app.core.errors import Fault
from desktop_app.core.settings import AnswerSettings, Rule, Sampling
from desktop_app.protocol.messages import ChatMessage, Explain, Explained, Failed, Role, Unload, Unloaded
from tests.process.engine import QUESTION, STORY, Engine

pytestmark = [pytest.mark.process, pytest.mark.model]

GREEDY = Sampling(temperature=0.0)


def explain(request: int, first: list[int], second: list[int], text: str = QUESTION) -> Explain:
    texts = TextPair(tuple(first), tuple(second), GREEDY, Rule.REJECTION, pass_size=5)
    return Explain(request, (ChatMessage(Role.USER, text),), AnswerSettings(GREEDY), texts)


def test_a_forced_difference_is_explained_as_a_bug_and_costs_no_later_answer(
    loaded: Engine, undisturbed: list[int]
) -> None:
    ids = loaded.answer(2)
    loaded.send(explain(3, ids, [*ids[:9], ids[9] + 1, *ids[10:]]))

    difference = loaded.until(Explained).difference

    assert difference is not None
    assert (difference.index, difference.first_id, difference.second_id) == (9, ids[9], ids[9] + 1)
    assert difference.first_text != difference.second_text
    assert difference.margin is not None
    assert difference.rounding is not None
    assert difference.margin > 2 * difference.rounding
    assert not difference.near_tie
    assert loaded.answer(4) == undisturbed


def test_equal_answers_have_no_difference(loaded: Engine) -> None:
    ids = loaded.answer(2)
    loaded.send(explain(3, ids, ids))
    assert loaded.until(Explained).difference is None


def test_explaining_is_cancelled_and_costs_no_later_answer(loaded: Engine, undisturbed: list[int]) -> None:
    ids = loaded.answer(2, STORY)
    long = [*ids, *ids] * 20
    loaded.send(explain(3, [*long, 1], [*long, 2], STORY))

    loaded.cancel(3)

    assert loaded.endings(3) != []
    assert loaded.answer(4) == undisturbed


def test_without_a_model_nothing_is_explained(loaded: Engine) -> None:
    loaded.send(Unload())
    loaded.until(Unloaded)
    loaded.send(explain(2, [1], [2]))
    assert loaded.until(Failed).problem.fault is Fault.NO_MODEL
