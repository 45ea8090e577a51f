"""Reads an answer's Markdown into lines, again and again while it grows. No Qt.

Only the last top-level block is read again when text is added; what stands before it is settled. Differences from
CommonMark, all so that nothing a token wrote disappears or moves later: raw HTML and images are shown as text, link
reference definitions are ordinary text, a newline inside a paragraph breaks the line, list numbers are shown as
written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.token import Token

from desktop_app.ui.transcript.flatten import Flattener
from desktop_app.ui.transcript.inline import PlacingParser
from desktop_app.ui.transcript.lines import Line
from desktop_app.ui.transcript.source import Source

LONGEST_BLOCK = 6000
"""Characters. A longer paragraph or list is cut at a line or word, so that a runaway answer stays cheap to read."""

_CONTROL = re.compile(r"\r\n|\r|\0")
_SUBSTITUTE = {"\r\n": " \n", "\r": "\n", "\0": "\ufffd"}
_UNCUTTABLE = frozenset({"fence", "code_block", "table_open"})


@dataclass(frozen=True, slots=True)
class Block:
    """A top-level block: its tokens and its lines of the source, from `first` up to but without `end`."""

    tokens: list[Token]
    first: int
    end: int


class MarkdownReader:
    """Holds the lines of a text that grows at its end."""

    def __init__(self) -> None:
        self._parser = _parser()
        self._settled: list[Line] = []
        self._boundary = 0
        self.lines: list[Line] = []

    def read(self, text: str) -> int:
        """Take over the text, which begins with the text read before.

        Returns the index of the first line that may have changed.
        """
        first = len(self._settled)
        while True:
            source = Source(_same_length(text[self._boundary :]), self._boundary)
            blocks = self._blocks(source)
            cut = _cut(source, blocks)
            if cut is None:
                break
            head = Source(source.text[:cut], self._boundary)
            self._settled += self._flatten(head, self._blocks(head))
            self._boundary += cut
        open_ = _first_open(source, blocks)
        self._settled += self._flatten(source, blocks[:open_])
        tail = blocks[open_:]
        if tail:
            self._boundary = source.line_offset(tail[0].first)
        self.lines = self._settled + self._flatten(source, tail)
        return first

    def _blocks(self, source: Source) -> list[Block]:
        return list(_top_level(self._parser.parse(source.text)))

    def _flatten(self, source: Source, blocks: list[Block]) -> list[Line]:
        return [line for block in blocks for line in Flattener(source).lines(block.tokens)]


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": 40}).enable(["table", "strikethrough"])
    parser.disable(["normalize", "text_join", "reference", "html_block", "html_inline"])
    placing = PlacingParser()
    placing.ruler.enableOnly(parser.get_active_rules()["inline"])
    parser.inline = placing
    return parser


def _same_length(text: str) -> str:
    """Normalise control characters without moving any other."""
    return _CONTROL.sub(lambda found: _SUBSTITUTE[found.group()], text)


def _top_level(tokens: list[Token]) -> Iterator[Block]:
    begin = 0
    for index, token in enumerate(tokens):
        if token.level == 0 and token.nesting <= 0:
            first, end = tokens[begin].map or (0, 0)
            yield Block(tokens[begin : index + 1], first, end)
            begin = index + 1


def _first_open(source: Source, blocks: list[Block]) -> int:
    """Index of the first block that more text may still change.

    A block whose first two lines are complete can no longer turn out to continue the one before it ("***" becoming
    "***bold***", say), so everything before such a block is settled.
    """
    for index in range(len(blocks) - 1, 0, -1):
        if blocks[index].first + 2 < source.line_count:
            return index
    return 0


def _cut(source: Source, blocks: list[Block]) -> int | None:
    """Where to cut an overlong last block, as an offset in the source's text."""
    if not blocks or blocks[-1].tokens[0].type in _UNCUTTABLE:
        return None
    start = source.line_offset(blocks[-1].first) - source.offset
    if len(source.text) - start <= LONGEST_BLOCK:
        return None
    limit = start + LONGEST_BLOCK
    for separator in "\n ":
        after = source.text.rfind(separator, start, limit) + 1
        if after > start:
            return after
    return limit
