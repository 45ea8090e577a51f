"""The values the store gives out. It owns nothing; SQL stays in the other files of this room."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from desktop_app.core.answer import Answer
from desktop_app.core.baseline import Baseline
from desktop_app.core.errors import Problem
from desktop_app.core.rounds import Round
from desktop_app.core.settings import AnswerSettings
from desktop_app.protocol.messages import Finished, Prefilling, Role


class MessageState(StrEnum):
    """How far a message got. A user's message is always complete."""

    COMPLETE = "complete"
    STREAMING = "streaming"
    """Being written, or the app was killed while it was: `repair_interrupted` turns it into INTERRUPTED."""
    INTERRUPTED = "interrupted"
    """The engine or the app died in the middle."""
    CANCELLED = "cancelled"
    """The user stopped it."""
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ChatSummary:
    """A line of the chat list. Times are milliseconds since 1970, UTC."""

    id: int
    title: str
    created_ms: int
    updated_ms: int


@dataclass(frozen=True, slots=True)
class TurnIds:
    """The two messages of a new turn, and the chat they are in."""

    chat_id: int
    user_id: int
    answer_id: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is known once an answer has ended, for its footer. Each is None where there was none."""

    ending: Finished | None = None
    baseline: Baseline | None = None
    problem: Problem | None = None


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """One message of the tree."""

    id: int
    chat_id: int
    parent_id: int | None
    role: Role
    text: str
    visible: int
    """Characters of `text` that are certain to stay."""
    state: MessageState
    created_ms: int
    model: str = ""
    """Name of the target that answered; empty for a user's message."""
    settings: AnswerSettings | None = None
    outcome: Outcome = Outcome()
    prefill: Prefilling | None = None
    """The last that was heard of reading the prompt; None for a user's message or where that is not known."""
    left_out: int = 0
    """Oldest messages of the user's, with what was answered, that did not fit the prompt."""
    rounds: tuple[Round, ...] = ()
    """The trace of an answer; empty where it is not known, the text stands all the same."""

    @property
    def shown(self) -> str:
        return self.text[: self.visible]

    def answer(self) -> Answer:
        """The answer with its colours, as it stood when it was last stored."""
        answer = Answer()
        for round_ in self.rounds:
            answer.add(round_, self.visible)
        if not self.text.startswith(answer.text):
            answer = Answer()
        answer.close(self.visible, self.text[len(answer.text) :])
        return answer
