"""Turns emitted tokens into the answer's text and knows when the answer ends."""

from __future__ import annotations

from collections.abc import Sequence

from desktop_app.core.text import StopScanner, Utf8Assembler
from desktop_app.engine.llama.vocabulary import Vocabulary
from desktop_app.protocol.messages import Stop


class Writer:
    """Per token, in this order: end of generation, stop string, token limit. The first that holds becomes `stop`."""

    def __init__(self, vocabulary: Vocabulary, *, stops: Sequence[str], max_tokens: int) -> None:
        self._vocabulary = vocabulary
        self._assembler = Utf8Assembler()
        self._scanner = StopScanner(stops)
        self.tokens_left = max_tokens
        self.stop: Stop | None = None

    @property
    def visible(self) -> int:
        """Characters of the text so far that are certain to stay."""
        return self._scanner.visible

    def write(self, token: int) -> str:
        """Emit a token; the text it adds."""
        text = self._assembler.feed(self._vocabulary.piece(token))
        self.tokens_left -= 1
        found = self._scanner.feed(text)
        if token in self._vocabulary.end_ids:
            self.stop = Stop.END
        elif found:
            self.stop = Stop.STOP_STRING
        elif self.tokens_left <= 0:
            self.stop = Stop.LIMIT
        return text

    def preview(self, token: int) -> str:
        """What a token that is not emitted would have added."""
        return self._assembler.peek(self._vocabulary.piece(token)) or self._vocabulary.name(token)

    def close(self) -> str:
        """No more tokens: the text that an unfinished character leaves."""
        tail = "" if self.stop is Stop.STOP_STRING else self._assembler.flush()
        if not self._scanner.feed(tail):
            self._scanner.finish()
        return tail
