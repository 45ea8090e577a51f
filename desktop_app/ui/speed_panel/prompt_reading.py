"""How the prompt was read: a sentence, and one about the draft where its cache spared something else."""

from __future__ import annotations

from PySide6.QtWidgets import QVBoxLayout, QWidget

from desktop_app.protocol.messages import Prefilling
from desktop_app.ui.speed_panel import wording
from desktop_app.ui.speed_panel.painting import tooltip
from desktop_app.ui.speed_panel.rows import MutedLabel


class PromptReading(QWidget):
    """Shows what it is given."""

    def __init__(self, tip: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._target = MutedLabel(wording.UNKNOWN, self)
        self._draft = MutedLabel("", self)
        self._draft.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        for label in (self._target, self._draft):
            label.setWordWrap(True)
            label.setAccessibleDescription(tip)
            layout.addWidget(label)
        self.setToolTip(tooltip(tip))

    @property
    def text(self) -> str:
        return "\n".join(label.text() for label in (self._target, self._draft) if label.text())

    def show_prefill(self, prefill: Prefilling | None) -> None:
        self._target.setText(wording.prompt_text(prefill))
        self._draft.setText(wording.draft_prompt_text(prefill))
        self._draft.setVisible(bool(self._draft.text()))
