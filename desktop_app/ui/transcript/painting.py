"""Paints what lies under and over an answer's text: code panels, quote bars, rules, tints and underlines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPen, QTextBlock

from desktop_app.ui.theme import RADIUS, Colours
from desktop_app.ui.transcript.document import LineDocument
from desktop_app.ui.transcript.formats import CODE_OVERHANG, INDENT
from desktop_app.ui.transcript.lines import Line, LineKind
from desktop_app.ui.transcript.marks import BlockMarks
from desktop_app.ui.transcript.underline import WIDTH

_FRAME_WIDTH = 1.6
"""Of the pen, in device-independent pixels."""

_CODE = (LineKind.CODE_HEADER, LineKind.CODE)


@dataclass(frozen=True, slots=True)
class Grounds:
    """Paints beneath the text of visible blocks; `width` is the text's, in device-independent pixels."""

    painter: QPainter
    lines: LineDocument
    colours: Colours
    width: float

    def paint(self, blocks: Sequence[tuple[QTextBlock, QRectF]]) -> None:
        self.painter.setPen(Qt.PenStyle.NoPen)
        panel: QRectF | None = None
        for block, rect in blocks:
            line = self.lines.line_of(block)
            if line is None:
                continue
            self._paint_quote(block, rect, line)
            if line.kind is LineKind.RULE:
                left = line_left(line)
                self.painter.fillRect(QRectF(left, rect.center().y(), self.width - left, 1.0), self.colours.border)
            if line.kind in _CODE:
                panel = self._extended(panel, rect, line)
                if not self._goes_on(block):
                    self._paint_panel(panel)
                    panel = None
        if panel is not None:
            self._paint_panel(panel.adjusted(0, 0, 0, 4 * RADIUS))  # it goes on below what is visible

    def _extended(self, panel: QRectF | None, rect: QRectF, line: Line) -> QRectF:
        left = line_left(line)
        own = QRectF(left, rect.top(), self.width - left, rect.height()).adjusted(0, -CODE_OVERHANG, 0, CODE_OVERHANG)
        if panel is not None:
            return panel.united(own)
        if line.kind is LineKind.CODE:
            own.setTop(own.top() - 4 * RADIUS)  # its header is above what is visible
        return own

    def _goes_on(self, block: QTextBlock) -> bool:
        following = self.lines.line_of(block.next()) if block.next().isValid() else None
        return following is not None and following.kind is LineKind.CODE

    def _paint_panel(self, panel: QRectF) -> None:
        self.painter.setPen(QPen(self.colours.border, 1.0))
        self.painter.setBrush(self.colours.sunken)
        self.painter.drawRoundedRect(panel.adjusted(0.5, 0.5, -0.5, -0.5), RADIUS, RADIUS)
        self.painter.setPen(Qt.PenStyle.NoPen)

    def _paint_quote(self, block: QTextBlock, rect: QRectF, line: Line) -> None:
        before = self.lines.line_of(block.previous()) if line.quote and block.previous().isValid() else None
        for level in range(line.quote):
            joined = before is not None and before.quote > level
            top = rect.top() - (block.blockFormat().topMargin() if joined else 0.0)
            bar = QRectF(level * INDENT + 6.0, top, 3.0, rect.bottom() - top)
            self.painter.fillRect(bar, self.colours.border)


def paint_tints(painter: QPainter, blocks: Sequence[BlockMarks], colours: Colours) -> None:
    """Needs a painter without antialiasing."""
    painter.setPen(Qt.PenStyle.NoPen)
    for block in blocks:
        if block.code:
            painter.setBrush(colours.sunken)
            painter.drawRects(block.code)
        for kind, rects in block.tints.items():
            painter.setBrush(colours.tint(kind))
            painter.drawRects(rects)


def paint_underlines(painter: QPainter, blocks: Sequence[BlockMarks], colours: Colours) -> None:
    for block in blocks:
        for kind, path in block.underlines.items():
            painter.strokePath(path, QPen(colours.ink(kind), WIDTH))


def paint_frames(painter: QPainter, blocks: Sequence[BlockMarks], colours: Colours) -> None:
    """Around what is pointed out, over everything else."""
    painter.setPen(QPen(colours.text, _FRAME_WIDTH))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for block in blocks:
        for rect in block.frames:
            painter.drawRoundedRect(rect.adjusted(-1.5, -0.5, 1.5, 2.5), 3.0, 3.0)


def line_left(line: Line) -> float:
    """Where a line's own text begins, in device-independent pixels."""
    return (line.depth + line.quote) * INDENT
