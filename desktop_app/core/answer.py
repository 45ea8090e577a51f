"""The answer as it grows: its text, and which token wrote which characters."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field

from desktop_app.core.metrics import Tally
from desktop_app.core.rounds import EMITTED, Round, Token


@dataclass(frozen=True, slots=True)
class Placed:
    """A token and its place: characters start … end of the answer's text.

    For a rejected or discarded token start = end: it stands before the character at `start`, but adds nothing.
    """

    token: Token
    start: int
    end: int
    round: int
    place: int
    """Place in its round, from 0."""


@dataclass(slots=True)
class Answer:
    """Grown by `add`; the transcript paints from it.

    `text` holds every emitted character; only the first `visible` of them are certain to stay (a stop string may be
    forming in the rest).
    """

    text: str = ""
    visible: int = 0
    emitted: list[Placed] = field(default_factory=list)
    """In text order; tokens with empty text included."""
    refused: list[Placed] = field(default_factory=list)
    """Rejected and discarded tokens, in text order."""
    rounds: list[Round] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)
    _starts: list[int] = field(default_factory=list)

    def add(self, round_: Round, visible: int) -> None:
        """Append a round; `visible` is the count of settled characters that the engine sent with it."""
        at = len(self.text)
        for place, token in enumerate(round_.tokens):
            if token.kind in EMITTED:
                end = at + len(token.text)
                self.emitted.append(Placed(token, at, end, round_.index, place))
                self._starts.append(at)
                at = end
            else:
                self.refused.append(Placed(token, at, at, round_.index, place))
        self.text += "".join(token.text for token in round_.emitted)
        self.visible = visible
        self.rounds.append(round_)
        self.tally.add(round_)

    def close(self, visible: int, tail: str = "") -> None:
        """No more rounds: `tail` is what an unfinished character leaves, `visible` the final length."""
        self.text += tail
        self.visible = visible

    @property
    def shown(self) -> str:
        return self.text[: self.visible]

    def emitted_at(self, offset: int) -> Placed | None:
        """The token that wrote the character at `offset`, or None behind the text."""
        index = bisect_right(self._starts, offset) - 1
        placed = self.emitted[index] if index >= 0 else None
        return placed if placed is not None and offset < placed.end else None
