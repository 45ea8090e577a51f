"""A toggle switch: a check box that looks like what it does. Paints itself from the palette; knows no services."""

from __future__ import annotations

from PySide6.QtCore import Property, QEasingCurve, QPropertyAnimation, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from desktop_app.ui.card import mix

_TRACK = QSize(36, 20)
_FOCUS_MARGIN = 3
_SLIDE_MS = 120


class Switch(QAbstractButton):
    """Checkable; `toggled` tells, Space and click flip it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setCheckable(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._place = 0.0
        self._slide = QPropertyAnimation(self, b"knob_place", self)
        self._slide.setDuration(_SLIDE_MS)
        self._slide.setEasingCurve(QEasingCurve.Type.OutCubic)
        self.toggled.connect(self._on_toggled)

    def sizeHint(self) -> QSize:
        margin = 2 * _FOCUS_MARGIN
        return _TRACK + QSize(margin, margin)

    def _get_place(self) -> float:
        return self._place

    def _set_place(self, place: float) -> None:
        self._place = place
        self.update()

    knob_place = Property(float, _get_place, _set_place)
    """Where the knob stands, from 0 (off) to 1 (on)."""

    def _on_toggled(self, checked: bool) -> None:
        end = 1.0 if checked else 0.0
        self._slide.stop()
        if not self.isVisible():
            self._set_place(end)
            return
        self._slide.setEndValue(end)
        self._slide.start()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if not self.isEnabled():
            painter.setOpacity(0.45)
        track = QRectF(_FOCUS_MARGIN, (self.height() - _TRACK.height()) / 2, _TRACK.width(), _TRACK.height())
        radius = track.height() / 2
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._track_colour())
        painter.drawRoundedRect(track, radius, radius)
        knob = track.height() - 4
        left = track.left() + 2 + self._place * (track.width() - knob - 4)
        painter.setBrush(QColor("white"))
        painter.drawEllipse(QRectF(left, track.top() + 2, knob, knob))
        if self.hasFocus():
            self._paint_focus(painter, track, radius)

    def _track_colour(self) -> QColor:
        palette = self.palette()
        off = mix(palette.color(QPalette.ColorRole.Window), palette.color(QPalette.ColorRole.WindowText), 0.35)
        return mix(off, palette.color(QPalette.ColorRole.Highlight), self._place)

    def _paint_focus(self, painter: QPainter, track: QRectF, radius: float) -> None:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(self.palette().color(QPalette.ColorRole.Highlight), 1.5))
        painter.drawRoundedRect(track.adjusted(-2, -2, 2, 2), radius + 2, radius + 2)
