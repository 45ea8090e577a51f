"""The quiet line above the first turn that is still in the context."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QWidget

from desktop_app.ui.theme import Appearance, Space

_SHORTEST_RULE = 12
"""A rule shorter than this, in device-independent pixels, is not worth drawing."""


class ContextLine(QLabel):
    """Words in the middle of a thin rule. Place it with `height_for_width`."""

    def __init__(self, appearance: Appearance, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._appearance = appearance
        font = QFont(self.font())
        font.setPointSizeF(font.pointSizeF() * 0.9)
        self.setFont(font)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setProperty("role", "muted")
        self.setWordWrap(True)
        self.setToolTip("What stands above this line is kept in the chat, but the model does not see it any more")

    def height_for_width(self, width: int) -> int:
        return self.heightForWidth(width) + 2 * Space.XS

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        rule = (self.width() - self.fontMetrics().horizontalAdvance(self.text())) // 2 - Space.M
        if rule < _SHORTEST_RULE:
            return
        painter = QPainter(self)
        painter.setPen(self._appearance.colours.border)
        middle = self.height() // 2
        painter.drawLine(0, middle, rule, middle)
        painter.drawLine(self.width() - rule, middle, self.width() - 1, middle)
