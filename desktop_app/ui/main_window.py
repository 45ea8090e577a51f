"""The main window: where everything stands. Layout only; what the parts do is theirs."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QPaintEvent
from PySide6.QtWidgets import QFrame, QMainWindow, QSplitter, QVBoxLayout, QWidget

from desktop_app.ui.icons import app_icon

_SIZE = QSize(1180, 760)
_SIZE_MIN = QSize(640, 480)
_WIDTHS = (220, 660, 300)
"""Chats, conversation, speed panel."""
_CONVERSATION_WIDTH_MIN = 400


class MainWindow(QMainWindow):
    """`build` puts the parts in; `first_painted` comes once, `closing` before the window goes."""

    first_painted = Signal()
    closing = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Draftglass")
        self.setWindowIcon(app_icon())
        self.setMinimumSize(_SIZE_MIN)
        self.resize(_SIZE)
        self._columns = QSplitter(Qt.Orientation.Horizontal)
        self._panel: QWidget | None = None
        self._painted = False

    def build(
        self, *, top_bar: QWidget, sidebar: QWidget, conversation: QWidget, panel: QWidget, status_line: QWidget
    ) -> None:
        """Lay the parts out; called once."""
        self._panel = panel
        conversation.setMinimumWidth(_CONVERSATION_WIDTH_MIN)
        self._columns.setChildrenCollapsible(False)
        self._columns.setHandleWidth(1)
        for place, part in enumerate((sidebar, conversation, panel)):
            self._columns.addWidget(part)
            self._columns.setStretchFactor(place, 1 if part is conversation else 0)
        self._columns.setSizes(_WIDTHS)
        whole = QWidget()
        column = QVBoxLayout(whole)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(top_bar)
        column.addWidget(_rule())
        column.addWidget(self._columns, 1)
        column.addWidget(_rule())
        column.addWidget(status_line)
        self.setCentralWidget(whole)

    @property
    def column_widths(self) -> tuple[int, ...]:
        """Chats, conversation, speed panel, in device-independent pixels."""
        return tuple(self._columns.sizes())

    def set_column_widths(self, widths: Sequence[int]) -> None:
        self._columns.setSizes(list(widths))

    @property
    def panel_folded(self) -> bool:
        return self._panel is None or self._panel.isHidden()

    def fold_panel(self, *, folded: bool) -> None:
        if self._panel is not None:
            self._panel.setHidden(folded)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._painted:
            self._painted = True
            # The children paint after their window, in this same turn of the loop.
            QTimer.singleShot(0, self.first_painted.emit)

    def closeEvent(self, event: QCloseEvent) -> None:
        self.closing.emit()
        super().closeEvent(event)


def _rule() -> QFrame:
    """A thin line between the parts."""
    line = QFrame()
    line.setFixedHeight(1)
    line.setAutoFillBackground(True)
    line.setBackgroundRole(line.palette().ColorRole.Mid)
    return line
