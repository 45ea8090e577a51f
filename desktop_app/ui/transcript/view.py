"""The transcript with its legend below: what the window's centre shows of a chat."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from desktop_app.core.rounds import Kind
from desktop_app.services.turn import ChatView, Turn
from desktop_app.ui.theme import Appearance, Space
from desktop_app.ui.transcript.legend import Legend
from desktop_app.ui.transcript.transcript import Transcript

DEFAULT_HIDDEN = frozenset({Kind.DISCARDED})


class TranscriptView(QWidget):
    """Passes turns on and keeps legend and transcript in step."""

    regenerate_requested = Signal(int)  # id of the answer's message
    hidden_kinds_changed = Signal(object)  # frozenset[Kind] that the user hid one by one
    colours_toggled = Signal(bool)

    def __init__(
        self, appearance: Appearance, hidden: frozenset[Kind] = DEFAULT_HIDDEN, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.legend = Legend(appearance, hidden)
        self.transcript = Transcript(appearance, hidden)
        self._last: Turn | None = None
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.transcript, 1)
        row = QVBoxLayout()
        row.setContentsMargins(Space.XL, 0, Space.XL, 0)
        row.addWidget(self.legend)
        column.addLayout(row)
        self.legend.hidden_kinds_changed.connect(self._on_hidden_kinds_changed)
        self.transcript.frame_shown.connect(self._show_counts)
        self.transcript.regenerate_requested.connect(self.regenerate_requested)

    def show_chat(self, view: ChatView) -> None:
        self._last = view.turns[-1] if view.turns else None
        self.transcript.show_chat(view)
        self._show_counts()

    def start_turn(self, turn: Turn) -> None:
        self._last = turn
        self.transcript.start_turn(turn)
        self._show_counts()

    def update_turn(self, turn: Turn) -> None:
        self.transcript.update_turn(turn)

    def end_turn(self, turn: Turn) -> None:
        self.transcript.end_turn(turn)

    def set_colours_shown(self, shown: bool) -> None:
        self.legend.show_colours(shown=shown)

    def _show_counts(self) -> None:
        self.legend.show_counts(self._last.answer.tally.counts if self._last else None)

    def _on_hidden_kinds_changed(self, hidden: frozenset[Kind]) -> None:
        self.transcript.set_hidden(hidden)
        self.colours_toggled.emit(self.legend.colours_shown)
        self.hidden_kinds_changed.emit(self.legend.chosen_kinds)
