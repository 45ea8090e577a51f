"""A text view that is as tall as its text: no scroll bars, read-only, loads nothing."""

from __future__ import annotations

import math

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QTextOption, QWheelEvent
from PySide6.QtWidgets import QFrame, QTextBrowser, QWidget


class FlowText(QTextBrowser):
    """The owner asks for the height at a width and sets the geometry."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        # The text is laid out for the width asked about, whether or not the widget has it yet.
        self.setLineWrapMode(QTextBrowser.LineWrapMode.FixedPixelWidth)
        self.setUndoRedoEnabled(False)
        self.setOpenLinks(False)
        self.setAcceptDrops(False)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.viewport().setAutoFillBackground(False)
        self.document().setDocumentMargin(0)

    def height_for_width(self, width: int) -> int:
        """Height in device-independent pixels that the text takes at a width; lays the text out for it."""
        if self.lineWrapColumnOrWidth() != width:
            self.setLineWrapColumnOrWidth(width)
        return math.ceil(self.document().size().height())

    def loadResource(self, _kind: int, _name: QUrl | str) -> object:  # noqa: N802 - Qt's name
        """Nothing is loaded, whatever the text asks for."""
        return None

    def wheelEvent(self, event: QWheelEvent) -> None:
        """The transcript scrolls, not the text in it."""
        event.ignore()
