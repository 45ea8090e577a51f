"""One message on screen: the user's bubble, or an answer with its text, state and footer.

A view arranges itself for a width and says how high it is; the transcript decides where it stands.
"""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFont, QGuiApplication, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QWidget

from desktop_app.core.rounds import Kind
from desktop_app.services.turn import Turn, TurnState
from desktop_app.ui.elided_label import ElidedLabel
from desktop_app.ui.theme import RADIUS, Appearance, Space
from desktop_app.ui.transcript.context_line import ContextLine
from desktop_app.ui.transcript.flow_text import FlowText
from desktop_app.ui.transcript.footer import Footer
from desktop_app.ui.transcript.token_text import SLICE_CHARS, TokenText
from desktop_app.ui.transcript.wording import figures, notice

ASSISTANT = "Draftglass"


class MessageView(QWidget):
    """What the transcript stacks."""

    arranged_width = -1
    """Width for which the height is right; -1 when content has changed since."""
    arranged_height = 0

    @property
    def complete(self) -> bool:
        """Whether nothing is left for `advance`."""
        return True

    def advance(self) -> None:
        """Do a slice of work, a few milliseconds."""

    def set_hidden(self, hidden: frozenset[Kind]) -> None:
        """Kinds of tokens not to be told apart."""

    def arrange(self, width: int) -> int:
        """Lay out for a width and return the height, both in device-independent pixels; cached."""
        if self.arranged_width != width:
            self.arranged_height = self._arrange(width)
            self.arranged_width = width
        return self.arranged_height

    def _arrange(self, width: int) -> int:
        raise NotImplementedError


class UserView(MessageView):
    """The user's message as they typed it, in a bubble on the right."""

    def __init__(self, text: str, appearance: Appearance, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._appearance = appearance
        self._text = FlowText(self)
        self._text.setAccessibleName("Your message")
        self._text.setPlainText(text)
        self._line = ContextLine(appearance, self)
        self._line.hide()
        self._bubble = QRectF()
        appearance.changed.connect(self.update)

    @property
    def line(self) -> str:
        """What the line above the message says; empty where there is none."""
        return self._line.text()

    def show_line(self, text: str) -> None:
        """Draw a line with this text above the message; empty takes it away."""
        self._line.setText(text)
        self._line.setVisible(bool(text))
        self.arranged_width = -1

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._appearance.colours.bubble)
        painter.drawRoundedRect(self._bubble, 1.5 * RADIUS, 1.5 * RADIUS)

    def _arrange(self, width: int) -> int:
        top = self._arrange_line(width)
        room = max(width * 4 // 5 - 2 * Space.L, 80)
        self._text.height_for_width(room)
        wanted = min(room, int(self._text.document().idealWidth()) + 2)
        size = QSize(wanted, self._text.height_for_width(wanted))
        left = width - wanted - Space.L
        self._text.setGeometry(left, top + Space.M, size.width(), size.height())
        self._bubble = QRectF(left - Space.L, top, wanted + 2 * Space.L, size.height() + 2 * Space.M)
        return top + size.height() + 2 * Space.M

    def _arrange_line(self, width: int) -> int:
        """Where the bubble begins."""
        if self._line.isHidden():
            return 0
        height = self._line.height_for_width(width)
        self._line.setGeometry(0, 0, width, height)
        return height + Space.L


class AnswerView(MessageView):
    """An answer: follows its `Turn`, changes nothing of it. `title` stands above the text."""

    regenerate_requested = Signal(int)  # id of the answer's message

    def __init__(
        self,
        turn: Turn,
        appearance: Appearance,
        hidden: frozenset[Kind],
        parent: QWidget | None = None,
        *,
        title: str = ASSISTANT,
        repeatable: bool = True,
    ) -> None:
        """`repeatable`: it offers to answer the same message again."""
        super().__init__(parent)
        self.turn = turn
        self._repeatable = repeatable
        self.text = TokenText(turn.answer, appearance, hidden, self)
        self._appearance = appearance
        self._name = ElidedLabel(self)
        self._name.set_text(title)
        self._name.setFont(_bold(self._name.font()))
        self._notice = QLabel(self)
        self._notice.setTextFormat(Qt.TextFormat.PlainText)
        self._notice.setProperty("role", "muted")
        self._notice.setWordWrap(True)
        self.footer = Footer(appearance, self)
        self.footer.copy_requested.connect(self._on_copy_requested)
        self.footer.regenerate_requested.connect(self._on_regenerate_requested)
        self._progress: QRectF | None = None
        self._refresh()

    @property
    def complete(self) -> bool:
        return self.text.complete

    def advance(self, slice_chars: int = SLICE_CHARS) -> None:
        """Take over a slice of what the turn has that isn't shown yet."""
        self.text.advance(slice_chars)
        self._refresh()

    def set_hidden(self, hidden: frozenset[Kind]) -> None:
        self.text.set_hidden(hidden)

    def paintEvent(self, _event: QPaintEvent) -> None:
        prefill = self.turn.prefill
        if self._progress is None or prefill is None or self.turn.state is not TurnState.PREFILLING:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        done = QRectF(self._progress)
        done.setWidth(done.width() * min(prefill.done / max(prefill.total, 1), 1.0))
        for bar, colour in ((self._progress, self._appearance.colours.border), (done, self._appearance.colours.accent)):
            painter.setBrush(colour)
            painter.drawRoundedRect(bar, 1.5, 1.5)

    def _refresh(self) -> None:
        ended = self.turn.state.ended
        self._notice.setText(notice(self.turn))
        self.footer.setVisible(ended or bool(self.turn.answer.rounds))
        self.footer.show_figures(figures(self.turn), repeatable=ended and self._repeatable)
        self.arranged_width = -1
        self.update()

    def _arrange(self, width: int) -> int:
        y = self._name.sizeHint().height()
        self._name.setGeometry(0, 0, width, y)
        y += Space.S
        waiting = bool(self._notice.text())
        self._notice.setVisible(waiting)
        self.text.setVisible(not waiting)
        shown: QLabel | TokenText = self._notice if waiting else self.text
        height = self._notice.heightForWidth(width) if waiting else self.text.height_for_width(width)
        shown.setGeometry(0, y, width, height)
        y += height + Space.S
        self._progress = QRectF(0, y, min(width, 240), 3.0) if waiting else None
        if not self.footer.isHidden():
            height = self.footer.arrange(width)
            self.footer.setGeometry(0, y, width, height)
            y += height
        return y + Space.XS

    def _on_copy_requested(self) -> None:
        QGuiApplication.clipboard().setText(self.turn.answer.shown)

    def _on_regenerate_requested(self) -> None:
        self.regenerate_requested.emit(self.turn.answer_message_id)


def _bold(font: QFont) -> QFont:
    font = QFont(font)
    font.setWeight(QFont.Weight.DemiBold)
    return font
