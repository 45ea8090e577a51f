"""A quiet label that takes the theme's warning colours where its words call for it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from desktop_app.ui.words import Tone, Words


class ToneLabel(QLabel):
    """Muted while its tone is calm."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setProperty("role", "muted")
        self._tone = Tone.CALM

    @property
    def tone(self) -> Tone:
        return self._tone

    def show_words(self, words: Words) -> None:
        self.setText(words.text)
        if words.tone is not self._tone:
            self._tone = words.tone
            self.setProperty("role", "muted" if words.tone is Tone.CALM else "")
            self.setProperty("tone", str(words.tone))
            # Qt reads the properties in a style sheet's selectors only when a widget is polished.
            self.style().polish(self)
