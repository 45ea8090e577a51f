"""What can go wrong, sorted by who can mend it. Messages name the cause and the next step."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Blame(StrEnum):
    USER = "user"
    """The user can fix it: another file, a shorter prompt."""
    ENVIRONMENT = "environment"
    """The machine failed: memory, disk, driver."""
    BUG = "bug"
    """We failed."""


class Fault(StrEnum):
    """Faults that somebody reacts to by kind; everything else is OTHER."""

    BAD_MODEL = "bad-model"
    PROMPT_TOO_LONG = "prompt-too-long"
    EMPTY_PROMPT = "empty-prompt"
    NO_MODEL = "no-model"
    OUT_OF_MEMORY = "out-of-memory"
    VOCABULARY = "vocabulary"
    TEMPLATE = "template"
    ENGINE_DIED = "engine-died"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Problem:
    """A fault as the user reads it."""

    message: str
    """What happened and why, one sentence."""
    hint: str = ""
    """What to do next, one sentence."""
    blame: Blame = Blame.BUG
    fault: Fault = Fault.OTHER

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class DraftglassError(Exception):
    """Carries a `Problem` up to where it is shown."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem
