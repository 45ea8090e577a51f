"""The stacked bar that shows where the time goes, with its key. Paints what it is given."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from desktop_app.ui.speed_panel import tips, wording
from desktop_app.ui.speed_panel.figures import Shares
from desktop_app.ui.speed_panel.painting import tooltip
from desktop_app.ui.theme import Appearance

_BAR = 10
_SEAM = 1.5
_SWATCH = 9
_GAP = 8
_COLUMNS = 2
_NAMES = ("draft", "verify", "sample", "rest")


class ShareBar(QWidget):
    """Draft, verify, sample and rest as parts of one bar; the key below names them in the same order."""

    def __init__(self, appearance: Appearance, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._appearance = appearance
        self._shares: Shares | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Where the time goes")
        self.setToolTip(tooltip(tips.SHARES))
        appearance.changed.connect(self.update)
        self.set_shares(None)

    def set_shares(self, shares: Shares | None) -> None:
        self._shares = shares
        self.setAccessibleDescription(wording.shares_text(shares))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(240, _BAR + _GAP + 2 * self._line_height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_bar(painter)
        for place, (name, colour, share) in enumerate(self._parts()):
            self._paint_key(painter, place, name, colour, share)

    def _parts(self) -> tuple[tuple[str, QColor, float | None], ...]:
        shares = self._shares
        fractions = (shares.draft, shares.verify, shares.sample, shares.rest) if shares else (None,) * 4
        return tuple(zip(_NAMES, self._appearance.colours.shares, fractions, strict=True))

    def _paint_bar(self, painter: QPainter) -> None:
        bar = QRectF(0, 0, self.width(), _BAR)
        outline = QPainterPath()
        outline.addRoundedRect(bar, _BAR / 2, _BAR / 2)
        painter.save()
        painter.setClipPath(outline)
        painter.fillRect(bar, self._appearance.colours.border)
        left = 0.0
        for _, colour, share in self._parts():
            width = bar.width() * (share or 0.0)
            painter.fillRect(QRectF(left, 0, max(0.0, width - _SEAM), _BAR), colour)
            left += width
        painter.restore()

    def _paint_key(self, painter: QPainter, place: int, name: str, colour: QColor, share: float | None) -> None:
        row, column = divmod(place, _COLUMNS)
        line = self._line_height()
        gutter = 2 * _GAP
        width = (self.width() - gutter * (_COLUMNS - 1)) / _COLUMNS
        cell = QRectF(column * (width + gutter), _BAR + _GAP + row * line, width, line)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        painter.drawRoundedRect(QRectF(cell.left(), cell.center().y() - _SWATCH / 2, _SWATCH, _SWATCH), 2, 2)
        text = cell.adjusted(_SWATCH + _GAP, 0, 0, 0)
        painter.setPen(self._appearance.colours.muted)
        painter.drawText(text, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, name)
        painter.setPen(self._appearance.colours.text)
        painter.drawText(text, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, wording.percent_text(share))

    def _line_height(self) -> int:
        return self.fontMetrics().height() + 4
