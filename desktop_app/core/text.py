"""From token bytes to the answer's text: UTF-8 over token borders and stop strings."""

from __future__ import annotations

import codecs
from collections.abc import Iterable


class Utf8Assembler:
    """Decodes bytes token by token; a character belongs to the token that completes it.

    The concatenation of all returned strings and `flush()` equals decoding all bytes at once with errors="replace".
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def feed(self, piece: bytes) -> str:
        return self._decoder.decode(piece)

    def flush(self) -> str:
        """What an unfinished character at the end leaves."""
        return self._decoder.decode(b"", final=True)

    def peek(self, piece: bytes) -> str:
        """What `piece` would add, leaving the state as it is."""
        state = self._decoder.getstate()
        text = self._decoder.decode(piece, final=True)
        self._decoder.setstate(state)
        return text


class StopScanner:
    """Finds the earliest stop string in a growing text and tells how much of the text is safe to show."""

    def __init__(self, stops: Iterable[str]) -> None:
        self._stops = tuple(stop for stop in stops if stop)
        self._longest = max(map(len, self._stops), default=0)
        self._text = ""
        self.matched: str | None = None
        self.visible = 0
        """Characters that are certainly part of the answer."""

    def feed(self, text: str) -> bool:
        """Add text; True once a stop string is found. `visible` then ends before it, whatever comes after.

        The first to be complete counts, the longest of those that end together: so no cut into tokens matters.
        """
        if self.matched is not None:
            return True
        searched = max(0, len(self._text) - self._longest + 1)
        self._text += text
        found = min(
            ((at, stop) for stop in self._stops if (at := self._text.find(stop, searched)) >= 0),
            key=lambda hit: (hit[0] + len(hit[1]), hit[0]),
            default=None,
        )
        if found is not None:
            self.visible, self.matched = found
            return True
        self.visible = len(self._text) - self._held()
        return False

    def finish(self) -> None:
        """No more text will come: what was held back is part of the answer."""
        if self.matched is None:
            self.visible = len(self._text)

    def _held(self) -> int:
        """Length of the longest tail that could still become a stop string."""
        for length in range(min(self._longest - 1, len(self._text)), 0, -1):
            tail = self._text[-length:]
            if any(stop.startswith(tail) for stop in self._stops):
                return length
        return 0
