"""Models with a running state: what the next turn finds of the one before, and that nothing wrong is left in it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import llama_cpp.llama_cpp as api
import numpy as np
import pytest

from desktop_app.core.settings import AnswerSettings
from desktop_app.engine.llama import memory
from desktop_app.engine.llama.context import PROMPT_TAIL, Aborted, Context
from desktop_app.engine.pair import Pair
from desktop_app.protocol.messages import Prefilling, RoundDone
from tests.model.helpers import (
    GREEDY,
    PLAIN,
    Reply,
    Unseen,
    assert_consistent,
    check_same_text,
    clear,
    events_of,
    run_answer,
    run_prompt,
    speculating,
)

pytestmark = pytest.mark.model

ON = AnswerSettings(GREEDY, speculating(4), 24)
OFF = replace(ON, speculation=PLAIN)

PROMPT = tuple(range(5, 65))
QUESTION = tuple(range(70, 100))
OTHER_QUESTION = tuple(range(110, 140))
KEPT = len(PROMPT) - 1 - PROMPT_TAIL
"""Where a checkpoint of PROMPT stands."""


def test_a_prompt_that_goes_on_where_the_answer_ended_reads_only_what_is_new(stateful: Pair) -> None:
    assert stateful.target is not None
    first = run_prompt(stateful, PROMPT, ON)
    held = len(stateful.target.context.held)

    second = check_follow_up(stateful, whole(first) + QUESTION)

    assert second.reused == held >= len(whole(first)) - 1
    assert second.draft_reused >= KEPT


def test_an_answer_that_the_template_writes_otherwise_costs_that_answer_alone(stateful: Pair) -> None:
    """Prompts end with the start of an answer, such as a thinking block, that is left out of later ones."""
    run_prompt(stateful, PROMPT, ON)

    second = check_follow_up(stateful, PROMPT[:-3] + QUESTION)

    assert second.reused == second.draft_reused == KEPT


def test_an_answer_written_anew_does_not_read_its_prompt_again(stateful: Pair) -> None:
    first = run_prompt(stateful, PROMPT, ON)

    again = check_follow_up(stateful, PROMPT)

    assert again.reused == again.draft_reused == KEPT
    assert again.ids == first.ids


def test_an_edited_turn_starts_from_the_turn_before(stateful: Pair) -> None:
    turns = whole(run_prompt(stateful, PROMPT, ON))
    later = run_prompt(stateful, turns + QUESTION, ON)
    run_prompt(stateful, whole(later) + QUESTION, ON)

    edited = check_follow_up(stateful, turns + OTHER_QUESTION)

    assert edited.reused == edited.draft_reused == KEPT


def test_short_of_memory_only_the_latest_turn_is_kept(stateful: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "KEPT_BYTES", 1)
    prompt = whole(run_prompt(stateful, PROMPT, ON)) + QUESTION
    run_prompt(stateful, prompt, ON)

    assert check_follow_up(stateful, prompt).reused == len(prompt) - 1 - PROMPT_TAIL
    assert check_follow_up(stateful, PROMPT + OTHER_QUESTION).reused == 0


def test_another_prompt_starts_afresh(stateful: Pair) -> None:
    run_prompt(stateful, PROMPT, ON)

    assert check_follow_up(stateful, OTHER_QUESTION).reused == 0


def check_follow_up(pair: Pair, prompt: tuple[int, ...]) -> Reply:
    """The answer to `prompt` on what the caches hold; it is as if they had held nothing."""
    reply = run_prompt(pair, prompt, ON)
    again = run_prompt(pair, prompt, ON)
    clear(pair)
    fresh = run_prompt(pair, prompt, OFF)
    check_same_text(pair, fresh, reply, ON)
    check_same_text(pair, fresh, again, ON)
    return reply


def whole(reply: Reply) -> tuple[int, ...]:
    return (*reply.prompt, *reply.ids)


@pytest.mark.parametrize(
    ("settings", "moment"), [(OFF, Prefilling), (ON, Prefilling), (OFF, RoundDone), (ON, RoundDone)]
)
@pytest.mark.parametrize("target_has_read", [False, True])
def test_a_pass_broken_off_half_way_is_taken_back_whole(
    stateful: Pair, settings: AnswerSettings, moment: type, target_has_read: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """llama.cpp stops in its graph: the target's, or the draft's where the target has read the prompt."""
    text = "hello, hello"
    expected = run_answer(stateful, text, ON)
    clear(stateful)
    if target_has_read:
        run_answer(stateful, text, OFF)

    assert stateful.target is not None
    assert stateful.draft is not None
    with monkeypatch.context() as patch, pytest.raises(Aborted):  # noqa: PT012 - the loop is what must stop
        for half in (stateful.target, stateful.draft):
            patch.setattr(half.context, "_abort", Unseen(stateful._abort))
        for event in events_of(stateful, text, settings):
            if isinstance(event, moment):
                stateful._abort.set()
    stateful._abort.clear()

    assert_consistent(stateful)
    assert run_answer(stateful, text, ON).ids == expected.ids


@pytest.mark.parametrize("nodes", [1, 10, 20, 30])
def test_what_a_pass_computed_before_it_stopped_is_forgotten(stateful: Pair, nodes: int) -> None:
    assert stateful.target is not None
    context = stateful.target.context
    context.decode(PROMPT[:20], rows=0)
    expected = context.decode([40], rows=1).copy()
    context.clear()

    context.decode(PROMPT[:10], rows=0)
    with stopping_after(context, nodes), pytest.raises(Aborted):
        context.decode(PROMPT[10:20], rows=0)

    context.decode(PROMPT[len(context.held) : 20], rows=0)
    assert np.allclose(context.decode([40], rows=1), expected, atol=1e-3)


@contextmanager
def stopping_after(context: Context, nodes: int) -> Iterator[None]:
    """llama.cpp stops behind so many nodes of its graph."""
    asked = itertools.count()
    callback = api.ggml_abort_callback(lambda _data: next(asked) >= nodes)
    api.llama_set_abort_callback(context._handle, callback, None)
    yield
    api.llama_set_abort_callback(context._handle, context._abort.callback, context._abort.data)


@pytest.mark.parametrize("save", [Context.mark, Context.keep])
def test_what_was_saved_behind_other_tokens_is_never_restored(stateful: Pair, save: Callable[[Context], None]) -> None:
    assert stateful.target is not None
    context = stateful.target.context
    context.decode(range(5, 25), rows=0)
    save(context)
    context.truncate(10)
    context.decode(range(50, 60), rows=0)
    expected = context.decode([40], rows=1).copy()

    context.truncate(20)

    assert np.allclose(context.decode([40], rows=1), expected, atol=1e-3)
