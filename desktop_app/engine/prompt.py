"""From chat messages to the tokens of a prompt, within what the context holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from desktop_app.core.errors import Blame, DraftglassError, Fault, Problem
from desktop_app.core.overflow import turns_to_leave_out
from desktop_app.core.settings import AnswerSettings, Overflow
from desktop_app.engine.pair import LoadedModel
from desktop_app.protocol.messages import ChatMessage, Role


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the models would read, however long."""

    tokens: tuple[int, ...]
    left_out: int
    """Oldest turns that are not in it."""
    problem: Problem | None
    """Why it can't be read: it leaves no room for an answer."""


def prompt_tokens(target: LoadedModel, messages: Sequence[ChatMessage]) -> tuple[int, ...]:
    """Render and tokenise all of it. Raises DraftglassError for an empty, a refused, or an over-long prompt."""
    prompt = fit_prompt(target, messages, AnswerSettings(overflow=Overflow.STOP))
    if prompt.problem is not None:
        raise DraftglassError(prompt.problem)
    return prompt.tokens


def fit_prompt(target: LoadedModel, messages: Sequence[ChatMessage], settings: AnswerSettings) -> Prompt:
    """Render and tokenise what the context holds of it, as `settings.overflow` says.

    Raises DraftglassError for an empty prompt, or one that the template refuses.
    """
    if not any(message.role is Role.USER and message.content.strip() for message in messages):
        raise DraftglassError(Problem("The message is empty.", "Write something.", Blame.USER, Fault.EMPTY_PROMPT))
    head, turns = _split(messages)

    @cache
    def without(oldest: int) -> tuple[int, ...]:
        return _tokenise(target, [*head, *(message for turn in turns[oldest:] for message in turn)])

    n_ctx = target.context.n_ctx
    left_out = 0
    if settings.overflow is Overflow.DROP_OLDEST:
        left_out = turns_to_leave_out(
            len(turns) - 1, lambda oldest: len(without(oldest)), n_ctx=n_ctx, max_tokens=settings.max_tokens
        )
    tokens = without(left_out)
    return Prompt(tokens, left_out, _too_long(len(tokens), n_ctx, left_out) if len(tokens) >= n_ctx else None)


def _split(messages: Sequence[ChatMessage]) -> tuple[list[ChatMessage], list[list[ChatMessage]]]:
    """The system prompt, and the turns: each a message of the user's with what was answered."""
    head: list[ChatMessage] = []
    turns: list[list[ChatMessage]] = []
    for message in messages:
        if message.role is Role.USER:
            turns.append([message])
        else:
            (turns[-1] if turns else head).append(message)
    return head, turns


def _tokenise(target: LoadedModel, messages: Sequence[ChatMessage]) -> tuple[int, ...]:
    text = target.template.render(messages)
    vocabulary = target.model.vocabulary
    # A template that writes the start token itself must not get a second one.
    writes_bos = vocabulary.bos >= 0 and text.startswith(vocabulary.name(vocabulary.bos))
    return tuple(vocabulary.tokenize(text, add_special=not writes_bos))


def _too_long(tokens: int, room: int, left_out: int) -> Problem:
    if left_out:
        what, remedy = f"Even without the earlier turns there are {tokens:,} tokens", "Shorten the message"
    else:
        what, remedy = f"The conversation has {tokens:,} tokens", "Shorten the message, start a new chat"
    return Problem(
        f"{what}; the context holds {room:,}.",
        f"{remedy}, or load the model with a larger context.",
        Blame.USER,
        Fault.PROMPT_TOO_LONG,
    )
