"""Chats of many turns with the real pair: what the caches spare, and what happens where the context ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

import pytest

from desktop_app.core.errors import Fault
from desktop_app.core.settings import AnswerSettings, Overflow, Sampling, Speculation
from desktop_app.protocol.messages import (
    Calibrated,
    ChatMessage,
    Count,
    Counted,
    Failed,
    Finished,
    Generate,
    Load,
    Loaded,
    Prefilling,
    Role,
    Stop,
    TurnsLeftOut,
)
from tests.process.engine import STORY, Engine, settings

pytestmark = [pytest.mark.process, pytest.mark.model]

SMALL, LARGE = 256, 1024
GREEDY = AnswerSettings(Sampling(temperature=0.0), Speculation(gamma=4), max_tokens=8)
STOP = replace(GREEDY, overflow=Overflow.STOP)
QUESTIONS = [f"And a {animal}?" for animal in ("cat", "fox", "crow", "wolf", "frog", "moth")]


def user(text: str) -> ChatMessage:
    return ChatMessage(Role.USER, text)


@pytest.fixture
def load(engine: Engine, starter_target: Path, starter_draft: Path) -> Callable[[int], Engine]:
    """Loads the starter pair as request 1. On one thread: two wait for each other when others want the cores."""

    def load(n_ctx: int) -> Engine:
        engine.send(Load(1, settings(starter_target, n_ctx, 1), settings(starter_draft, n_ctx, 1)))
        loaded = engine.until(Loaded)
        assert loaded.draft is not None
        assert loaded.target.n_ctx == loaded.draft.n_ctx == n_ctx
        return engine

    return load


@pytest.fixture
def small(load: Callable[[int], Engine]) -> Engine:
    """With a context that a few turns fill."""
    return load(SMALL)


@pytest.fixture
def large(load: Callable[[int], Engine]) -> Engine:
    return load(LARGE)


@dataclass
class Chat:
    """A chat as the window holds it: every turn is sent, whatever the engine leaves out."""

    engine: Engine
    settings: AnswerSettings = GREEDY
    messages: list[ChatMessage] = field(default_factory=list)
    request: int = 1

    def ask(self, text: str) -> Prefilling:
        """One more turn; how its prompt was read."""
        self.messages.append(user(text))
        prefill = self.answer(self.messages)
        self.messages.append(ChatMessage(Role.ASSISTANT, self.engine.text(self.request)))
        return prefill

    def answer(self, messages: Sequence[ChatMessage]) -> Prefilling:
        self.request += 1
        self.engine.send(Generate(self.request, tuple(messages), self.settings))
        assert self.engine.until(Finished).request == self.request
        return self.engine.of(Prefilling, self.request)[-1]

    @property
    def left_out(self) -> int:
        """Turns left out of the last prompt."""
        return sum(event.turns for event in self.engine.of(TurnsLeftOut, self.request))

    def count(self, messages: Sequence[ChatMessage]) -> Counted:
        self.request += 1
        self.engine.send(Count(self.request, tuple(messages), self.settings))
        return self.engine.until(Counted)


def test_both_models_read_only_what_is_new(large: Engine) -> None:
    """In a follow-up, in another answer to the same message, and after an edit."""
    chat = Chat(large)
    first = chat.ask(QUESTIONS[0])
    assert (first.reused, first.draft_reused) == (0, 0)
    second = chat.ask(QUESTIONS[1])
    assert second.reused >= first.total
    assert second.draft_reused is not None
    assert second.draft_reused >= first.total
    third = chat.ask(QUESTIONS[2])

    again = chat.answer(chat.messages[:-1])
    assert (again.reused, again.draft_reused, again.total) == (third.total - 1, third.total - 1, third.total)

    edited = [*chat.messages[:2], user("What about a dog?")]
    after_edit = chat.answer(edited)
    assert first.total <= after_edit.reused < second.total
    assert after_edit.draft_reused == after_edit.reused
    assert 0 < after_edit.total - after_edit.reused < 30
    assert after_edit.seconds > 0

    # The old branch again: its first turn is still there, the rest was overwritten.
    back = chat.answer(chat.messages[:-1])
    assert first.total <= back.reused < third.total


def test_a_chat_goes_on_past_the_limit(small: Engine) -> None:
    chat = Chat(small)
    reads: list[Prefilling] = []
    left_out: list[int] = []
    for question in QUESTIONS * 3:
        counted = chat.count([*chat.messages, user(question)])
        reads.append(chat.ask(question))
        left_out.append(chat.left_out)
        assert (counted.prompt, counted.left_out, counted.problem) == (reads[-1].total, chat.left_out, None)
        assert reads[-1].total <= SMALL - GREEDY.max_tokens
    assert left_out[0] == 0
    assert left_out[-1] > len(QUESTIONS)
    assert left_out == sorted(left_out)
    moved = [after > before for before, after in pairwise(left_out)]
    assert sum(moved) < len(moved) / 2
    for read, before, moves in zip(reads[1:], reads, moved, strict=False):
        if not moves:
            assert min(read.reused, read.draft_reused or 0) >= before.total, "the cached beginning stays useful"


def test_stopping_at_the_limit_names_both_counts(small: Engine) -> None:
    chat = Chat(small, STOP)
    question = QUESTIONS[0]
    while (counted := chat.count([*chat.messages, user(question)])).problem is None:
        chat.ask(question)
    assert counted.left_out == 0
    assert counted.prompt >= SMALL
    small.send(Generate(900, (*chat.messages, user(question)), STOP))
    problem = small.until(Failed).problem
    assert problem == counted.problem
    assert problem.fault is Fault.PROMPT_TOO_LONG
    assert f"{counted.prompt:,}" in problem.message
    assert f"{SMALL:,}" in problem.message


def test_a_message_too_long_by_itself_is_refused_whatever_is_left_out(small: Engine) -> None:
    chat = Chat(small)
    chat.ask(QUESTIONS[0])
    small.send(Generate(900, (*chat.messages, user("fox " * SMALL)), GREEDY))
    problem = small.until(Failed).problem
    assert problem.fault is Fault.PROMPT_TOO_LONG
    assert "without the earlier turns" in problem.message
    assert chat.ask(QUESTIONS[1]).reused > 0, "the refused message left the caches alone"


def test_an_answer_that_fills_the_context_ends_there(small: Engine) -> None:
    chat = Chat(small, replace(GREEDY, max_tokens=10 * SMALL))
    read = chat.ask(STORY)
    [finished] = small.of(Finished, chat.request)
    assert finished.stop is Stop.CONTEXT
    assert read.total + len(small.ids(chat.request)) == SMALL

    chat.settings = GREEDY
    chat.ask("Go on.")
    assert chat.left_out == 1


def test_counting_is_exact_and_does_not_break_the_measuring_off(large: Engine) -> None:
    chat = Chat(large)
    counted = chat.count([user("one two three")])
    assert large.until(Calibrated).costs is not None
    assert counted.newest == 3
    assert counted.prompt == chat.answer([user("one two three")]).total


def test_only_the_newest_count_is_answered(large: Engine) -> None:
    for request in (2, 3, 4):
        large.send(Count(request, (user("one " * request),), GREEDY))
    counted = large.until(Counted)
    while counted.request != 4:
        counted = large.until(Counted)
    assert counted.newest >= 4


def test_a_draft_gets_the_context_of_its_target(small: Engine, starter_target: Path, starter_draft: Path) -> None:
    """Whatever it was asked for itself, and again when the target's changes."""
    for request, n_ctx in ((2, 768), (3, 512)):
        small.send(Load(request, settings(starter_target, n_ctx), settings(starter_draft, SMALL)))
        loaded = small.until(Loaded)
        assert loaded.draft is not None
        assert loaded.target.n_ctx == loaded.draft.n_ctx == n_ctx
