"""The live chart: speed over the answer, and plain decoding as a dashed line. Paints what it is given."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from desktop_app.core.live_rate import RatePoint
from desktop_app.ui.speed_panel import axis, tips, wording
from desktop_app.ui.speed_panel.painting import SMALL, scaled_font, tooltip
from desktop_app.ui.theme import Appearance

_INTERVALS = 3
_PLOT_LINES = 6.5
"""Height of the plot in lines of its own font."""
_GAP = 6
_HEADROOM = 1.06
_EMPTY = "The course of the speed appears here"


class SpeedChart(QWidget):
    """Tokens per second against seconds of decoding."""

    def __init__(self, appearance: Appearance, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._appearance = appearance
        self._points: tuple[RatePoint, ...] = ()
        self._baseline: float | None = None
        self.setFont(scaled_font(self.font(), SMALL))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Speed over the answer")
        self.setToolTip(tooltip(tips.CHART))
        appearance.changed.connect(self.update)
        self._describe()

    def set_data(self, points: tuple[RatePoint, ...], baseline_tok_per_s: float | None) -> None:
        self._points = points
        self._baseline = baseline_tok_per_s
        self._describe()
        self.update()

    def sizeHint(self) -> QSize:
        line = self.fontMetrics().height()
        return QSize(240, int(_PLOT_LINES * line) + line + _GAP)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ticks = axis.ticks(self._top(), _INTERVALS)
        plot = self._plot_area(ticks)
        self._paint_axes(painter, plot, ticks)
        if not self._points:
            self._paint_empty(painter, plot)
        else:
            self._paint_course(painter, plot, ticks[-1])
        if self._baseline is not None:
            self._paint_baseline(painter, plot, ticks[-1], self._baseline)

    def _top(self) -> float:
        fastest = max((point.tok_per_s for point in self._points), default=0.0)
        return max(fastest, self._baseline or 0.0) * _HEADROOM

    def _plot_area(self, ticks: tuple[float, ...]) -> QRectF:
        metrics = self.fontMetrics()
        left = max(metrics.horizontalAdvance(_tick_text(tick)) for tick in ticks) + _GAP
        line = metrics.height()
        return QRectF(left, line / 2, max(1.0, self.width() - left - 3), self.height() - 1.5 * line - _GAP / 2)

    def _paint_axes(self, painter: QPainter, plot: QRectF, ticks: tuple[float, ...]) -> None:
        colours, line = self._appearance.colours, self.fontMetrics().height()
        for tick in ticks:
            y = _height_at(plot, tick, ticks[-1])
            painter.setPen(QPen(colours.disabled if tick == 0 else colours.border, 1.0))
            painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y))
            if self._top() > 0:
                painter.setPen(self._appearance.colours.muted)
                label = QRectF(0, y - line / 2, plot.left() - _GAP, line)
                painter.drawText(label, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, _tick_text(tick))
        if self._points:
            below = QRectF(plot.left(), plot.bottom() + _GAP / 2, plot.width(), line)
            painter.setPen(self._appearance.colours.muted)
            painter.drawText(below, Qt.AlignmentFlag.AlignLeft, "0 s")
            painter.drawText(below, Qt.AlignmentFlag.AlignRight, f"{self._points[-1].at_s:.1f} s")

    def _paint_empty(self, painter: QPainter, plot: QRectF) -> None:
        painter.setPen(self._appearance.colours.muted)
        flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
        painter.drawText(plot, int(flags), _EMPTY if self._baseline is None else "")

    def _paint_course(self, painter: QPainter, plot: QRectF, top: float) -> None:
        end_s = self._points[-1].at_s
        places = [
            QPointF(plot.left() + plot.width() * point.at_s / end_s, _height_at(plot, point.tok_per_s, top))
            for point in self._points
        ]
        course = QPainterPath(places[0])
        for place in places[1:]:
            course.lineTo(place)
        ground = QPainterPath(course)
        ground.lineTo(places[-1].x(), plot.bottom())
        ground.lineTo(places[0].x(), plot.bottom())
        line = self._appearance.colours.accent
        wash = QColor(line)
        wash.setAlphaF(0.12)
        painter.fillPath(ground, wash)
        painter.setPen(QPen(line, 1.6, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.BevelJoin))
        painter.drawPath(course)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(line)
        painter.drawEllipse(places[-1], 2.6, 2.6)

    def _paint_baseline(self, painter: QPainter, plot: QRectF, top: float, tok_per_s: float) -> None:
        y = _height_at(plot, tok_per_s, top)
        painter.setPen(QPen(self._appearance.colours.muted, 1.2, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y))
        self._paint_label(painter, plot, y, f"plain {wording.rate_text(tok_per_s)}")

    def _paint_label(self, painter: QPainter, plot: QRectF, y: float, text: str) -> None:
        """Beside the dashed line, on the side that the newest part of the course leaves free."""
        metrics = self.fontMetrics()
        box = QRectF(0, 0, metrics.horizontalAdvance(text) + 2 * _GAP, metrics.height())
        box.moveRight(plot.right())
        below = not self._ends_slower() and plot.bottom() - y > box.height() + 4
        box.moveTop(y + 2 if below else y - box.height() - 2)
        painter.setPen(self._appearance.colours.muted)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)

    def _ends_slower(self) -> bool:
        """Whether the last third of the course lies, in the mean, below the baseline."""
        if not self._points or self._baseline is None:
            return False
        newest_s = self._points[-1].at_s
        last = [point.tok_per_s for point in self._points if point.at_s >= newest_s * 2 / 3]
        return sum(last) / len(last) < self._baseline

    def _describe(self) -> None:
        now = self._points[-1].tok_per_s if self._points else None
        self.setAccessibleDescription(
            f"Latest {wording.rate_text(now)} tokens per second; plain {wording.rate_text(self._baseline)}"
        )


def _height_at(plot: QRectF, value: float, top: float) -> float:
    return plot.bottom() - plot.height() * value / top


def _tick_text(tick: float) -> str:
    return f"{tick:g}"
