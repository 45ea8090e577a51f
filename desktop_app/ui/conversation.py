"""The middle of the window: problems, transcript or welcome, composer. Follows `ChatSession`; conducts nothing."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from desktop_app.core.errors import Problem
from desktop_app.services.chat_session import HANDED_BACK, ChatSession
from desktop_app.services.context_use import ContextUse
from desktop_app.services.pair import PairService
from desktop_app.services.turn import ChatView, Turn
from desktop_app.ui.banner import ProblemBanner
from desktop_app.ui.composer import Composer, ComposerState
from desktop_app.ui.context_words import message_words
from desktop_app.ui.theme import Appearance, Space
from desktop_app.ui.transcript.view import TranscriptView
from desktop_app.ui.welcome import Welcome


class Conversation(QWidget):
    """`model_requested` when the user wants to choose one from here."""

    model_requested = Signal()

    def __init__(
        self,
        session: ChatSession,
        pair: PairService,
        context: ContextUse,
        transcript: TranscriptView,
        appearance: Appearance,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._pair = pair
        self._context = context
        self._transcript = transcript
        self._pair_problem: Problem | None = None
        self._banner = ProblemBanner(appearance)
        self._welcome = Welcome(appearance)
        self._pages = QStackedWidget()
        self._composer = Composer()
        self.setAutoFillBackground(True)
        self.setBackgroundRole(QPalette.ColorRole.Base)
        self._lay_out()
        self._connect()
        self._show_welcome()
        self._refresh_state()

    @property
    def composer(self) -> Composer:
        return self._composer

    def show_problem(self, problem: Problem) -> None:
        self._banner.show_problem(problem)

    def _lay_out(self) -> None:
        self._pages.addWidget(self._welcome)
        self._pages.addWidget(self._transcript)
        top = QVBoxLayout()
        top.setContentsMargins(Space.L, Space.S, Space.L, 0)
        top.addWidget(self._banner)
        bottom = QVBoxLayout()
        bottom.setContentsMargins(Space.L, 0, Space.L, Space.XS)
        bottom.addWidget(self._composer)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(Space.S)
        column.addLayout(top)
        column.addWidget(self._pages, 1)
        column.addLayout(bottom)

    def _connect(self) -> None:
        session = self._session
        session.chat_opened.connect(self._on_chat_opened)
        session.turn_started.connect(self._on_turn_started)
        session.turns_left_out.connect(self._on_turn_grew)
        session.prefill_progressed.connect(self._on_turn_grew)
        session.round_added.connect(self._on_turn_grew)
        session.turn_ended.connect(self._on_turn_ended)
        session.prompt_refused.connect(self._composer.give_back)
        self._pair.changed.connect(self._on_pair_changed)
        self._pair.problem_raised.connect(self._on_pair_problem_raised)
        self._composer.submitted.connect(self._on_submitted)
        self._composer.stop_requested.connect(session.stop)
        self._composer.text_changed.connect(self._context.set_text)
        self._context.changed.connect(self._on_context_changed)
        self._transcript.regenerate_requested.connect(session.regenerate)
        self._welcome.example_chosen.connect(self._composer.fill)
        self._welcome.model_requested.connect(self.model_requested)

    def _on_submitted(self, text: str) -> None:
        if self._session.send(text):
            self._composer.clear()

    def _on_chat_opened(self, view: ChatView) -> None:
        self._composer.switch_chat(view.chat_id)
        self._transcript.show_chat(view)
        if view.turns:
            self._pages.setCurrentWidget(self._transcript)
        else:
            self._show_welcome()

    def _on_turn_started(self, turn: Turn) -> None:
        self._banner.clear()
        if turn.chat_id == self._session.chat_id:
            self._composer.adopt_chat(turn.chat_id)
            self._transcript.start_turn(turn)
            self._pages.setCurrentWidget(self._transcript)
        self._refresh_state()

    def _on_turn_grew(self, turn: Turn) -> None:
        if turn.chat_id == self._session.chat_id:
            self._transcript.update_turn(turn)

    def _on_turn_ended(self, turn: Turn) -> None:
        if turn.chat_id == self._session.chat_id:
            self._transcript.end_turn(turn)
        if turn.problem is not None and turn.problem.fault not in HANDED_BACK:
            self.show_problem(turn.problem)
        self._refresh_state()

    def _on_context_changed(self) -> None:
        self._composer.show_size(message_words(self._context.message))

    def _on_pair_problem_raised(self, problem: Problem) -> None:
        self._pair_problem = problem
        self.show_problem(problem)

    def _on_pair_changed(self) -> None:
        """A problem of the pair goes with its cause, such as when another draft is chosen."""
        if self._pair_problem not in {None, self._pair.target_problem, self._pair.draft_problem}:
            if self._banner.problem == self._pair_problem:
                self._banner.clear()
            self._pair_problem = None
        self._refresh_state()

    def _show_welcome(self) -> None:
        self._pages.setCurrentWidget(self._welcome)

    def _refresh_state(self) -> None:
        self._welcome.show_model(chosen=self._pair.target_path is not None)
        if self._session.running is not None:
            self._composer.set_state(ComposerState.GENERATING)
        else:
            self._composer.set_state(ComposerState.READY if self._pair.obstacle is None else ComposerState.DISABLED)
