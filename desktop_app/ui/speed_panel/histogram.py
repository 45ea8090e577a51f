"""How many rounds accepted 0, 1, 2 … drafted tokens. Paints what it is given."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from desktop_app.ui.speed_panel import tips, wording
from desktop_app.ui.speed_panel.painting import SMALL, scaled_font, tooltip
from desktop_app.ui.theme import Appearance

_BAR_LINES = 3.2
"""Height of the tallest bar in lines of the widget's font."""
_BAR_MAX = 28.0
_GAP = 4.0


class AcceptedHistogram(QWidget):
    """One bar for each number of accepted tokens, from 0 to γ."""

    def __init__(self, appearance: Appearance, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._appearance = appearance
        self._counts: tuple[int, ...] = ()
        self.setFont(scaled_font(self.font(), SMALL))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Rounds by drafted tokens accepted")
        self.setToolTip(tooltip(tips.HISTOGRAM))
        appearance.changed.connect(self.update)
        self.set_counts(())

    def set_counts(self, counts: tuple[int, ...]) -> None:
        """`counts[n]` rounds accepted n tokens; empty while there are none."""
        self._counts = counts
        self.setAccessibleDescription(wording.histogram_text(counts))
        self.update()

    def sizeHint(self) -> QSize:
        line = self.fontMetrics().height()
        return QSize(240, int(_BAR_LINES * line) + 2 * line + int(_GAP))

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        line = self.fontMetrics().height()
        plot = QRectF(0, line, self.width(), self.height() - 2 * line - _GAP / 2)
        painter.setPen(QPen(self._appearance.colours.disabled, 1.0))
        painter.drawLine(plot.bottomLeft(), plot.bottomRight())
        painter.setPen(self._appearance.colours.muted)
        if not self._counts:
            painter.drawText(plot, Qt.AlignmentFlag.AlignCenter, wording.UNKNOWN)
            return
        bars = self._bars(plot)
        self._paint_labels(painter, bars, plot.width() / len(bars))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._appearance.colours.accepted)
        for bar in bars:
            painter.drawRoundedRect(bar, 1.5, 1.5)

    def _bars(self, plot: QRectF) -> list[QRectF]:
        most, pitch = max(self._counts), plot.width() / len(self._counts)
        width = max(1.0, min(_BAR_MAX, pitch - _GAP))
        bars = []
        for accepted, rounds in enumerate(self._counts):
            height = plot.height() * rounds / most
            left = (accepted + 0.5) * pitch - width / 2
            bars.append(QRectF(left, plot.bottom() - height, width, height))
        return bars

    def _paint_labels(self, painter: QPainter, bars: list[QRectF], pitch: float) -> None:
        """Below each bar its number of accepted tokens, above it its rounds, as far as there is room."""
        step = self._label_step(pitch)
        metrics, line = self.fontMetrics(), self.fontMetrics().height()
        for accepted, (bar, rounds) in enumerate(zip(bars, self._counts, strict=True)):
            wide = QRectF(bar.center().x() - 2 * line, bar.top() - line, 4 * line, line)
            if rounds and metrics.horizontalAdvance(str(rounds)) < pitch:
                painter.drawText(wide, Qt.AlignmentFlag.AlignCenter, str(rounds))
            if accepted % step == 0:
                wide.moveTop(bar.bottom() + _GAP / 2)
                painter.drawText(wide, Qt.AlignmentFlag.AlignCenter, str(accepted))

    def _label_step(self, pitch: float) -> int:
        """Label every bar, or every second, fourth … where they stand too close."""
        room = self.fontMetrics().horizontalAdvance("00") + _GAP / 2
        step = 1
        while step < len(self._counts) and step * pitch < room:
            step *= 2
        return step
