"""The head of the speed panel: speed in large figures, speedup beside it, plain decoding below."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from desktop_app.services.turn import TurnState
from desktop_app.ui.speed_panel import tips, wording
from desktop_app.ui.speed_panel.figures import Figures
from desktop_app.ui.speed_panel.painting import SMALL, scaled_font, tooltip
from desktop_app.ui.speed_panel.rows import MutedLabel

_LARGE = 2.3


class Headline(QWidget):
    """Shows the speed of the moment while an answer streams, and its mean afterwards."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rate = self._large("Tokens per second", tips.RATE)
        self.speedup = self._large("Speedup", tips.SPEEDUP)
        self.speedup.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.rate_caption = MutedLabel(parent=self, scale=SMALL)
        self.rate_caption.setToolTip(tooltip(tips.RATE))
        self.speedup_caption = MutedLabel(parent=self, scale=SMALL)
        self.speedup_caption.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.speedup_caption.setToolTip(tooltip(tips.SPEEDUP))
        self.baseline = QLabel(parent=self)
        self.baseline.setToolTip(tooltip(tips.BASELINE))
        self.baseline.setAccessibleName("Plain decoding")
        self._lay_out()

    def show_figures(self, figures: Figures, state: TurnState | None) -> None:
        streaming = state is TurnState.STREAMING
        rate = figures.now_tok_per_s if streaming else figures.tok_per_s
        self.rate.setText(wording.rate_text(rate))
        self.rate_caption.setText(wording.rate_caption(figures, state))
        self.speedup.setText(wording.times_text(figures.speedup, digits=1))
        self.speedup_caption.setText("speedup" if figures.speedup is None else "plain speed")
        self.baseline.setText(wording.baseline_text(figures.baseline))

    def _large(self, name: str, tip: str) -> QLabel:
        label = QLabel(wording.UNKNOWN, self)
        label.setFont(scaled_font(self.font(), _LARGE, bold=True))
        label.setAccessibleName(name)
        label.setToolTip(tooltip(tip))
        return label

    def _lay_out(self) -> None:
        layout = QGridLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setVerticalSpacing(0)
        layout.setColumnStretch(0, 1)
        layout.addWidget(self.rate, 0, 0)
        layout.addWidget(self.speedup, 0, 1)
        layout.addWidget(self.rate_caption, 1, 0)
        layout.addWidget(self.speedup_caption, 1, 1)
        layout.setRowMinimumHeight(2, 8)
        layout.addWidget(self.baseline, 3, 0, 1, 2)
