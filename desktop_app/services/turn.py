"""One question and its answer, while it grows and afterwards. The window reads; only `TurnConductor` mutates."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from desktop_app.core.answer import Answer
from desktop_app.core.baseline import Baseline
from desktop_app.core.errors import Problem
from desktop_app.core.settings import AnswerSettings
from desktop_app.protocol.messages import Finished, Prefilling


class TurnState(StrEnum):
    WAITING = "waiting"
    """Asked, nothing heard yet: the engine starts or loads."""
    PREFILLING = "prefilling"
    STREAMING = "streaming"
    FINISHED = "finished"
    CANCELLED = "cancelled"
    """Stopped by the user; the text so far is kept."""
    INTERRUPTED = "interrupted"
    """The engine or the app died; the text so far is kept."""
    FAILED = "failed"
    """The engine said why it could not answer."""

    @property
    def ended(self) -> bool:
        return self not in {TurnState.WAITING, TurnState.PREFILLING, TurnState.STREAMING}


@dataclass(slots=True, eq=False)
class Turn:
    """A user's message and one answer to it. Identity is `answer_message_id`."""

    chat_id: int
    user_message_id: int
    answer_message_id: int
    prompt: str
    """The user's message."""
    settings: AnswerSettings
    model: str = ""
    """Name of the target."""
    answer: Answer = field(default_factory=Answer)
    state: TurnState = TurnState.WAITING
    left_out: int = 0
    """Oldest messages of the user's, with what was answered, that did not fit the prompt; see `branch.kept_from`."""
    prefill: Prefilling | None = None
    """The last that was heard of reading the prompt."""
    ending: Finished | None = None
    """How it finished; None while it runs and for every other ending."""
    problem: Problem | None = None
    """Why it was interrupted or failed."""
    baseline: Baseline | None = None
    is_repeat: bool = False
    """Asked for by `regenerate`: another answer to this message exists."""

    @property
    def context(self) -> int | None:
        """Tokens in the target's context, as far as this answer has come; None before the prompt is read."""
        if self.answer.rounds:
            last = self.answer.rounds[-1]
            return last.position + len(last.emitted)
        return self.prefill.done if self.prefill else None

    @property
    def speculation_problem(self) -> Problem | None:
        """Why speculation that was asked for did not run in this answer."""
        return self.ending.speculation_problem if self.ending else None

    @property
    def tok_per_s(self) -> float | None:
        return self.answer.tally.tok_per_s

    @property
    def speedup(self) -> float | None:
        """Tokens per second relative to the baseline; None where either is unknown."""
        return self.baseline.speedup(self.tok_per_s) if self.baseline else None


@dataclass(frozen=True, slots=True)
class ChatView:
    """A chat as it is shown: the turns of its current branch, the oldest first. A running turn is the live object."""

    chat_id: int | None
    """None for a new chat that has no message yet."""
    title: str
    turns: tuple[Turn, ...] = ()
