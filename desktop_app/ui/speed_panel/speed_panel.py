"""The speed panel: how fast the answer is, against plain decoding, and why. Reads a turn, changes nothing.

Paints at most ten times a second, however fast rounds arrive, and not at all while hidden.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QScrollArea, QToolButton, QVBoxLayout, QWidget

from desktop_app.core.facts import Costs
from desktop_app.core.live_rate import LiveRate
from desktop_app.core.metrics import Tally
from desktop_app.core.settings import Speculation
from desktop_app.services.turn import Turn, TurnState
from desktop_app.ui.icons import Icon, icon
from desktop_app.ui.speed_panel import tips, wording
from desktop_app.ui.speed_panel.bars import ShareBar
from desktop_app.ui.speed_panel.chart import SpeedChart
from desktop_app.ui.speed_panel.figures import Figures, compute_figures
from desktop_app.ui.speed_panel.headline import Headline
from desktop_app.ui.speed_panel.histogram import AcceptedHistogram
from desktop_app.ui.speed_panel.prompt_reading import PromptReading
from desktop_app.ui.speed_panel.rows import FigureRow, SectionTitle
from desktop_app.ui.theme import Appearance, Space

REFRESH_MS = 100
_WIDTH_MIN = 240


class SpeedPanel(QWidget):
    """Follows one turn at a time; the window says which."""

    fold_requested = Signal()

    def __init__(self, appearance: Appearance, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._turn: Turn | None = None
        self._rate = LiveRate()
        self._rounds_seen = 0
        self._costs: Costs | None = None
        self._turn_costs: Costs | None = None
        self._speculation = Speculation()
        self._figures = Figures()
        self._stale = False
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(REFRESH_MS)
        self._pause.timeout.connect(self._on_pause_over)
        self._build(appearance)
        self._refresh()

    @property
    def figures(self) -> Figures:
        """The figures as last shown."""
        return self._figures

    def clear(self) -> None:
        """No answer to show; what is known about the pair stays."""
        self._follow(None)

    def start_turn(self, turn: Turn) -> None:
        """Follow this turn from its first round, however many it has already."""
        self._follow(turn)

    def update_turn(self, turn: Turn) -> None:
        """The turn has grown; shown now or within a tenth of a second."""
        if turn is not self._turn:
            self._follow(turn)
            return
        self._stale = True
        if not self._pause.isActive():
            self._refresh()
            self._pause.start()

    def end_turn(self, turn: Turn) -> None:
        """The turn will not grow any more: shown at once."""
        if turn is self._turn:
            self._refresh()
        else:
            self._follow(turn)

    def set_costs(self, costs: Costs | None) -> None:
        """What the calibration measured, in seconds; None when another pair is loaded."""
        self._costs = costs
        self._choose_costs()
        self._refresh()

    def set_speculation(self, speculation: Speculation) -> None:
        """How the next answer will be drafted, shown while there is none."""
        self._speculation = speculation
        self._refresh()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._refresh()

    def _on_pause_over(self) -> None:
        if self._stale:
            self._refresh()
            self._pause.start()

    def _follow(self, turn: Turn | None) -> None:
        self._turn = turn
        self._turn_costs = None
        self._rate = LiveRate()
        self._rounds_seen = 0
        self._choose_costs()
        self._pause.stop()
        self._refresh()

    def _choose_costs(self) -> None:
        """The calibration of the pair in memory says nothing about an answer that ended before it."""
        if self._turn is None or not self._turn.state.ended:
            self._turn_costs = self._costs

    def _refresh(self) -> None:
        self._stale = False
        turn = self._turn
        if turn is not None:
            self._take_rounds(turn)
        streaming = turn is not None and turn.state is TurnState.STREAMING
        self._figures = compute_figures(
            turn.answer.tally if turn else Tally(),
            now_tok_per_s=self._rate.now if streaming else None,
            baseline=turn.baseline if turn else None,
            costs=self._turn_costs,
            speculation=turn.settings.speculation if turn else self._speculation,
        )
        if self.isVisible():
            self._show_figures(self._figures, turn.state if turn else None)
            self._prompt.show_prefill(turn.prefill if turn else None)

    def _take_rounds(self, turn: Turn) -> None:
        for round_ in turn.answer.rounds[self._rounds_seen :]:
            self._rate.add(round_)
        self._rounds_seen = len(turn.answer.rounds)

    def _show_figures(self, figures: Figures, state: TurnState | None) -> None:
        self._headline.show_figures(figures, state)
        self._chart.set_data(self._rate.points, figures.baseline.tok_per_s if figures.baseline else None)
        self._acceptance.set_text(wording.number_text(figures.acceptance_rate))
        self._acceptance.set_tip(tips.acceptance(figures))
        self._tokens_per_pass.set_text(wording.number_text(figures.tokens_per_pass))
        self._draft_cost.set_text(wording.number_text(figures.draft_cost))
        self._draft_cost.set_tip(tips.draft_cost(figures))
        self._gamma.set_text(wording.gamma_text(figures))
        self._shares.set_shares(figures.shares)
        self._histogram.set_counts(figures.accepted_per_round)
        self._predicted.set_text(wording.times_text(figures.predicted_speedup))
        self._measured.set_text(wording.times_text(figures.speedup))

    def _build(self, appearance: Appearance) -> None:
        self.setMinimumWidth(_WIDTH_MIN)
        self._headline = Headline(self)
        self._chart = SpeedChart(appearance, self)
        self._acceptance = FigureRow("accepted  α", tips.acceptance(self._figures), self)
        self._tokens_per_pass = FigureRow("tokens per target pass", tips.YIELD, self)
        self._draft_cost = FigureRow("cost of a draft token  c", tips.draft_cost(self._figures), self)
        self._gamma = FigureRow("drafted per round  γ", tips.GAMMA, self)
        self._prompt = PromptReading(tips.PROMPT, self)
        self._shares = ShareBar(appearance, self)
        self._histogram = AcceptedHistogram(appearance, self)
        self._predicted = FigureRow("by the cost model", tips.PREDICTED, self)
        self._measured = FigureRow("measured", tips.MEASURED, self)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(self._header())
        layout.addWidget(_scrolled(self._body()), 1)

    def _header(self) -> QHBoxLayout:
        title = QLabel("Speed", self)
        title.setProperty("role", "title")
        fold = QToolButton(self)
        fold.setProperty("role", "quiet")
        fold.setIcon(icon(Icon.PANEL))
        fold.setToolTip("Fold the speed panel away")
        fold.setAccessibleName("Fold the speed panel away")
        fold.clicked.connect(self.fold_requested)
        header = QHBoxLayout()
        header.setContentsMargins(Space.L, Space.S, Space.S, 0)
        header.addWidget(title, 1)
        header.addWidget(fold)
        return header

    def _body(self) -> QWidget:
        body = QWidget(self)
        layout = QVBoxLayout(body)
        layout.setContentsMargins(Space.L, Space.XS, Space.L, Space.L)
        layout.setSpacing(Space.XS)
        sections: tuple[tuple[str, tuple[QWidget, ...]], ...] = (
            ("", (self._headline,)),
            ("", (self._chart,)),
            ("", (self._acceptance, self._tokens_per_pass, self._draft_cost, self._gamma)),
            ("Prompt", (self._prompt,)),
            ("Where the time goes", (self._shares,)),
            ("Rounds by drafted tokens accepted", (self._histogram,)),
            ("Speedup", (self._predicted, self._measured)),
        )
        for title, widgets in sections:
            if title:
                layout.addWidget(SectionTitle(title, body))
            for widget in widgets:
                layout.addWidget(widget)
            layout.addSpacing(Space.M)
        layout.addStretch(1)
        return body


def _scrolled(body: QWidget) -> QScrollArea:
    """A low window scrolls the panel instead of squeezing it."""
    area = QScrollArea()
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setWidgetResizable(True)
    area.setWidget(body)
    area.viewport().setAutoFillBackground(False)
    body.setAutoFillBackground(False)
    return area
