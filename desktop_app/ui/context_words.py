"""How the window words the fill of the context. Pure functions, no widgets."""

from __future__ import annotations

from desktop_app.core.overflow import LEAST_ROOM
from desktop_app.core.settings import Overflow
from desktop_app.services.context_use import MessageSize
from desktop_app.ui.words import Tone, Words, many

UNKNOWN = "–"


def gauge_words(used: int | None, size: int | None) -> Words:
    """The gauge's text. It is nearly full where an answer can't count on the room that is kept for it."""
    text = f"context {_count(used)} / {_count(size)}"
    if used is None or size is None:
        return Words(text)
    if used >= size:
        return Words(f"{text} · full", Tone.DANGER)
    if used > size * (1 - LEAST_ROOM):
        return Words(f"{text} · nearly full", Tone.WARNING)
    return Words(text)


def gauge_tip(used: int | None, size: int | None, overflow: Overflow) -> str:
    meaning = "Tokens of this chat in the target's context / tokens it can hold."
    if gauge_words(used, size).tone is Tone.CALM:
        return meaning
    if overflow is Overflow.DROP_OLDEST:
        return f"{meaning} The next message makes room: the chat's oldest turns are left out then."
    return f"{meaning} Start a new chat, or set a larger context in the settings."


def message_words(size: MessageSize | None) -> Words:
    """What the composer says about the message being written; nothing while it is not counted."""
    if size is None:
        return Words("")
    tokens = many(size.tokens, "token")
    if size.problem is not None:
        return Words(f"{tokens} · {size.problem.message}", Tone.DANGER)
    if size.left_out > 0:
        turns = many(size.left_out, "earlier turn")
        return Words(f"{tokens} · {turns} will no longer fit the context", Tone.WARNING)
    return Words(tokens)


def left_out_words(turns: int) -> str:
    """The line in the transcript above the first turn that is in the context."""
    if turns == 1:
        return "1 earlier turn no longer fits the context and was left out"
    return f"{turns:,} earlier turns no longer fit the context and were left out"


def _count(tokens: int | None) -> str:
    return UNKNOWN if tokens is None else f"{tokens:,}"
