"""Problems above the transcript: what happened, what to do next, and a button to dismiss. Never a modal box."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from desktop_app.core.errors import Problem
from desktop_app.ui.card import Card
from desktop_app.ui.icons import Icon, icon
from desktop_app.ui.theme import Appearance


class ProblemBanner(Card):
    """Shows the latest problem until it is dismissed or cleared."""

    dismissed = Signal()

    def __init__(self, appearance: Appearance, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._appearance = appearance
        self._problem: Problem | None = None
        self._message = _line(bold=True)
        self._hint = _line(bold=False)
        self._close = QToolButton()
        self._close.setAutoRaise(True)
        self._close.setIcon(icon(Icon.CLOSE))
        self._close.setToolTip("Dismiss")
        self._close.setAccessibleName("Dismiss the problem")
        self._close.clicked.connect(self._on_close_clicked)
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addWidget(self._message)
        texts.addWidget(self._hint)
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 9, 8, 9)
        row.addLayout(texts, 1)
        row.addWidget(self._close, 0, Qt.AlignmentFlag.AlignTop)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.setAccessibleName("Problem")
        self._on_appearance_changed()
        appearance.changed.connect(self._on_appearance_changed)
        self.hide()

    @property
    def problem(self) -> Problem | None:
        """What is shown."""
        return self._problem

    def show_problem(self, problem: Problem) -> None:
        self._problem = problem
        self._message.setText(problem.message)
        self._hint.setText(problem.hint)
        self._hint.setVisible(bool(problem.hint))
        self.setAccessibleDescription(str(problem))
        self.show()

    def clear(self) -> None:
        self._problem = None
        self.hide()

    def _on_appearance_changed(self) -> None:
        self.set_accent(self._appearance.colours.danger, tinted=True)

    def _on_close_clicked(self) -> None:
        self.clear()
        self.dismissed.emit()


def _line(*, bold: bool) -> QLabel:
    label = QLabel()
    label.setWordWrap(True)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    if bold:
        font = label.font()
        font.setBold(True)
        label.setFont(font)
    return label
