"""A rounded surface with a thin border, the ground of composer, banner and bars. Colours come from the palette."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRectF
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QFrame, QWidget

_RADIUS = 10.0


class Card(QFrame):
    """An accent colours the border and, where wanted, tints the ground."""

    def __init__(self, parent: QWidget | None = None, *, radius: float = _RADIUS) -> None:
        super().__init__(parent)
        self._radius = radius
        self._accent: QColor | None = None
        self._tinted = False

    def set_accent(self, accent: QColor | None, *, tinted: bool) -> None:
        self._accent, self._tinted = accent, tinted
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ground = self.palette().color(QPalette.ColorRole.Base)
        painter.setBrush(mix(ground, self._accent, 0.10) if self._accent is not None and self._tinted else ground)
        painter.setPen(QPen(self._border(), 1.0))
        area = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.drawRoundedRect(area, self._radius, self._radius)

    def _border(self) -> QColor:
        palette = self.palette()
        window = palette.color(QPalette.ColorRole.Window)
        if self._accent is not None:
            return mix(window, self._accent, 0.7)
        return mix(window, palette.color(QPalette.ColorRole.WindowText), 0.22)


class FieldCard(Card):
    """The ground of a text field that has no frame of its own: its border tells where the keys go."""

    def surround(self, field: QWidget) -> None:
        field.installEventFilter(self)

    def eventFilter(self, _field: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            focused = event.type() == QEvent.Type.FocusIn
            self.set_accent(self.palette().color(QPalette.ColorRole.Highlight) if focused else None, tinted=False)
        return False


def mix(ground: QColor, colour: QColor, part: float) -> QColor:
    """`part` of colour, from 0 to 1, over the ground."""
    rest = 1.0 - part
    return QColor.fromRgbF(
        rest * ground.redF() + part * colour.redF(),
        rest * ground.greenF() + part * colour.greenF(),
        rest * ground.blueF() + part * colour.blueF(),
    )
