"""The app's icons: line drawings from `resources/icons`, in the colours of the palette in force.

A drawing is tinted when it is painted, so icons follow a change of theme by themselves.
"""

from __future__ import annotations

from enum import StrEnum
from functools import cache

from PySide6.QtCore import QByteArray, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QGuiApplication, QIcon, QIconEngine, QPainter, QPalette, QPixmap
from PySide6.QtSvg import QSvgRenderer

from desktop_app.library.paths import resource


class Icon(StrEnum):
    """Each value names its file."""

    CHECK = "check"
    CHEVRON_DOWN = "chevron-down"
    CLOSE = "close"
    COPY = "copy"
    DELETE = "delete"
    NEW_CHAT = "new-chat"
    PANEL = "panel"
    REGENERATE = "regenerate"
    RENAME = "rename"
    SEARCH = "search"
    SEND = "send"
    SETTINGS = "settings"
    SIDEBAR = "sidebar"
    STOP = "stop"


def icon(which: Icon) -> QIcon:
    """Sharp at every size and scale; greyed where its button is disabled."""
    return QIcon(_TintedEngine(which))


def app_icon() -> QIcon:
    """The icon of the window and the task bar."""
    return QIcon(str(resource("icons/draftglass.svg")))


class _TintedEngine(QIconEngine):
    """Paints one drawing in the text colour, muted by the mode."""

    def __init__(self, which: Icon) -> None:
        super().__init__()
        self._which = which

    def clone(self) -> QIconEngine:
        return _TintedEngine(self._which)

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, _state: QIcon.State) -> None:
        renderer = _renderer(self._which, _colour(mode))
        renderer.setAspectRatioMode(Qt.AspectRatioMode.KeepAspectRatio)
        renderer.render(painter, QRectF(rect))

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        pixmap = QPixmap(size)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        self.paint(painter, QRect(0, 0, size.width(), size.height()), mode, state)
        painter.end()
        return pixmap


def _colour(mode: QIcon.Mode) -> str:
    palette = QGuiApplication.palette()
    if mode is QIcon.Mode.Disabled:
        return palette.color(QPalette.ColorGroup.Disabled, QPalette.ColorRole.ButtonText).name()
    return palette.color(QPalette.ColorRole.ButtonText).name()


@cache
def _renderer(which: Icon, colour: str) -> QSvgRenderer:
    drawing = resource(f"icons/{which}.svg").read_text(encoding="utf-8")
    return QSvgRenderer(QByteArray(drawing.replace("currentColor", colour).encode()))
