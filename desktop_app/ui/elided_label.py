"""A line of text that shortens itself with an ellipsis and keeps the whole in its tooltip."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

_CHARACTERS_MIN = 6


class ElidedLabel(QLabel):
    """`text()` is always the whole text; only the painting is shortened."""

    def __init__(self, parent: QWidget | None = None, *, elide: Qt.TextElideMode = Qt.TextElideMode.ElideRight) -> None:
        super().__init__(parent)
        self._elide = elide
        self._explanation = ""
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)

    def set_text(self, text: str, explanation: str = "") -> None:
        """`explanation` goes into the tooltip; without one the tooltip is the text, where it is shortened."""
        self._explanation = explanation
        self.setText(text)
        self._refresh_tooltip()

    @property
    def shown_text(self) -> str:
        return self.fontMetrics().elidedText(self.text(), self._elide, self.contentsRect().width())

    def minimumSizeHint(self) -> QSize:
        narrow = self.fontMetrics().averageCharWidth() * _CHARACTERS_MIN
        return QSize(min(narrow, super().sizeHint().width()), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._refresh_tooltip()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        self.style().drawItemText(
            painter,
            self.contentsRect(),
            int(self.alignment()),
            self.palette(),
            self.isEnabled(),
            self.shown_text,
            self.foregroundRole(),
        )

    def _refresh_tooltip(self) -> None:
        shortened = self.shown_text != self.text()
        parts = [self.text()] if shortened else []
        if self._explanation:
            parts.append(self._explanation)
        self.setToolTip("\n".join(parts))
