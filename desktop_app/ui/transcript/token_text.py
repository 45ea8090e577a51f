"""An answer's text on screen: Markdown rendered, tokens coloured, selectable, as tall as it needs to be.

Paints from an `Answer` and never changes it. Loads nothing: no images, no style sheets, no links without a click.
"""

from __future__ import annotations

from time import perf_counter

from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, QRect, QRectF, Qt, QUrl
from PySide6.QtGui import (
    QDesktopServices,
    QGuiApplication,
    QHelpEvent,
    QPainter,
    QPaintEvent,
    QTextCursor,
    QTextLine,
)
from PySide6.QtWidgets import QToolTip, QWidget

from desktop_app.core.answer import Answer
from desktop_app.core.rounds import Kind
from desktop_app.ui.theme import Appearance
from desktop_app.ui.transcript.document import LineDocument
from desktop_app.ui.transcript.flow_text import FlowText
from desktop_app.ui.transcript.formats import COPY_SCHEME, INDENT, Formats, is_safe_link
from desktop_app.ui.transcript.markdown import MarkdownReader
from desktop_app.ui.transcript.marks import Mark, Marks
from desktop_app.ui.transcript.painting import Grounds, paint_frames, paint_tints, paint_underlines
from desktop_app.ui.transcript.tooltip import token_tooltip
from desktop_app.ui.transcript.weave import Piece, weave

SLICE_CHARS = 1200
"""Characters that one call of `advance` renders, a few milliseconds of work."""

_IN_TEXT = frozenset({Kind.REJECTED, Kind.DISCARDED})
"""Kinds whose being hidden changes the text itself."""


class TokenText(FlowText):
    """Renders one answer, in slices where it is long already."""

    def __init__(
        self, answer: Answer, appearance: Appearance, hidden: frozenset[Kind], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setAccessibleName("Answer")
        self.document().setIndentWidth(INDENT)
        self._answer = answer
        self._appearance = appearance
        self._hidden = hidden
        self._reader = MarkdownReader()
        self._rendered_chars = 0
        self._rendered_rounds = 0
        self._stale = False
        self._points_at: int | None = None
        self.paint_s = 0.0
        """Seconds that the last repaint took."""
        self._lines = LineDocument(self.document(), self._formats())
        self._marks = Marks(self.document(), self._lines)
        self._marks.hide(hidden)
        appearance.changed.connect(self._on_appearance_changed)
        self.anchorClicked.connect(self._on_anchor_clicked)

    @property
    def complete(self) -> bool:
        """Whether everything that the answer shows so far is rendered, as it should look now."""
        rounds, visible = len(self._answer.rounds), self._answer.visible
        return not self._stale and (self._rendered_chars, self._rendered_rounds) == (visible, rounds)

    def advance(self, slice_chars: int = SLICE_CHARS) -> bool:
        """Render up to `slice_chars` more characters; True once complete."""
        if self._stale:
            self._rewrite()
            return self.complete
        shown = self._answer.shown
        if len(shown) < self._rendered_chars:
            self._reader, self._rendered_chars = MarkdownReader(), 0
        end = min(len(shown), self._rendered_chars + slice_chars)
        self._weave(self._reader.read(shown[:end]), end)
        self._rendered_rounds = len(self._answer.rounds) if end == len(shown) else 0
        return self.complete

    def set_hidden(self, hidden: frozenset[Kind]) -> None:
        """Kinds without colour; rejected and discarded tokens leave the text at the next `advance`."""
        self._stale = self._stale or hidden & _IN_TEXT != self._hidden & _IN_TEXT
        self._hidden = hidden
        self._marks.hide(hidden)
        self.viewport().update()

    def point_out(self, offset: int | None) -> None:
        """Frame the token that wrote the character at `offset`, or else the first one behind it that can be seen."""
        self._points_at = offset
        self._find_pointed_out()

    @property
    def pointed_out(self) -> Piece | None:
        """What is framed; None where nothing is."""
        index = self._pointed_out_index()
        return None if index is None else self._lines.positions.pieces[index]

    def place_pointed_out(self) -> QRect | None:
        """Where the framed piece begins, as the rectangle of a cursor in the viewport."""
        index = self._pointed_out_index()
        if index is None:
            return None
        cursor = QTextCursor(self.document())
        cursor.setPosition(self._lines.positions.starts[index])
        return self.cursorRect(cursor)

    def height_for_width(self, width: int) -> int:
        if self.lineWrapColumnOrWidth() != width:
            self._lines.set_width(width)
            self._marks.forget()
        return super().height_for_width(width)

    def piece_at(self, point: QPoint) -> Piece | None:
        """The piece under a point of the viewport."""
        position = self._position_at(QPointF(point))
        return self._lines.positions.at(position) if position is not None else None

    def tip_at(self, point: QPoint) -> str:
        """HTML about the token under a point of the viewport; empty where there is none."""
        piece = self.piece_at(point)
        return token_tooltip(piece.placed, piece.style.href) if piece and piece.placed else ""

    def marks_in(self, area: QRectF) -> list[Mark]:
        """What is painted for tokens within an area of the viewport."""
        visible = self._marks.visible(area)
        return [mark for block, rect in visible for mark in self._marks.of(block, rect).marks]

    def createMimeDataFromSelection(self) -> QMimeData:  # noqa: N802 - Qt's name
        """Selected text as plain text, without the refused tokens in it."""
        selected, plain = self.textCursor(), QTextCursor(self.document())
        texts: list[str] = []
        at = selected.selectionStart()
        refused = [part for part in self._lines.positions.between(at, selected.selectionEnd()) if part[2].refused]
        for begin, end in (*((begin, end) for begin, end, _ in refused), (selected.selectionEnd(), 0)):
            if begin > at:
                plain.setPosition(at)
                plain.setPosition(begin, QTextCursor.MoveMode.KeepAnchor)
                texts.append(plain.selection().toPlainText())
            at = end
        data = QMimeData()
        data.setText("".join(texts))
        return data

    def paintEvent(self, event: QPaintEvent) -> None:
        started = perf_counter()
        colours, area = self._appearance.colours, QRectF(event.rect())
        blocks = list(self._marks.visible(area))
        marks = [self._marks.of(block, rect) for block, rect in blocks]
        under = QPainter(self.viewport())
        under.setRenderHint(QPainter.RenderHint.Antialiasing)
        Grounds(under, self._lines, colours, self.document().textWidth()).paint(blocks)
        under.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        paint_tints(under, marks, colours)
        under.end()
        super().paintEvent(event)
        over = QPainter(self.viewport())
        over.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_underlines(over, marks, colours)
        paint_frames(over, marks, colours)
        over.end()
        self.paint_s = perf_counter() - started

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), self.tip_at(event.pos()), self.viewport())
            return True
        return super().viewportEvent(event)

    def _position_at(self, point: QPointF) -> int | None:
        layout = self.document().documentLayout()
        near = layout.hitTest(point, Qt.HitTestAccuracy.ExactHit)
        if near < 0:
            return None
        block = self.document().findBlock(near)
        line = block.layout().lineForTextPosition(near - block.position())
        if not line.isValid():
            return None
        x = point.x() - layout.blockBoundingRect(block).left()
        return block.position() + int(line.xToCursor(x, QTextLine.CursorPosition.CursorOnCharacter))

    def _weave(self, first: int, shown: int) -> None:
        woven = list(weave(self._answer, self._reader.lines, first, shown, self._hidden))
        self._marks.forget(self._lines.update(first, self._reader.lines, woven))
        self._rendered_chars = shown
        if self._points_at is not None:
            self._find_pointed_out()

    def _find_pointed_out(self) -> None:
        piece = self.pointed_out
        self._marks.point_out(piece.placed if piece else None)
        self.viewport().update()

    def _pointed_out_index(self) -> int | None:
        """Markdown may hide the very token, so that another one stands in for it."""
        offset = self._points_at
        if offset is None:
            return None
        pieces = enumerate(self._lines.positions.pieces)
        shown = ((index, piece.placed) for index, piece in pieces if piece.placed is not None and not piece.refused)
        return next((index for index, placed in shown if placed.end > offset), None)

    def _rewrite(self) -> None:
        self._stale = False
        self._lines.clear(self._formats())
        self._weave(0, self._rendered_chars)

    def _formats(self) -> Formats:
        return Formats(self.font(), self._appearance.colours)

    def _on_appearance_changed(self) -> None:
        self._stale = True

    def _on_anchor_clicked(self, url: QUrl) -> None:
        if url.scheme() == COPY_SCHEME:
            QGuiApplication.clipboard().setText(self._lines.code_under(int(url.path())))
        elif is_safe_link(url.toString()):
            QDesktopServices.openUrl(url)
