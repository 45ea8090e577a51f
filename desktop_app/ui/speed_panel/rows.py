"""Labels of the speed panel: a figure with its words, a section's title. They show what they are given."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QWidget

from desktop_app.ui.speed_panel import wording
from desktop_app.ui.speed_panel.painting import SMALL, scaled_font, tooltip


class FigureRow(QWidget):
    """Words on the left, the figure on the right, its definition as tooltip."""

    def __init__(self, words: str, tip: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = MutedLabel(words, self)
        self._words.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._value = QLabel(wording.UNKNOWN, self)
        self._value.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._value.setFont(scaled_font(self.font(), 1.0, bold=True))
        self._value.setAccessibleName(words)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._words, 1)
        layout.addWidget(self._value)
        self.set_tip(tip)

    @property
    def text(self) -> str:
        return self._value.text()

    def set_text(self, text: str) -> None:
        self._value.setText(text)

    def set_tip(self, tip: str) -> None:
        self.setToolTip(tooltip(tip))
        self._value.setAccessibleDescription(tip)


class MutedLabel(QLabel):
    """Text that steps back behind the figures."""

    def __init__(self, text: str = "", parent: QWidget | None = None, *, scale: float = 1.0) -> None:
        super().__init__(text, parent)
        self.setFont(scaled_font(self.font(), scale))
        self.setForegroundRole(QPalette.ColorRole.PlaceholderText)


class SectionTitle(QLabel):
    """A small caption above a group of figures."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self.setFont(scaled_font(self.font(), SMALL, bold=True))
