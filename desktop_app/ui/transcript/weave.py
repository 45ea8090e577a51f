"""Weaves tokens into lines: which token wrote each piece, and where refused tokens stand. No Qt."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from desktop_app.core.answer import Answer, Placed
from desktop_app.core.rounds import EMITTED, Kind
from desktop_app.ui.transcript.lines import PLAIN, Line, LineKind, Run, Style

NO_TEXT = "∅"
"""Shown for a refused token that would have added no character."""

_VISIBLE = str.maketrans({"\n": "↵", "\r": "↵", "\t": "⇥", "\u2028": "↵", "\u2029": "↵"})
_SAFE = str.maketrans({"\r": " ", "\u2029": "\u2028", "\ufdd0": "\ufffd", "\ufdd1": "\ufffd", "\ufffc": "\ufffd"})
"""Characters that mean structure to QTextDocument, and same-length stand-ins."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Characters of one line in one style, written by one token."""

    text: str
    style: Style = PLAIN
    placed: Placed | None = None
    """None for what no token wrote: the gap behind a bullet, say."""

    @property
    def kind(self) -> Kind:
        return self.placed.token.kind if self.placed else Kind.PLAIN

    @property
    def refused(self) -> bool:
        return self.kind not in EMITTED

    def same(self, other: Piece) -> bool:
        """Equality that doesn't look into the token."""
        return self.placed is other.placed and self.text == other.text and self.style == other.style


def weave(
    answer: Answer, lines: Sequence[Line], first: int, shown: int, hidden: frozenset[Kind]
) -> Iterator[list[Piece]]:
    """Yield the pieces of every line from `first` on. `shown` is the count of characters the lines were read from.

    A refused token stands before the character that replaced it. Where that is a newline, it ends the line.
    """
    emitted, refused = answer.emitted, answer.refused
    bound = _claim_end(answer.text, lines, first - 1) if first else -1
    next_refused = bisect_right(refused, bound, key=_start)
    for index in range(first, len(lines)):
        line = lines[index]
        bound = shown if index == len(lines) - 1 else min(_claim_end(answer.text, lines, index), shown)
        end_refused = bisect_right(refused, bound, key=_start)
        waiting = [placed for placed in refused[next_refused:end_refused] if placed.token.kind not in hidden]
        next_refused = max(end_refused, next_refused)
        yield list(_interleave(_cut(line, emitted), waiting))


def visible_form(text: str) -> str:
    """A refused token's text with its whitespace made visible where nothing else would be."""
    if not text:
        return NO_TEXT
    shown = text.translate(_VISIBLE)
    return shown.replace(" ", "␣") if text.isspace() else shown


def _start(placed: Placed) -> int:
    return placed.start


def _claim_end(text: str, lines: Sequence[Line], index: int) -> int:
    """Offset of the last place at which a refused token still belongs to that line: the newline that ends it."""
    line = lines[index]
    ends = [run.at + len(run.text) for run in line.all_runs if run.at is not None]
    newline = text.find("\n", max(ends, default=line.start))
    end = newline if newline >= 0 else len(text)
    following = lines[index + 1].start if index + 1 < len(lines) else end + 1
    return max(min(end, following - 1), line.start)


def _cut(line: Line, emitted: Sequence[Placed]) -> Iterator[tuple[int | None, Piece]]:
    """(offset, piece) for everything the line shows, cut where one token ends and the next begins."""
    if line.marker is not None:
        # Nothing comes between a bullet and the gap behind it, which hangs on its width.
        yield from ((None, piece) for _, piece in _cut_run(line.marker, emitted))
        yield None, Piece("\t")
    if line.kind is LineKind.CODE_HEADER and not line.runs:
        yield None, Piece("code")
    for run in line.runs:
        yield from _cut_run(run, emitted)


def _cut_run(run: Run, emitted: Sequence[Placed]) -> Iterator[tuple[int | None, Piece]]:
    text = run.text.translate(_SAFE)
    if run.at is None:
        yield None, Piece(text, run.style)
        return
    at, end = run.at, run.at + len(text)
    index = max(bisect_right(emitted, at, key=_start) - 1, 0)
    while at < end:
        while index < len(emitted) and emitted[index].end <= at:
            index += 1
        placed = emitted[index] if index < len(emitted) and emitted[index].start <= at else None
        stop = min(end, placed.end) if placed else end
        yield at, Piece(text[at - run.at : stop - run.at], run.style, placed)
        at = stop


def _interleave(pieces: Iterator[tuple[int | None, Piece]], waiting: list[Placed]) -> Iterator[Piece]:
    """Refused tokens stand between emitted ones, and pieces end where tokens do, so no piece has to be split."""
    following = 0
    for at, piece in pieces:
        if at is None:
            yield piece
            continue
        while following < len(waiting) and waiting[following].start <= at:
            yield _refused_piece(waiting[following], piece.style)
            following += 1
        yield piece
    for placed in waiting[following:]:
        yield _refused_piece(placed, PLAIN)


def _refused_piece(placed: Placed, style: Style) -> Piece:
    return Piece(visible_form(placed.token.text), Style(code=style.code), placed)
