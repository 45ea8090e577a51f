"""The shown branch of a chat: from stored messages to turns, from turns to the engine's prompt. Pure; no Qt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from desktop_app.core.settings import AnswerSettings
from desktop_app.protocol.messages import ChatMessage, Role
from desktop_app.services.turn import Turn, TurnState
from desktop_app.store import MessageState, StoredMessage

_STATES = {
    MessageState.COMPLETE: TurnState.FINISHED,
    MessageState.STREAMING: TurnState.INTERRUPTED,
    MessageState.INTERRUPTED: TurnState.INTERRUPTED,
    MessageState.CANCELLED: TurnState.CANCELLED,
    MessageState.FAILED: TurnState.FAILED,
}


def turns_of(messages: Sequence[StoredMessage]) -> list[Turn]:
    """The turns of a stored branch; slow for long chats, so not for the GUI thread."""
    return [
        _turn(question, answer)
        for question, answer in pairwise(messages)
        if question.role is Role.USER and answer.role is Role.ASSISTANT
    ]


def prompt_of(turns: Iterable[Turn], text: str | None, system_prompt: str) -> tuple[ChatMessage, ...]:
    """What the engine is asked: the branch so far, then `text`, unless that is None.

    Answers without text are left out. The questions around such a gap become one message, because many chat templates
    insist on user and assistant taking turns.
    """
    messages = [ChatMessage(Role.SYSTEM, system_prompt)] if system_prompt.strip() else []
    newest = () if text is None else (ChatMessage(Role.USER, text),)
    for message in (*_said(turns), *newest):
        if messages and messages[-1].role is message.role is Role.USER:
            messages[-1] = ChatMessage(Role.USER, f"{messages[-1].content}\n\n{message.content}")
        else:
            messages.append(message)
    return tuple(messages)


def kept_from(turns: Sequence[Turn], left_out: int) -> int:
    """The index of the first turn in a prompt from which the `left_out` oldest messages of the user's were left out.

    The counterpart of `prompt_of`, which makes one message of the questions around a gap.
    """
    starts = [0, *(index + 1 for index, turn in enumerate(turns) if turn.answer.visible)]
    return starts[min(left_out, len(starts) - 1)]


def context_start(turns: Sequence[Turn]) -> int:
    """The index of the first turn that is in the target's context: what the latest prompt that was read began with."""
    for index in range(len(turns) - 1, -1, -1):
        turn = turns[index]
        if turn.left_out:
            return kept_from(turns[:index], turn.left_out)
        if turn.prefill is not None:
            break
    return 0


def _said(turns: Iterable[Turn]) -> Iterator[ChatMessage]:
    for turn in turns:
        yield ChatMessage(Role.USER, turn.prompt)
        if turn.answer.shown:
            yield ChatMessage(Role.ASSISTANT, turn.answer.shown)


def _turn(question: StoredMessage, answer: StoredMessage) -> Turn:
    return Turn(
        chat_id=question.chat_id,
        user_message_id=question.id,
        answer_message_id=answer.id,
        prompt=question.text,
        model=answer.model,
        settings=answer.settings or AnswerSettings(),
        answer=answer.answer(),
        left_out=answer.left_out,
        prefill=answer.prefill,
        state=_STATES[answer.state],
        ending=answer.outcome.ending,
        problem=answer.outcome.problem,
        baseline=answer.outcome.baseline,
    )
