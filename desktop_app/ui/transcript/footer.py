"""The line under an answer: figures, each with its definition on hover, then what can be done with the answer."""

from __future__ import annotations

from html import escape

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt, Signal, SignalInstance
from PySide6.QtGui import QFont, QHelpEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QToolButton, QToolTip, QWidget

from desktop_app.ui.theme import Appearance, Space
from desktop_app.ui.transcript.wording import Figure

_SEPARATOR = "  ·  "


class Footer(QWidget):
    """Figures are painted, not widgets: a long chat has thousands of them."""

    copy_requested = Signal()
    regenerate_requested = Signal()

    def __init__(self, appearance: Appearance, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._appearance = appearance
        self._figures: tuple[Figure, ...] = ()
        self._places: list[QRect] = []
        font = QFont(self.font())
        font.setPointSizeF(font.pointSizeF() * 0.9)
        self.setFont(font)
        self._copy = self._button("Copy", "Copy the whole answer as plain text", self.copy_requested)
        self._regenerate = self._button("Regenerate", "Answer the same message again", self.regenerate_requested)
        appearance.changed.connect(self.update)

    def show_figures(self, figures: tuple[Figure, ...], *, repeatable: bool) -> None:
        self._figures = figures
        self._regenerate.setVisible(repeatable)
        self.setAccessibleName(", ".join(figure.text for figure in figures))
        self.update()

    def arrange(self, width: int) -> int:
        """Place figures and buttons within a width, wrapping; returns the height. Device-independent pixels."""
        metrics = self.fontMetrics()
        row, gap = metrics.height() + 2 * Space.XS, metrics.horizontalAdvance(_SEPARATOR)
        at = QPoint(0, 0)
        self._places = []
        for figure in self._figures:
            size = QSize(min(metrics.horizontalAdvance(figure.text) + 2, width), row)
            at = _next_row(at, size, width)
            self._places.append(QRect(at, size))
            at += QPoint(size.width() + gap, 0)
        buttons = [button for button in (self._copy, self._regenerate) if not button.isHidden()]
        widths = [button.sizeHint().width() for button in buttons]
        at = _next_row(at, QSize(sum(widths) + Space.XS * (len(widths) - 1), row), width)
        for button, button_width in zip(buttons, widths, strict=True):
            button.setGeometry(QRect(at, QSize(button_width, row)))
            at += QPoint(button_width + Space.XS, 0)
        return at.y() + row

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(self._appearance.colours.muted)
        metrics = self.fontMetrics()
        middle = Qt.AlignmentFlag.AlignVCenter
        for index, (figure, place) in enumerate(zip(self._figures, self._places, strict=False)):
            painter.drawText(place, middle, metrics.elidedText(figure.text, Qt.TextElideMode.ElideRight, place.width()))
            following = self._places[index + 1] if index + 1 < len(self._places) else None
            if following is not None and following.y() == place.y():
                painter.drawText(place.translated(place.width(), 0), middle, _SEPARATOR)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), self.tip_at(event.pos()), self)
            return True
        return super().event(event)

    def tip_at(self, point: QPoint) -> str:
        """HTML of the definition under a point, empty where no figure is."""
        for figure, place in zip(self._figures, self._places, strict=False):
            if place.contains(point):
                return f"<b>{escape(figure.text)}</b><br>{escape(figure.tip)}"
        return ""

    def _button(self, text: str, tip: str, clicked: SignalInstance) -> QToolButton:
        button = QToolButton(self)
        button.setText(text)
        button.setToolTip(tip)
        button.setProperty("role", "quiet")
        button.setFont(self.font())
        button.setCursor(Qt.CursorShape.PointingHandCursor)
        button.clicked.connect(clicked)
        return button


def _next_row(at: QPoint, size: QSize, width: int) -> QPoint:
    return QPoint(0, at.y() + size.height()) if at.x() and at.x() + size.width() > width else at
