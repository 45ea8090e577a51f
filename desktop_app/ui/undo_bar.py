"""A bar that offers to take back the last deletion for ten seconds."""

from __future__ import annotations

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from desktop_app.ui.card import Card
from desktop_app.ui.elided_label import ElidedLabel

OFFER_MS = 10_000


class UndoBar(Card):
    """`undo_requested` when the user wants it back; hides by itself when the offer ends."""

    undo_requested = Signal()
    expired = Signal()

    def __init__(self, parent: QWidget | None = None, *, offer_ms: int = OFFER_MS) -> None:
        super().__init__(parent, radius=8.0)
        self._label = ElidedLabel()
        self._undo = QPushButton("Undo")
        self._undo.setProperty("look", "plain")
        self._undo.setToolTip("Bring the chat back (Ctrl+Z in the chat list)")
        self._undo.setAccessibleName("Undo the deletion")
        self._undo.clicked.connect(self.undo)
        self._timer = QTimer(self, singleShot=True, interval=offer_ms)
        self._timer.timeout.connect(self._on_timeout)
        row = QHBoxLayout(self)
        row.setContentsMargins(10, 5, 5, 5)
        row.addWidget(self._label, 1)
        row.addWidget(self._undo)
        self.hide()

    @property
    def offering(self) -> bool:
        return self._timer.isActive()

    def offer(self, text: str) -> None:
        """Offer to undo what `text` says was done; a new offer replaces the old one."""
        self._label.set_text(text)
        self._timer.start()
        self.show()

    def undo(self) -> None:
        """Take the offer, if one stands."""
        if not self.offering:
            return
        self._timer.stop()
        self.hide()
        self.undo_requested.emit()

    def _on_timeout(self) -> None:
        self.hide()
        self.expired.emit()
