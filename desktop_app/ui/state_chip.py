"""The one chip that says whether speculation runs and, if not, why. Shows what it is given; decides nothing."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPaintEvent, QPalette, QPen, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from desktop_app.ui.card import mix

_HEIGHT = 26
_DOT = 8
_PADDING = 10
_GAP = 7
_CHARACTERS_MIN = 24
_WIDTH_MAX = 340
"""A long reason must not crowd out the names of the models; it stands in full in the tooltip."""


class StateChip(QWidget):
    """A dot, a text that is shortened where it must be, and behind both the progress of a load."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text = ""
        self._detail = ""
        self._colour = QColor(Qt.GlobalColor.gray)
        self._fraction: float | None = None
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAccessibleName("Speculation state")

    @property
    def text(self) -> str:
        return self._text

    @property
    def fraction(self) -> float | None:
        """Progress of the load that is shown, from 0 to 1, or None."""
        return self._fraction

    def show_state(self, text: str, detail: str, colour: QColor) -> None:
        self._text, self._detail, self._colour = text, detail, colour
        self._fraction = None
        self._refresh()

    def show_progress(self, text: str, detail: str, fraction: float) -> None:
        """A load is under way; `fraction` runs from 0 to 1."""
        self._text, self._detail = text, detail
        self._fraction = min(1.0, max(0.0, fraction))
        self._refresh()

    def sizeHint(self) -> QSize:
        wanted = self._text_left() + self.fontMetrics().horizontalAdvance(self._text) + _PADDING + 2
        return QSize(min(wanted, _WIDTH_MAX), _HEIGHT)

    def minimumSizeHint(self) -> QSize:
        narrow = self._text_left() + _CHARACTERS_MIN * self.fontMetrics().averageCharWidth() + _PADDING
        return QSize(min(narrow, self.sizeHint().width()), _HEIGHT)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._refresh_tooltip()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        outline = QPainterPath()
        outline.addRoundedRect(area, area.height() / 2, area.height() / 2)
        self._paint_ground(painter, outline, area)
        self._paint_dot(painter, area)
        painter.setPen(self.palette().color(QPalette.ColorRole.WindowText))
        left = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)
        painter.drawText(self._text_area(), left, self._shown())

    def _paint_ground(self, painter: QPainter, outline: QPainterPath, area: QRectF) -> None:
        palette = self.palette()
        window = palette.color(QPalette.ColorRole.Window)
        highlight = palette.color(QPalette.ColorRole.Highlight)
        painter.fillPath(outline, mix(window, self._colour if self._fraction is None else highlight, 0.10))
        if self._fraction is not None:
            painter.save()
            painter.setClipPath(outline)
            done = QRectF(area.left(), area.top(), area.width() * self._fraction, area.height())
            painter.fillRect(done, mix(window, highlight, 0.35))
            painter.restore()
        border = highlight if self.hasFocus() else mix(window, palette.color(QPalette.ColorRole.WindowText), 0.22)
        painter.setPen(QPen(border, 1.0))
        painter.drawPath(outline)

    def _paint_dot(self, painter: QPainter, area: QRectF) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        working = self._fraction is not None
        painter.setBrush(self.palette().color(QPalette.ColorRole.Highlight) if working else self._colour)
        painter.drawEllipse(QRectF(_PADDING, area.center().y() - _DOT / 2, _DOT, _DOT))

    def _text_left(self) -> int:
        return _PADDING + _DOT + _GAP

    def _text_area(self) -> QRectF:
        return QRectF(self.rect()).adjusted(self._text_left(), 0, -_PADDING, 0)

    def _shown(self) -> str:
        width = int(self._text_area().width())
        return self.fontMetrics().elidedText(self._text, Qt.TextElideMode.ElideRight, width)

    def _refresh(self) -> None:
        self.setAccessibleDescription(" ".join(part for part in (self._text, self._detail) if part))
        self._refresh_tooltip()
        self.updateGeometry()
        self.update()

    def _refresh_tooltip(self) -> None:
        parts = [self._text] if self._shown() != self._text or not self._detail else []
        if self._detail:
            parts.append(self._detail)
        self.setToolTip("\n".join(parts))
