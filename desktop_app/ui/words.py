"""Words that labels show in a tone of the theme, and counting in them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Tone(StrEnum):
    """The property of labels that the theme colours."""

    CALM = ""
    POSITIVE = "positive"
    WARNING = "warning"
    DANGER = "danger"


@dataclass(frozen=True, slots=True)
class Words:
    text: str
    tone: Tone = Tone.CALM


def many(count: int, what: str) -> str:
    """A count with its noun, in the plural where it takes one."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"
