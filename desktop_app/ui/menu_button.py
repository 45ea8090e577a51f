"""A flat button that shows a value and opens a menu: the look that the pickers of the top bar share."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QMenu, QSizePolicy, QToolButton, QWidget

from desktop_app.ui.card import mix
from desktop_app.ui.icons import Icon, icon

_HEIGHT = 28
_PADDING = 10
_CHEVRON = 14
_RADIUS = 6.0


class MenuButton(QToolButton):
    """`shown` is shortened in the middle where room lacks; ends of model names tell most."""

    def __init__(self, parent: QWidget | None = None, *, characters_min: int, width_max: int) -> None:
        """At least `characters_min` average characters wide, at most `width_max` pixels."""
        super().__init__(parent)
        self._shown = ""
        self._characters_min = characters_min
        self._width_max = width_max
        self._menu = QMenu(self)
        self._menu.setToolTipsVisible(True)
        self.setMenu(self._menu)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    @property
    def shown(self) -> str:
        """What the button says, in full."""
        return self._shown

    def show_text(self, text: str) -> None:
        if text == self._shown:
            return
        self._shown = text
        self.setAccessibleDescription(text)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        wanted = self.fontMetrics().horizontalAdvance(self._shown) + self._frame_width() + 2
        return QSize(min(wanted, self._width_max), max(_HEIGHT, self.fontMetrics().height() + 10))

    def minimumSizeHint(self) -> QSize:
        narrow = self.fontMetrics().averageCharWidth() * self._characters_min + self._frame_width()
        wanted = self.sizeHint()
        return QSize(min(narrow, wanted.width()), wanted.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_ground(painter)
        group = QPalette.ColorGroup.Normal if self.isEnabled() else QPalette.ColorGroup.Disabled
        painter.setPen(self.palette().color(group, QPalette.ColorRole.ButtonText))
        area = self.rect().adjusted(_PADDING, 0, _PADDING - self._frame_width(), 0)
        text = self.fontMetrics().elidedText(self._shown, Qt.TextElideMode.ElideMiddle, area.width())
        painter.drawText(area, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), text)
        corner = QPoint(self.width() - _PADDING - _CHEVRON + 2, (self.height() - _CHEVRON) // 2)
        icon(Icon.CHEVRON_DOWN).paint(painter, QRect(corner, QSize(_CHEVRON, _CHEVRON)))

    def _paint_ground(self, painter: QPainter) -> None:
        palette = self.palette()
        window, text = palette.color(QPalette.ColorRole.Window), palette.color(QPalette.ColorRole.WindowText)
        lively = self.isEnabled() and (self.underMouse() or self._menu.isVisible())
        painter.setBrush(mix(palette.color(QPalette.ColorRole.Button), text, 0.06 if lively else 0.0))
        border = palette.color(QPalette.ColorRole.Highlight) if self.hasFocus() else mix(window, text, 0.18)
        painter.setPen(QPen(border, 1.0))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), _RADIUS, _RADIUS)

    def _frame_width(self) -> int:
        return 2 * _PADDING + _CHEVRON + 4
