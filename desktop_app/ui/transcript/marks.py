"""Where the tokens of an answer stand on screen, kept per block until the block changes. Paints nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import cast

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainterPath, QTextBlock, QTextDocument, QTextLine

from desktop_app.core.answer import Placed
from desktop_app.core.rounds import Kind
from desktop_app.ui.transcript.document import LineDocument
from desktop_app.ui.transcript.underline import add_underline

UNDERLINE_DROP = 2.5
"""Device-independent pixels from the baseline to the underline."""
_GAP = 1.0
"""Between the tints of neighbours, so that two tokens of one kind stay two."""
_RIGHT_TO_LEFT = re.compile(r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")


@dataclass(frozen=True, slots=True)
class Mark:
    """A stretch of one visual line that one token wrote, in document coordinates."""

    kind: Kind
    """Plain for hidden kinds."""
    rect: QRectF
    baseline: float
    code: bool
    """Inline code, which has a ground of its own."""
    pointed_out: bool = False


@dataclass(slots=True)
class BlockMarks:
    """The marks of one block and the shapes that show them."""

    marks: list[Mark]
    tints: dict[Kind, list[QRectF]] = field(default_factory=dict)
    """On whole pixels: filled without antialiasing, which costs a tenth and looks crisper."""
    underlines: dict[Kind, QPainterPath] = field(default_factory=dict)
    code: list[QRectF] = field(default_factory=list)
    frames: list[QRectF] = field(default_factory=list)
    """Around what is pointed out."""

    def __post_init__(self) -> None:
        for mark in self.marks:
            if mark.pointed_out:
                self.frames.append(mark.rect)
            if mark.code:
                self.code.append(_snapped(mark.rect, gap=0.0))
            if mark.kind in (Kind.PLAIN, Kind.DISCARDED):
                continue
            rect = _snapped(mark.rect, gap=_GAP)
            self.tints.setdefault(mark.kind, []).append(rect)
            if mark.kind is Kind.REJECTED:
                continue
            line = self.underlines.setdefault(mark.kind, QPainterPath())
            add_underline(line, mark.kind, rect.left(), rect.right(), mark.baseline + UNDERLINE_DROP)


class Marks:
    """Finds visible blocks and the marks in them. `hidden` kinds get no mark."""

    def __init__(self, document: QTextDocument, lines: LineDocument) -> None:
        self._document = document
        self._lines = lines
        self._hidden: frozenset[Kind] = frozenset()
        self._pointed_out: Placed | None = None
        self._known: dict[int, BlockMarks] = {}
        """By the position of the block."""

    def hide(self, kinds: frozenset[Kind]) -> None:
        self._hidden = kinds
        self._known.clear()

    def point_out(self, placed: Placed | None) -> None:
        """Frame this token, whatever its kind, and no other."""
        self._pointed_out = placed
        self._known.clear()

    def forget(self, position: int = 0) -> None:
        """The text from the block at `position` on has changed or moved."""
        for known in [known for known in self._known if known >= position]:
            del self._known[known]

    def visible(self, clip: QRectF) -> Iterator[tuple[QTextBlock, QRectF]]:
        """Blocks that reach into an area and their places, in document order."""
        layout = self._document.documentLayout()
        at = layout.hitTest(QPointF(0, clip.top()), Qt.HitTestAccuracy.FuzzyHit)
        block = self._document.findBlock(max(at, 0))
        while block.isValid():
            rect = layout.blockBoundingRect(block)
            if rect.top() > clip.bottom():
                return
            yield block, rect
            block = block.next()

    def of(self, block: QTextBlock, rect: QRectF) -> BlockMarks:
        """The marks of a visible block that stands at `rect`."""
        position = block.position()
        known = self._known.get(position)
        if known is None:
            known = self._known[position] = BlockMarks(list(self._find(block, rect.topLeft())))
        return known

    def _find(self, block: QTextBlock, origin: QPointF) -> Iterator[Mark]:
        layout, start = block.layout(), block.position()
        text = block.text()
        visual = not text.isascii() and _RIGHT_TO_LEFT.search(text) is not None
        lines = [layout.lineAt(index) for index in range(layout.lineCount())]
        number = 0
        for begin, end, piece in self._lines.positions.between(start, start + block.length() - 1):
            kind = Kind.PLAIN if piece.kind in self._hidden else piece.kind
            code = piece.style.code and not piece.refused
            pointed_out = piece.placed is not None and piece.placed is self._pointed_out
            if kind is Kind.PLAIN and not (code or pointed_out):
                continue
            while number < len(lines) and _end(lines[number]) <= begin - start:
                number += 1
            for line in lines[number:]:
                if line.textStart() >= end - start:
                    break
                span = max(begin - start, line.textStart()), min(end - start, _end(line))
                for rect, baseline in _on_line(line, span, origin, visual=visual):
                    yield Mark(kind, rect, baseline, code, pointed_out)


def _on_line(
    line: QTextLine, span: tuple[int, int], origin: QPointF, *, visual: bool
) -> Iterator[tuple[QRectF, float]]:
    """Where a range of characters of a visual line stands, with its baseline."""
    baseline = origin.y() + line.y() + line.ascent()
    top, height = baseline - line.ascent() - 1.0, line.ascent() + line.descent() + 2.0
    for left, right in _stretches(line, *span, visual=visual):
        if right - left > 0.5:
            yield QRectF(origin.x() + left, top, right - left, height), baseline


def _stretches(line: QTextLine, begin: int, end: int, *, visual: bool) -> Iterator[tuple[float, float]]:
    """Horizontal extents of a range of characters; several where directions mix."""
    if visual:
        for run in line.glyphRuns(begin, end - begin):
            box = run.boundingRect()
            yield box.left(), box.right()
        return
    left, right = _x(line, begin), _x(line, end)
    yield (left, right) if left <= right else (right, left)


def _snapped(rect: QRectF, *, gap: float) -> QRectF:
    left, top = round(rect.left()), round(rect.top())
    return QRectF(left, top, max(round(rect.right()) - left - gap, 1.0), round(rect.bottom()) - top)


def _end(line: QTextLine) -> int:
    return line.textStart() + line.textLength()


def _x(line: QTextLine, position: int) -> float:
    # PySide returns the position as well; its stubs say that it is an object.
    x, _ = cast("tuple[float, int]", line.cursorToX(position))
    return x
