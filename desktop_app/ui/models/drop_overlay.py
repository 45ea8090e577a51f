"""Covers the window while a GGUF file is dragged over it and asks where to drop: as target or as draft."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QMimeData, QObject, QPoint, QRect, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
)
from PySide6.QtWidgets import QWidget

from desktop_app.protocol.messages import Part
from desktop_app.ui.card import mix

_MARGIN = 28
_WORDS = {
    Part.TARGET: ("Use as target", "the model that answers"),
    Part.DRAFT: ("Use as draft", "the small model that proposes tokens"),
}


class DropOverlay(QWidget):
    """`dropped(path, Part)`; lies over `window` only while a file is dragged."""

    dropped = Signal(str, object)

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._hovered: Part | None = None
        self.setAcceptDrops(True)
        self.setAttribute(Qt.WidgetAttribute.WA_NoSystemBackground)
        self.setAccessibleName("Drop the file as target or as draft")
        self.hide()
        window.setAcceptDrops(True)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.DragEnter and isinstance(event, QDragEnterEvent):
            if gguf_path(event.mimeData()) is not None:
                self._appear()
                event.acceptProposedAction()
                return True
        elif event.type() == QEvent.Type.Resize:
            self.setGeometry(self._window.rect())
        return super().eventFilter(watched, event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if gguf_path(event.mimeData()) is not None:
            event.acceptProposedAction()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        self._hovered = self._part_at(event.position().toPoint())
        self.update()
        if self._hovered is None:
            event.ignore()
        else:
            event.acceptProposedAction()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self.hide()

    def dropEvent(self, event: QDropEvent) -> None:
        part, path = self._part_at(event.position().toPoint()), gguf_path(event.mimeData())
        self.hide()
        if part is not None and path is not None:
            event.acceptProposedAction()
            self.dropped.emit(path, part)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        veil = QColor(self.palette().color(QPalette.ColorRole.Window))
        veil.setAlphaF(0.9)
        painter.fillRect(self.rect(), veil)
        for part in Part:
            self._paint_zone(painter, part)

    def _appear(self) -> None:
        self._hovered = None
        self.setGeometry(self._window.rect())
        self.raise_()
        self.show()

    def _zone(self, part: Part) -> QRect:
        half = self.width() // 2
        left = 0 if part is Part.TARGET else half
        return QRect(left, 0, half, self.height()).adjusted(_MARGIN, _MARGIN, -_MARGIN, -_MARGIN)

    def _part_at(self, place: QPoint) -> Part | None:
        return next((part for part in Part if self._zone(part).contains(place)), None)

    def _paint_zone(self, painter: QPainter, part: Part) -> None:
        zone, hovered = self._zone(part), part is self._hovered
        palette = self.palette()
        accent, window = palette.color(QPalette.ColorRole.Highlight), palette.color(QPalette.ColorRole.Window)
        outline = Qt.PenStyle.SolidLine if hovered else Qt.PenStyle.DashLine
        painter.setPen(QPen(accent, 2.5 if hovered else 1.2, outline))
        painter.setBrush(mix(window, accent, 0.16 if hovered else 0.05))
        painter.drawRoundedRect(QRectF(zone), 12, 12)
        title, explanation = _WORDS[part]
        self._paint_words(painter, zone, title, explanation)

    def _paint_words(self, painter: QPainter, zone: QRect, title: str, explanation: str) -> None:
        palette, font = self.palette(), self.font()
        line = self.fontMetrics().lineSpacing()
        centred = int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap)
        font.setBold(True)
        painter.setFont(font)
        painter.setPen(palette.color(QPalette.ColorRole.WindowText))
        painter.drawText(zone.translated(0, -line), centred, title)
        painter.setFont(self.font())
        painter.setPen(palette.color(QPalette.ColorRole.PlaceholderText))
        painter.drawText(zone.translated(0, line // 2), centred, explanation)


def gguf_path(data: QMimeData) -> str | None:
    """The first local GGUF file that is dragged, by its name."""
    paths = (url.toLocalFile() for url in data.urls() if url.isLocalFile())
    return next((path for path in paths if path.lower().endswith(".gguf")), None)
