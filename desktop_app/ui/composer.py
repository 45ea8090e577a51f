"""Where the user writes: a growing text field, its send button that turns into stop, and the reason of a refusal.

Owns the text being written, one for each chat. Sends nothing itself: it says what was asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import ceil

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from desktop_app.core.errors import Problem
from desktop_app.ui.card import FieldCard
from desktop_app.ui.icons import Icon, icon
from desktop_app.ui.tone_label import ToneLabel
from desktop_app.ui.words import Words

_LINES_MAX = 8
_SEND_KEYS = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class ComposerState(StrEnum):
    """What the button does."""

    READY = "ready"
    """It sends."""
    GENERATING = "generating"
    """It stops the answer."""
    DISABLED = "disabled"
    """There is no model to send to."""


@dataclass(frozen=True, slots=True)
class _Draft:
    """What is being written in a chat."""

    text: str = ""
    problem: Problem | None = None
    """Why it was refused."""

    def refused(self, text: str, problem: Problem) -> _Draft:
        """With a refused prompt in front of whatever was written since."""
        written = self.text.strip()
        return _Draft(text if not written or written == text.strip() else f"{text}\n\n{written}", problem)


class GrowingTextEdit(QPlainTextEdit):
    """Plain text, as high as its lines up to `lines_max`."""

    submitted = Signal()

    def __init__(self, parent: QWidget | None = None, *, lines_max: int = _LINES_MAX) -> None:
        super().__init__(parent)
        self._lines_max = lines_max
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setTabChangesFocus(True)
        # Files are dropped on the window, which asks what they are for.
        self.setAcceptDrops(False)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setAutoFillBackground(False)
        layout = self.document().documentLayout()
        layout.documentSizeChanged.connect(self._on_document_size_changed)

    def _document_lines(self) -> int:
        # QPlainTextEdit's document layout measures its height in lines, wrapped ones included.
        return max(1, round(self.document().documentLayout().documentSize().height()))

    def _height(self) -> int:
        margins = self.contentsMargins()
        frame = margins.top() + margins.bottom() + 2 * round(self.document().documentMargin())
        # Qt lays lines out at whole pixels and keeps one for itself; one too few, and it scrolls by a whole line.
        line = ceil(QFontMetricsF(self.font()).lineSpacing())
        return min(self._document_lines(), self._lines_max) * line + frame + 1

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), self._height())

    def minimumSizeHint(self) -> QSize:
        return QSize(120, self._height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._document_lines() <= self._lines_max:
            # It scrolled to the cursor before it grew; now all of it has room.
            self.verticalScrollBar().setValue(0)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        newline = event.modifiers() & (Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.ControlModifier)
        if event.key() in _SEND_KEYS and not newline:
            self.submitted.emit()
            return
        if event.key() in _SEND_KEYS:
            self.insertPlainText("\n")
            self.ensureCursorVisible()
            return
        super().keyPressEvent(event)

    def _on_document_size_changed(self) -> None:
        # A bar that appears on its own while the field is still growing would wrap the text anew.
        full = self._document_lines() > self._lines_max
        policy = Qt.ScrollBarPolicy
        self.setVerticalScrollBarPolicy(policy.ScrollBarAsNeeded if full else policy.ScrollBarAlwaysOff)
        self.updateGeometry()


class Composer(QWidget):
    """`submitted(text)` and `stop_requested()` say what the user asked for; `clear` follows when it was taken."""

    submitted = Signal(str)
    stop_requested = Signal()
    text_changed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = ComposerState.READY
        self._chat: int | None = None
        self._kept: dict[int | None, _Draft] = {}
        """Of every chat but the open one."""
        self._problem: Problem | None = None
        self._problem_label = _problem_label()
        self._size = ToneLabel()
        self._size.setAccessibleName("Size of the message")
        self._size.setAlignment(Qt.AlignmentFlag.AlignRight)
        self._size.setToolTip("Counted by the target's own vocabulary")
        self._edit = GrowingTextEdit()
        self._edit.setPlaceholderText("Message")
        self._edit.setAccessibleName("Message")
        self._edit.setToolTip("Enter sends, Shift+Enter starts a new line")
        self._button = QToolButton()
        self._button.setObjectName("send")
        self._button.setIconSize(QSize(20, 20))
        self._button.setAutoRaise(True)
        self._lay_out()
        self._edit.submitted.connect(self._submit)
        self._edit.textChanged.connect(self._on_text_changed)
        self._button.clicked.connect(self._on_button_clicked)
        self.setFocusProxy(self._edit)
        self._show_state()

    @property
    def text(self) -> str:
        return self._edit.toPlainText()

    @property
    def state(self) -> ComposerState:
        return self._state

    def set_state(self, state: ComposerState) -> None:
        self._state = state
        self._show_state()

    def show_size(self, words: Words) -> None:
        """What the message would add to the context, in words."""
        self._size.show_words(words)

    def fill(self, text: str) -> None:
        """Put a text in, ready to be sent or changed."""
        self._edit.setPlainText(text)
        cursor = self._edit.textCursor()
        cursor.movePosition(cursor.MoveOperation.End)
        self._edit.setTextCursor(cursor)
        self._edit.setFocus()

    def give_back(self, chat_id: int | None, text: str, problem: Problem) -> None:
        """A prompt was refused: put it back where it was written and say why, now or when that chat is shown."""
        if chat_id != self._chat:
            self._kept[chat_id] = self._kept.get(chat_id, _Draft()).refused(text, problem)
            return
        self.fill(_Draft(self.text).refused(text, problem).text)
        self._show_problem(problem)

    def switch_chat(self, chat_id: int | None) -> None:
        """Keep what was being written in the old chat and bring back what was in the new one."""
        if chat_id == self._chat:
            return
        self._kept[self._chat] = _Draft(self.text, self._problem)
        self._chat = chat_id
        draft = self._kept.pop(chat_id, _Draft())
        self._edit.setPlainText(draft.text)
        self._show_problem(draft.problem)

    def adopt_chat(self, chat_id: int) -> None:
        """The new chat that was being written in got its id."""
        self._chat = chat_id

    def clear(self) -> None:
        """The text was taken."""
        self._edit.clear()
        self._show_problem(None)

    def _lay_out(self) -> None:
        box = FieldCard()
        box.surround(self._edit)
        row = QHBoxLayout(box)
        row.setContentsMargins(10, 6, 6, 6)
        row.setSpacing(6)
        row.addWidget(self._edit, 1)
        row.addWidget(self._button, 0, Qt.AlignmentFlag.AlignBottom)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(self._problem_label)
        column.addWidget(box)
        column.addWidget(self._size)

    def _submit(self) -> None:
        if self._state is ComposerState.READY and self.text.strip():
            self.submitted.emit(self.text)

    def _on_button_clicked(self) -> None:
        if self._state is ComposerState.GENERATING:
            self.stop_requested.emit()
        else:
            self._submit()

    def _on_text_changed(self) -> None:
        self._show_state()
        self.text_changed.emit(self.text)

    def _show_problem(self, problem: Problem | None) -> None:
        self._problem = problem
        self._problem_label.setText("" if problem is None else str(problem))
        self._problem_label.setVisible(problem is not None)

    def _show_state(self) -> None:
        generating = self._state is ComposerState.GENERATING
        self._button.setIcon(icon(Icon.STOP if generating else Icon.SEND))
        self._button.setToolTip("Stop the answer (Esc)" if generating else "Send (Enter)")
        self._button.setAccessibleName("Stop" if generating else "Send")
        can_send = self._state is ComposerState.READY and bool(self.text.strip())
        self._button.setEnabled(generating or can_send)


def _problem_label() -> QLabel:
    label = QLabel()
    label.setProperty("tone", "danger")
    label.setAccessibleName("Why the message was not sent")
    label.setWordWrap(True)
    label.hide()
    return label
