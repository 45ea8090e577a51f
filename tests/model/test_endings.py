"""Why and where an answer ends, also inside a block of drafted tokens. Helpers check both caches after every round."""

from __future__ import annotations

from pathlib import Path

import pytest

from desktop_app.core.rounds import Kind
from desktop_app.core.settings import AnswerSettings, DraftSource
from desktop_app.engine.pair import Pair
from desktop_app.protocol.messages import Stop
from tests.model.helpers import GREEDY, PLAIN, loaded, run_answer, speculating

pytestmark = pytest.mark.model

SUM = "What is 2+2?"
"""Answered in one block: “The answer to this classic math problem is 4.”"""
STORY = "Tell me a long story about a lighthouse keeper."


@pytest.mark.parametrize("gamma", [0, 1, 4, 16])
@pytest.mark.parametrize("limit", [1, 2, 7])
def test_the_token_limit_is_kept_to_the_token(starter: Pair, limit: int, gamma: int) -> None:
    reply = run_answer(starter, STORY, AnswerSettings(GREEDY, speculating(gamma), limit))

    assert len(reply.ids) == limit
    assert reply.finished.stop is Stop.LIMIT
    assert reply.ids == run_answer(starter, STORY, AnswerSettings(GREEDY, PLAIN, 7)).ids[:limit]


@pytest.mark.parametrize("gamma", [3, 16])
def test_the_end_inside_a_block_ends_the_answer(twins: Pair, gamma: int) -> None:
    plain = run_answer(twins, SUM, AnswerSettings(GREEDY, PLAIN, 60))
    assert plain.finished.stop is Stop.END

    reply = run_answer(twins, SUM, AnswerSettings(GREEDY, speculating(gamma), 60))

    assert reply.ids == plain.ids
    assert reply.finished.stop is Stop.END
    if gamma == 16:
        assert reply.rounds[-1].cut
        assert reply.last_kinds[-1] is Kind.DISCARDED, "the draft went on behind the end"
    assert "<|im_end|>" not in reply.text


def test_a_turn_after_such_an_end_is_right(twins: Pair) -> None:
    fresh = run_answer(twins, STORY, AnswerSettings(GREEDY, PLAIN, 24))
    run_answer(twins, SUM, AnswerSettings(GREEDY, speculating(16), 60))

    reply = run_answer(twins, STORY, AnswerSettings(GREEDY, speculating(16), 24))

    assert reply.ids == fresh.ids
    assert reply.tally.acceptance_rate == 1.0


@pytest.mark.parametrize("gamma", [0, 1, 4, 16])
@pytest.mark.parametrize("stop", ["math", " is 4", "lassi", "this classic math"])
def test_a_stop_string_ends_the_text_before_it(twins: Pair, stop: str, gamma: int) -> None:
    whole = run_answer(twins, SUM, AnswerSettings(GREEDY, PLAIN, 60)).text
    assert stop in whole

    reply = run_answer(twins, SUM, AnswerSettings(GREEDY, speculating(gamma), 60, (stop, "never")))

    assert reply.finished.stop is Stop.STOP_STRING
    assert reply.text == whole[: whole.index(stop)]
    assert reply.finished.tail == ""


def test_what_stands_behind_a_stop_string_in_its_block_is_discarded(twins: Pair) -> None:
    reply = run_answer(twins, SUM, AnswerSettings(GREEDY, speculating(16), 60, ("math",)))

    assert len(reply.rounds) == 1
    assert reply.rounds[0].cut
    assert set(reply.last_kinds) == {Kind.ACCEPTED, Kind.DISCARDED}


def test_a_stop_string_wins_over_the_limit_on_the_same_token(starter: Pair) -> None:
    whole = run_answer(starter, SUM, AnswerSettings(GREEDY, PLAIN, 60))
    texts = [token.text for round_ in whole.rounds for token in round_.emitted]
    at = texts.index(" math")

    reply = run_answer(starter, SUM, AnswerSettings(GREEDY, speculating(4), at + 1, ("math",)))

    assert reply.finished.stop is Stop.STOP_STRING
    assert reply.text == "".join(texts[:at]) + " "


def test_a_held_back_beginning_of_a_stop_string_is_shown_at_the_end(starter: Pair) -> None:
    whole = run_answer(starter, SUM, AnswerSettings(GREEDY, PLAIN, 60)).text
    never = whole[-3:] + "never"

    reply = run_answer(starter, SUM, AnswerSettings(GREEDY, speculating(4), 60, (never,)))

    assert reply.text == whole
    assert reply.finished.stop is Stop.END


@pytest.mark.parametrize("source", [DraftSource.MODEL, DraftSource.LOOKUP])
def test_a_full_context_ends_the_answer_at_the_same_token(
    starter_target: Path, starter_draft: Path, source: DraftSource
) -> None:
    prompt = f"{STORY} " + "It was a dark and stormy night. " * 25
    with loaded(starter_target, starter_draft, n_ctx=256) as pair:
        assert pair.target is not None
        n_ctx = pair.target.context.n_ctx
        settings = AnswerSettings(GREEDY, PLAIN, 1_000)
        plain = run_answer(pair, prompt, settings)
        assert plain.finished.stop is Stop.CONTEXT
        assert len(plain.prompt) + len(plain.ids) == n_ctx

        for gamma in (1, 5, 16):
            reply = run_answer(pair, prompt, AnswerSettings(GREEDY, speculating(gamma, source), 1_000))
            assert reply.finished.stop is Stop.CONTEXT
            assert reply.ids == plain.ids


def test_text_with_emoji_and_many_scripts_is_the_one_shot_decode(starter: Pair) -> None:
    prompt = "Repeat exactly: 😀 日本語 🚀 žluťoučký кот 👩‍👩‍👧‍👦"
    for speculation in (PLAIN, speculating(6), speculating(6, DraftSource.LOOKUP)):
        reply = run_answer(starter, prompt, AnswerSettings(GREEDY, speculation, 40))
        assert any(ord(character) > 0x2FFF for character in reply.text)
