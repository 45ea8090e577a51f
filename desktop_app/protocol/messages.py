"""Every message that crosses the pipe between window and engine. Typed, tagged, versioned.

Commands go to the engine, events come back. Each `Load`, `Generate` and `Explain` is answered by exactly one ending
event: `Loaded`, `Finished` or `Explained`, `Cancelled`, or `Failed`.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from desktop_app.core.difference import Difference, TextPair
from desktop_app.core.errors import Problem
from desktop_app.core.facts import Costs, Device, ModelFacts
from desktop_app.core.pacing import Pace
from desktop_app.core.rounds import Round
from desktop_app.core.settings import AnswerSettings, ModelSettings

PROTOCOL_VERSION = 1


class Role(StrEnum):
    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


class Part(StrEnum):
    """Which half of the pair a load event speaks of."""

    TARGET = "target"
    DRAFT = "draft"


class Stop(StrEnum):
    """Why an answer ended."""

    END = "end"
    """The model ended it."""
    STOP_STRING = "stop-string"
    LIMIT = "limit"
    """`max_tokens` reached."""
    CONTEXT = "context"
    """The context is full."""


class ChatMessage(msgspec.Struct, frozen=True):
    role: Role
    content: str


class Command(msgspec.Struct, frozen=True, tag=True):
    """Base of what the window may ask."""


class Load(Command, frozen=True, tag=True):
    """The pair that should be in memory. What already is, stays; what isn't named, goes."""

    request: int
    target: ModelSettings
    draft: ModelSettings | None = None


class Generate(Command, frozen=True, tag=True):
    request: int
    messages: tuple[ChatMessage, ...]
    settings: AnswerSettings


class Explain(Command, frozen=True, tag=True):
    """Say where two answers to the same messages part, and whether rounding explains it."""

    request: int
    messages: tuple[ChatMessage, ...]
    settings: AnswerSettings
    """Of either answer: they say what of the messages is in the prompt."""
    texts: TextPair


class Count(Command, frozen=True, tag=True):
    """How many tokens this prompt would have. Answered by `Counted`, unless another command has come meanwhile."""

    request: int
    messages: tuple[ChatMessage, ...]
    settings: AnswerSettings


class Cancel(Command, frozen=True, tag=True):
    """Stop that request now. Unknown or finished requests are ignored."""

    request: int


class Unload(Command, frozen=True, tag=True):
    pass


class Shutdown(Command, frozen=True, tag=True):
    pass


class Event(msgspec.Struct, frozen=True, tag=True):
    """Base of what the engine reports."""


class Ready(Event, frozen=True, tag=True):
    """First event of every engine process."""

    protocol: int
    llama_cpp_python: str
    gpu_offload: bool
    devices: tuple[Device, ...]


class LoadProgress(Event, frozen=True, tag=True):
    request: int
    part: Part
    fraction: float


class Loaded(Event, frozen=True, tag=True):
    request: int
    target: ModelFacts
    draft: ModelFacts | None
    draft_problem: Problem | None
    """Why a draft that was asked for can't be used; the target chats on plainly."""


class Calibrated(Event, frozen=True, tag=True):
    """Follows `Loaded`, a second or so later, and again after a command that broke the measuring off."""

    costs: Costs | None
    """None where a command broke it off, or where the context had no room for it."""


class Unloaded(Event, frozen=True, tag=True):
    pass


class Counted(Event, frozen=True, tag=True):
    """The sizes of a prompt, as `Generate` with the same messages and settings would read it."""

    request: int
    newest: int
    """Tokens of the newest message's text by itself."""
    prompt: int
    """Tokens of the whole prompt, without the turns left out."""
    left_out: int
    """Oldest turns that don't fit and would be left out."""
    problem: Problem | None = None
    """Why `Generate` would be refused."""


class TurnsLeftOut(Event, frozen=True, tag=True):
    """Comes before `Prefilling` where the conversation doesn't fit: its oldest turns are not in the prompt."""

    request: int
    turns: int
    """A turn is a message of the user's with the answer that follows it."""


class Prefilling(Event, frozen=True, tag=True):
    """Progress through the prompt. `reused` tokens were in the cache already; `done` counts them too."""

    request: int
    done: int
    total: int
    reused: int
    draft_reused: int | None = None
    """Tokens that the draft's cache had already; None without a draft model."""
    seconds: float = 0.0
    """Since the reading began."""


class RoundDone(Event, frozen=True, tag=True):
    request: int
    round: Round
    visible: int
    """Characters of the answer so far that are certain to stay."""
    context: int
    """Tokens in the target's context after this round."""
    pace: Pace | None = None
    """What the pacer makes of it; None where γ is fixed, and for plain decoding."""


class Finished(Event, frozen=True, tag=True):
    request: int
    stop: Stop
    visible: int
    tail: str
    """What an unfinished character at the end leaves."""
    seed: int
    first_token_s: float | None
    """From the start of the request to its first round, None if there was none."""
    prefill_s: float
    speculation_problem: Problem | None = None
    """Why speculation that was asked for did not run."""


class Explained(Event, frozen=True, tag=True):
    request: int
    difference: Difference | None
    """None where the answers are the same."""


class Cancelled(Event, frozen=True, tag=True):
    request: int


class Failed(Event, frozen=True, tag=True):
    request: int
    problem: Problem


AnyCommand = Load | Generate | Explain | Count | Cancel | Unload | Shutdown
AnyEvent = (
    Ready
    | LoadProgress
    | Loaded
    | Calibrated
    | Unloaded
    | Counted
    | TurnsLeftOut
    | Prefilling
    | RoundDone
    | Finished
    | Explained
    | Cancelled
    | Failed
)
