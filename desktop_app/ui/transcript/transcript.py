"""The scrolling list of messages: fills long chats from the bottom, follows a growing answer, keeps the reader's place.

Follows turns that it is given; asks nobody for any. All slow work is done in slices of a few milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import QPalette, QResizeEvent
from PySide6.QtWidgets import QFrame, QPushButton, QScrollArea, QWidget

from desktop_app.core.rounds import Kind
from desktop_app.services.branch import context_start
from desktop_app.services.turn import ChatView, Turn
from desktop_app.ui.context_words import left_out_words
from desktop_app.ui.theme import Appearance, Space
from desktop_app.ui.transcript.column import Column
from desktop_app.ui.transcript.message_view import AnswerView, MessageView, UserView

FRAME_MS = 16
"""Shortest time between two repaints of a growing answer."""
LARGEST_SHARE = 0.25
"""Of the time that may go into rendering and painting a growing answer: the engine wants the cores."""
SLICE_S = 0.008
"""Work in one turn of the event loop while a long chat is filled."""
NEAR_BOTTOM = 8
"""Device-independent pixels within which the view counts as being at the bottom."""


class Transcript(QScrollArea):
    """Shows one chat. Identity of a turn is its `answer_message_id`."""

    regenerate_requested = Signal(int)  # id of the answer's message
    filled = Signal()
    """Everything there is has been rendered."""
    frame_shown = Signal()
    """A growing answer has been rendered up to now."""

    def __init__(self, appearance: Appearance, hidden: frozenset[Kind], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._appearance = appearance
        self._hidden = hidden
        self._unbuilt: list[Turn] = []
        """Turns of the chat above those that have views, the oldest first."""
        self._turns: list[Turn] = []
        """All of the chat's."""
        self._answers: dict[int, AnswerView] = {}
        self._questions: dict[int, UserView] = {}
        """By the id of the answer's message, as `_answers`."""
        self._line: tuple[int, str] | None = None
        """The turn above which the kept context begins, and the words there."""
        self._dirty: AnswerView | None = None
        self._rendered_at = 0.0
        self._cost_s = 0.0
        self._stuck = True
        self._moving = False
        self._column = Column()
        self._fill = _single_shot(self, self._on_fill_due)
        self._frame = _single_shot(self, self._on_frame_due)
        self._jump = QPushButton("Jump to the newest", self)
        self._set_up()

    @property
    def views(self) -> tuple[MessageView, ...]:
        return tuple(self._column.views)

    @property
    def at_bottom(self) -> bool:
        """Whether the view follows a growing answer."""
        return self._stuck

    def show_chat(self, view: ChatView) -> None:
        """Replace everything by a chat, newest message first to appear."""
        self._column.clear()
        self._answers.clear()
        self._questions.clear()
        self._dirty = None
        self._turns = list(view.turns)
        self._unbuilt = list(view.turns)
        self._line = _context_line(self._turns)
        self._stick(stuck=True)
        self._on_fill_due()

    def start_turn(self, turn: Turn) -> None:
        """Append a turn and go to it."""
        self._stick(stuck=True)
        self._turns.append(turn)
        self._with_place_kept(lambda: self._column.insert(len(self._column.views), self._build(turn)))

    def update_turn(self, turn: Turn) -> None:
        """Something about the turn is new: repaint it with the next frame."""
        view = self._answers.get(turn.answer_message_id)
        if view is None:
            return
        self._dirty = view
        if not self._frame.isActive():
            pause = max(FRAME_MS / 1000.0, self._cost_s * (1.0 / LARGEST_SHARE - 1.0))
            due = max(self._rendered_at + pause - perf_counter(), 0.0)
            self._frame.start(round(due * 1000.0))

    def end_turn(self, turn: Turn) -> None:
        """The turn has ended: show its final state."""
        self.update_turn(turn)

    def set_hidden(self, hidden: frozenset[Kind]) -> None:
        """Kinds not to be told apart; rejected and discarded tokens vanish from the text when hidden."""
        self._hidden = hidden
        for view in self._column.views:
            view.set_hidden(hidden)
        self._fill.start()

    def jump_to_newest(self) -> None:
        self._stick(stuck=True)
        self._go_to_bottom()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_width()
        self._place_jump_button()

    def _set_up(self) -> None:
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.setBackgroundRole(QPalette.ColorRole.Base)
        self.viewport().setBackgroundRole(QPalette.ColorRole.Base)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Transcript")
        self._column.setAutoFillBackground(False)
        self.setWidget(self._column)
        self.verticalScrollBar().setSingleStep(24)
        self.verticalScrollBar().valueChanged.connect(self._on_scrolled)
        self._jump.setProperty("role", "floating")
        self._jump.setToolTip("Go to the end and follow the answer as it grows")
        self._jump.clicked.connect(self.jump_to_newest)
        self._jump.hide()
        self._appearance.changed.connect(self._fill.start)

    def make_views(self, turn: Turn, parent: QWidget) -> tuple[MessageView, ...]:
        """What a turn looks like, from top to bottom: at most one `UserView` and one `AnswerView`."""
        return UserView(turn.prompt, self._appearance, parent), AnswerView(turn, self._appearance, self._hidden, parent)

    def _build(self, turn: Turn) -> tuple[MessageView, ...]:
        views = self.make_views(turn, self._column)
        for view in views:
            if isinstance(view, AnswerView):
                view.regenerate_requested.connect(self.regenerate_requested)
                self._answers[turn.answer_message_id] = view
            elif isinstance(view, UserView):
                self._questions[turn.answer_message_id] = view
                if self._line is not None and self._line[0] == turn.answer_message_id:
                    view.show_line(self._line[1])
        return views

    def _move_line(self) -> None:
        """Show where the context begins, if that has changed."""
        line = _context_line(self._turns)
        if line == self._line:
            return
        old, self._line = self._line, line
        if old is not None:
            self._show_line(old[0], "")
        if line is not None:
            self._show_line(*line)

    def _show_line(self, answer_id: int, text: str) -> None:
        """A turn that has no view yet gets its line with it."""
        view = self._questions.get(answer_id)
        if view is not None:
            view.show_line(text)
            self._with_place_kept(lambda: self._column.arrange(view))

    def _on_frame_due(self) -> None:
        view, self._dirty = self._dirty, None
        if view is None:
            return
        started = perf_counter()
        self._move_line()
        view.advance()
        self._with_place_kept(lambda: self._column.arrange(view))
        self._rendered_at = perf_counter()
        self._cost_s = self._rendered_at - started + view.text.paint_s
        if not view.complete:
            self._fill.start()
        self.frame_shown.emit()

    def _on_fill_due(self) -> None:
        deadline = perf_counter() + SLICE_S
        self._with_place_kept(lambda: self._work_until(deadline))
        if self._has_work():
            self._fill.start()
        else:
            self.filled.emit()

    def _work_until(self, deadline: float) -> None:
        while perf_counter() < deadline and self._has_work():
            self._work()

    def _has_work(self) -> bool:
        return bool(self._unbuilt) or self._next_view() is not None

    def _next_view(self) -> MessageView | None:
        """The view with work left that is nearest to the reader; a growing one waits for its frame."""
        around = self._column.first_below(self._top())
        return self._column.nearest(
            around,
            lambda view: view is not self._dirty and not (view.complete and self._column.is_arranged(view)),
        )

    def _work(self) -> None:
        """One slice: finish what has views, then build the next older turn."""
        view = self._next_view()
        if view is None:
            self._column.insert(0, self._build(self._unbuilt.pop()))
            return
        if not view.complete:
            view.advance()
        self._column.arrange(view)

    def _fit_width(self) -> None:
        width = self.viewport().width()
        if width == self._column.width():
            return
        self._with_place_kept(lambda: self._take_width(width))
        self._fill.start()

    def _take_width(self, width: int) -> None:
        """Lay out what is visible for a new width; the rest follows in slices."""
        top = self._column.first_below(self._top())
        self._column.resize(width, self._column.height())
        room = self.viewport().height()
        for view in list(self._column.views)[top:] if not self._stuck else reversed(self._column.views):
            self._column.arrange(view)
            room -= view.arranged_height
            if room < 0:
                break
        self._column.place(0)

    def _with_place_kept(self, change: Callable[[], None]) -> None:
        """Run a change of the column; afterwards the reader sees the same text, or still the bottom."""
        index = self._column.first_below(self._top())
        anchor = self._column.views[index] if index < len(self._column.views) else None
        offset = self._top() - anchor.y() if anchor else 0
        self._moving = True
        change()
        if self._stuck:
            self._go_to_bottom()
        elif anchor is not None:
            self.verticalScrollBar().setValue(anchor.y() + offset)
        self._moving = False
        self._show_jump_button()

    def _top(self) -> int:
        return self.verticalScrollBar().value()

    def _go_to_bottom(self) -> None:
        bar = self.verticalScrollBar()
        bar.setValue(bar.maximum())

    def _on_scrolled(self, value: int) -> None:
        if not self._moving:
            self._stick(stuck=value >= self.verticalScrollBar().maximum() - NEAR_BOTTOM)

    def _stick(self, *, stuck: bool) -> None:
        self._stuck = stuck
        self._show_jump_button()

    def _show_jump_button(self) -> None:
        self._jump.setVisible(not self._stuck and self.verticalScrollBar().maximum() > 0)

    def _place_jump_button(self) -> None:
        size = self._jump.sizeHint()
        self._jump.setGeometry(
            (self.viewport().width() - size.width()) // 2,
            self.height() - size.height() - Space.M,
            size.width(),
            size.height(),
        )


def _context_line(turns: Sequence[Turn]) -> tuple[int, str] | None:
    """The id of the first turn in the context and what to say above it; None where nothing was left out."""
    start = context_start(turns)
    return (turns[start].answer_message_id, left_out_words(start)) if start else None


def _single_shot(parent: QObject, due: Callable[[], None]) -> QTimer:
    timer = QTimer(parent)
    timer.setSingleShot(True)
    timer.timeout.connect(due)
    return timer
