"""Where the content of markdown-it's tokens lies in the text they were read from. No Qt.

A token says which source lines it covers and what text is in it, but not where that text begins.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from markdown_it.token import Token

from desktop_app.ui.transcript.lines import Run, Style

_SPACE = " \t"


@dataclass(frozen=True, slots=True)
class Locator:
    """Maps offsets in a token's content to offsets in the answer: pieces (content, answer), ascending."""

    pieces: tuple[tuple[int, int], ...]

    def runs(self, text: str, at: int, style: Style) -> Iterator[Run]:
        """Text that begins at `at` in the content, cut where the content skips over some of the source."""
        index = max(bisect_right(self.pieces, at, key=lambda piece: piece[0]) - 1, 0)
        while text:
            content, answer = self.pieces[index]
            end = self.pieces[index + 1][0] if index + 1 < len(self.pieces) else at + len(text)
            length = max(1, min(end - at, len(text)))
            yield Run(text[:length], answer + at - content, style)
            text, at, index = text[length:], at + length, index + 1


class Source:
    """The text that is being read, its lines, and where it begins in the whole answer."""

    def __init__(self, text: str, offset: int) -> None:
        self.text = text
        self.offset = offset
        self._starts = [0, *(found.end() for found in re.finditer("\n", text))]

    @property
    def line_count(self) -> int:
        """Lines, the unfinished (perhaps empty) last one included."""
        return len(self._starts)

    def line_offset(self, line: int) -> int:
        """Offset in the answer at which a line of this text begins."""
        return self.offset + (self._starts[line] if line < len(self._starts) else len(self.text))

    def line(self, line: int) -> str:
        if line >= len(self._starts):
            return ""
        end = self._starts[line + 1] - 1 if line + 1 < len(self._starts) else len(self.text)
        return self.text[self._starts[line] : end]

    def start(self, token: Token) -> int:
        """Offset in the answer of the line on which a token begins."""
        return self.line_offset(first_line(token))

    def locate_heading(self, token: Token, markup: str) -> Locator:
        """The text behind the number signs."""
        number = first_line(token)
        pattern = re.escape(markup) + r"[ \t]+(?=" + re.escape(token.content) + ")"
        found = re.search(pattern, self.line(number))
        return Locator(((0, self.line_offset(number) + (found.end() if found else 0)),))

    def locate_lines(self, token: Token, skip: int = 0) -> Locator:
        """Content lines are tails of source lines: indentation, quote and list markers are cut off in front.

        `skip` is the count of source lines before the content, the opening line of a fence say.
        """
        pieces: list[tuple[int, int]] = []
        content = 0
        for number, text in enumerate(token.content.split("\n"), first_line(token) + skip):
            line, start = self.line(number), self.line_offset(number)
            body = text.strip()
            lead = len(text) - len(text.lstrip()) if body else 0
            at = len(line.rstrip()) - len(body) if body else len(line) - len(text)
            if lead:
                # A tab may have become several spaces; all of them stand where it stood.
                pieces.append((content, start + max(at - lead, 0)))
            pieces.append((content + lead, start + max(at, 0)))
            content += len(text) + 1
        return Locator(tuple(pieces))

    def locate_cell(self, token: Token, search_from: int) -> tuple[Locator, int, int]:
        """A table cell's content; the cell before it ended at `search_from` in the line.

        Returns also the offset in the answer at which it begins and the one in the line at which it ends. In a cell an
        escaped pipe has lost its backslash.
        """
        number = first_line(token)
        line, start = self.line(number), self.line_offset(number)
        at = _behind_pipe(line, search_from)
        begin = at
        pieces = [(0, start + at)]
        for index, character in enumerate(token.content):
            if character == "|" and line[at : at + 2] == "\\|":
                at += 1
                pieces.append((index, start + at))
            at += 1
        return Locator(tuple(pieces)), start + begin, min(at, len(line))


def first_line(token: Token) -> int:
    return token.map[0] if token.map else 0


def _behind_pipe(line: str, at: int) -> int:
    at = _behind_space(line, at)
    if at < len(line) and line[at] == "|":
        at += 1
    return _behind_space(line, at)


def _behind_space(line: str, at: int) -> int:
    while at < len(line) and line[at] in _SPACE:
        at += 1
    return at
