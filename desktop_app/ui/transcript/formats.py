"""Turns lines and pieces into Qt's block and character formats. Colours come from the theme, sizes from one font."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QBrush,
    QFont,
    QFontMetricsF,
    QTextBlockFormat,
    QTextCharFormat,
    QTextFrameFormat,
    QTextLength,
    QTextOption,
    QTextTableFormat,
)

from desktop_app.core.rounds import Kind
from desktop_app.ui.theme import Colours, code_font
from desktop_app.ui.transcript.lines import Align, Line, LineKind
from desktop_app.ui.transcript.weave import Piece

INDENT = 26.0
"""Device-independent pixels of one list or quote level."""
CODE_PADDING = 12.0
CODE_OVERHANG = 7.0
"""How far a code panel reaches above its header and below its last line."""
LINE_HEIGHT_PERCENT = 138.0
COPY_SCHEME = "copy"
"""Anchors `copy:N` copy the code under the header in line N."""

_HEADING_SCALE = (1.45, 1.25, 1.12, 1.0, 1.0, 1.0)
_ALIGNMENT = {
    Align.CENTRE: Qt.AlignmentFlag.AlignHCenter,
    Align.END: Qt.AlignmentFlag.AlignRight,
    Align.START: Qt.AlignmentFlag.AlignLeading,
}
_SAFE_SCHEMES = ("http:", "https:", "mailto:")


def is_safe_link(href: str) -> bool:
    """Whether the address may be opened after a click."""
    return href.lower().startswith(_SAFE_SCHEMES)


class Formats:
    """Formats for one font and one scheme; character formats are built once each."""

    def __init__(self, font: QFont, colours: Colours) -> None:
        self._font = font
        self._colours = colours
        self._code_font = code_font(font.pointSizeF() * 0.94)
        self._metrics = QFontMetricsF(font)
        self._width = 0
        self._characters: dict[tuple[LineKind, int, bool, object, Kind | None], QTextCharFormat] = {}

    def set_width(self, width: int) -> bool:
        """Take over the width of the text in device-independent pixels; True where it is another than before."""
        changed, self._width = self._width != width, width
        return changed

    def characters(self, line: Line, piece: Piece) -> QTextCharFormat:
        header = line.cell is not None and line.cell.row == 0
        key = (line.kind, line.level, header, piece.style, piece.kind if piece.refused else None)
        if key not in self._characters:
            self._characters[key] = self._build(line, piece, bold=header)
        return self._characters[key]

    def copy_anchor(self, line_index: int) -> QTextCharFormat:
        form = QTextCharFormat()
        form.setFont(self._small_font())
        form.setForeground(QBrush(self._colours.link))
        form.setAnchor(True)
        form.setAnchorHref(f"{COPY_SCHEME}:{line_index}")
        form.setToolTip("Copy this code")
        return form

    def block(self, line: Line, before: Line | None) -> QTextBlockFormat:
        form = QTextBlockFormat()
        form.setIndent(line.depth + line.quote)
        form.setTopMargin(self._gap(line, before))
        form.setLineHeight(LINE_HEIGHT_PERCENT, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
        if line.kind in (LineKind.CODE, LineKind.CODE_HEADER):
            self._set_code(form, line)
        if line.marker is not None:
            hang = max(18.0, self._metrics.horizontalAdvance(line.marker.text) + 7.0)
            form.setTextIndent(-min(hang, INDENT))
            form.setTabPositions([QTextOption.Tab(hang, QTextOption.TabType.LeftTab)])
        if line.cell is not None:
            form.setTopMargin(0)
            form.setAlignment(_ALIGNMENT[line.cell.align])
        if line.kind is LineKind.HEADING:
            form.setHeadingLevel(line.level)
        return form

    def table(self, line: Line, before: Line | None) -> QTextTableFormat:
        form = QTextTableFormat()
        form.setBorderCollapse(True)
        form.setBorder(1)
        form.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
        form.setBorderBrush(QBrush(self._colours.border))
        form.setCellPadding(6)
        form.setHeaderRowCount(1)
        form.setTopMargin(self._gap(line, before))
        form.setBottomMargin(14.0)  # Qt ignores the top margin of a block behind a table
        form.setLeftMargin((line.depth + line.quote) * INDENT)
        columns = line.cell.columns if line.cell else 1
        form.setColumnWidthConstraints([QTextLength()] * columns)
        return form

    def sliver(self) -> tuple[QTextBlockFormat, QTextCharFormat]:
        """For the empty blocks that Qt needs around a table."""
        block, character = QTextBlockFormat(), QTextCharFormat()
        block.setLineHeight(1, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
        character.setFontPointSize(1)
        return block, character

    def _small_font(self) -> QFont:
        font = QFont(self._font)
        font.setPointSizeF(self._font.pointSizeF() * 0.85)
        return font

    def _build(self, line: Line, piece: Piece, *, bold: bool) -> QTextCharFormat:
        form = QTextCharFormat()
        if line.kind is LineKind.CODE or piece.style.code:
            form.setFont(self._code_font)
        elif line.kind is LineKind.CODE_HEADER:
            form.setFont(self._small_font())
            form.setForeground(QBrush(self._colours.muted))
        elif line.kind is LineKind.HEADING:
            form.setFontPointSize(self._font.pointSizeF() * _HEADING_SCALE[line.level - 1])
        if bold or piece.style.bold or line.kind is LineKind.HEADING:
            form.setFontWeight(QFont.Weight.DemiBold)
        if piece.style.italic:
            form.setFontItalic(True)
        if piece.style.struck:
            form.setFontStrikeOut(True)
        if is_safe_link(piece.style.href):
            form.setAnchor(True)
            form.setAnchorHref(piece.style.href)
            form.setForeground(QBrush(self._colours.link))
        if piece.refused:
            form.setForeground(QBrush(self._colours.ink(piece.kind)))
            form.setFontStrikeOut(True)
        return form

    def _set_code(self, form: QTextBlockFormat, line: Line) -> None:
        form.setLeftMargin(CODE_PADDING)
        form.setRightMargin(CODE_PADDING)
        form.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        form.setLineHeight(125.0, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
        if line.kind is LineKind.CODE_HEADER:
            right = self._width - (line.depth + line.quote) * INDENT - 2 * CODE_PADDING
            form.setTabPositions([QTextOption.Tab(max(right - 1.0, 80.0), QTextOption.TabType.RightTab)])

    def _gap(self, line: Line, before: Line | None) -> float:
        if before is None:
            return CODE_OVERHANG if line.kind is LineKind.CODE_HEADER else 0.0
        if line.kind is LineKind.CODE:
            return 0.0
        gap = 3.0 if line.tight and (line.depth or before.depth) else 10.0
        if line.kind is LineKind.HEADING:
            gap = 18.0 if line.level <= 2 else 14.0
        for code in (line.kind is LineKind.CODE_HEADER, before.kind in (LineKind.CODE, LineKind.CODE_HEADER)):
            gap += CODE_OVERHANG * code
        return gap
