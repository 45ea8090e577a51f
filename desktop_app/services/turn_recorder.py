"""Writes a growing answer to the archive, so that a killed app loses at most a second of it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal

from desktop_app.core.errors import Problem
from desktop_app.core.rounds import Round
from desktop_app.services.archive import Archive
from desktop_app.services.turn import Turn, TurnState
from desktop_app.store import ChatStore, MessageState

SAVE_EVERY_MS = 500

_STORED = {
    TurnState.FINISHED: MessageState.COMPLETE,
    TurnState.CANCELLED: MessageState.CANCELLED,
    TurnState.INTERRUPTED: MessageState.INTERRUPTED,
    TurnState.FAILED: MessageState.FAILED,
}


class TurnRecorder(QObject):
    """Records one turn at a time."""

    problem_raised = Signal(object)  # Problem, at most one a turn

    def __init__(self, archive: Archive, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._archive = archive
        self._turn: Turn | None = None
        self._unsaved: list[Round] = []
        self._prompt_noted = False
        self._complained_of: Turn | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(SAVE_EVERY_MS)
        self._timer.timeout.connect(self._save)

    def begin(self, turn: Turn) -> None:
        self._turn = turn
        self._unsaved = []
        self._prompt_noted = False

    def add(self, round_: Round) -> None:
        self._unsaved.append(round_)
        if not self._timer.isActive():
            self._timer.start()

    def finish(self) -> None:
        """Write the rest and how the turn ended."""
        turn = self._turn
        assert turn is not None, "finish follows begin"
        self._save()
        self._note_prompt(turn)
        self._archive.ask(_finishing(turn), otherwise=self._complaint(turn))
        self._turn = None

    def _save(self) -> None:
        self._timer.stop()
        turn = self._turn
        if turn is None or not self._unsaved:
            return
        self._note_prompt(turn)
        rounds, self._unsaved = tuple(self._unsaved), []
        answer_id, text, visible = turn.answer_message_id, turn.answer.text, turn.answer.visible

        def put_back(problem: Problem) -> None:
            """A full disk may have room again at the next try."""
            if self._turn is turn:
                self._unsaved[:0] = rounds
                self._timer.start()
            self._complaint(turn)(problem)

        self._archive.ask(lambda store: store.append_rounds(answer_id, rounds, text, visible), otherwise=put_back)

    def _note_prompt(self, turn: Turn) -> None:
        """Once for each turn, when its prompt has been read."""
        prefill, left_out = turn.prefill, turn.left_out
        if self._prompt_noted or prefill is None:
            return
        self._prompt_noted = True

        def try_again(problem: Problem) -> None:
            self._prompt_noted = self._turn is not turn
            self._complaint(turn)(problem)

        self._archive.ask(
            lambda store: store.note_prompt(turn.answer_message_id, prefill, left_out), otherwise=try_again
        )

    def _complaint(self, turn: Turn) -> Callable[[Problem], None]:
        def complain(problem: Problem) -> None:
            if self._complained_of is not turn:
                self._complained_of = turn
                self.problem_raised.emit(problem)

        return complain


def _finishing(turn: Turn) -> Callable[[ChatStore], None]:
    """The job that closes the answer, with the turn's values as they are now."""
    answer, state = turn.answer, _STORED[turn.state]
    answer_id, text, visible = turn.answer_message_id, answer.text, answer.visible
    ending, baseline, problem = turn.ending, turn.baseline, turn.problem
    return lambda store: store.finish_answer(
        answer_id, state, text=text, visible=visible, ending=ending, baseline=baseline, problem=problem
    )
