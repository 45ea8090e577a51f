"""The conversation as the window sees it: which chats there are, which is open, what is asked in it.

Owns the open chat and its branch. The running answer is the `TurnConductor`'s, so that it goes on whatever is open.
"""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from desktop_app.core.errors import Fault, Problem
from desktop_app.protocol.messages import ChatMessage
from desktop_app.services.archive import Archive
from desktop_app.services.baselines import Baselines
from desktop_app.services.branch import prompt_of, turns_of
from desktop_app.services.engine_client import EngineClient
from desktop_app.services.engine_use import EngineUse, Party
from desktop_app.services.pair import PairService
from desktop_app.services.settings import SettingsService
from desktop_app.services.turn import ChatView, Turn
from desktop_app.services.turn_conductor import TurnConductor
from desktop_app.services.turn_recorder import TurnRecorder
from desktop_app.store import NEW_CHAT_TITLE, ChatStore, ChatSummary

HANDED_BACK = frozenset({Fault.PROMPT_TOO_LONG, Fault.EMPTY_PROMPT})
"""Faults of the prompt itself: the user gets the text back to change it."""


class ChatSession(QObject):
    """Chats by name, turns by signal. Reads and writes go through the archive and come back later."""

    chats_changed = Signal(object)  # list[ChatSummary], the latest used first
    chat_opened = Signal(object)  # ChatView; replaces what the transcript shows
    turn_started = Signal(object)  # Turn; to be appended if its chat is the open one
    turns_left_out = Signal(object)  # Turn; its prompt begins later than its chat
    prefill_progressed = Signal(object)  # Turn
    round_added = Signal(object)  # Turn
    turn_ended = Signal(object)  # Turn
    turn_withdrawn = Signal(object)  # Turn; instead of `turn_ended`, for a refused prompt that leaves no trace
    prompt_refused = Signal(object, str, object)  # chat (None: the new one), text to hand back to its composer, Problem
    problem_raised = Signal(object)  # Problem, of the chat store or of a refused `regenerate`

    def __init__(
        self,
        engine: EngineClient,
        pair: PairService,
        archive: Archive,
        settings: SettingsService,
        baselines: Baselines,
        use: EngineUse,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._pair = pair
        self._archive = archive
        self._settings = settings
        self._use = use
        self._recorder = TurnRecorder(archive, self)
        self._conductor = TurnConductor(engine, pair, baselines, self._recorder, self)
        self._title = NEW_CHAT_TITLE
        self._chat_id: int | None = None
        self._turns: list[Turn] = []
        """The branch of the open chat."""
        self._visit = 0
        """Counts openings, so that what was read for an earlier one is dropped."""
        self._reading = False
        self._storing = False
        self._latest: Turn | None = None
        """The running or last turn: newer than what a read of the store that overlapped its end brings."""
        self._connect()

    @property
    def chat_id(self) -> int | None:
        """The chat that is open; None for a new one without messages."""
        return self._chat_id

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The branch of the open chat, the oldest turn first."""
        return tuple(self._turns)

    @property
    def running(self) -> Turn | None:
        """The turn that is being answered, in whichever chat."""
        return self._conductor.turn

    @property
    def busy(self) -> bool:
        """Whether a message can't be sent now: one is being stored or answered, or the open chat is being read."""
        return self._storing or self._reading or self.running is not None

    # Turns

    def prompt(self, text: str | None) -> tuple[ChatMessage, ...]:
        """What the engine would be asked if `text` were sent in the open chat now; None: the chat as it is."""
        return prompt_of(self._turns, text, self._settings.current.system_prompt)

    def send(self, text: str) -> bool:
        """Ask in the open chat. True if taken, so that the composer empties itself; False leaves the text there.

        Empty text and a second message while one is answered are refused quietly; a missing model, or a comparison that
        runs, by `prompt_refused`. A prompt that turns out too long is removed again: `turn_withdrawn`, `chat_opened`
        without it, `prompt_refused`.
        """
        if self.busy or not text.strip():
            return False
        if (obstacle := self._obstacle) is not None:
            self.prompt_refused.emit(self._chat_id, text, obstacle)
            return False
        chat_id, visit, earlier = self._chat_id, self._visit, tuple(self._turns)
        parent = earlier[-1].answer_message_id if earlier else None
        model, settings = self._pair.target_name, self._settings.current.answer

        def store_turn(store: ChatStore) -> Turn:
            ids = store.begin_turn(chat_id, parent, text, model=model, settings=settings)
            return Turn(ids.chat_id, ids.user_id, ids.answer_id, text, settings, model)

        def hand_back(problem: Problem) -> None:
            self._storing = False
            self.prompt_refused.emit(chat_id, text, problem)

        self._storing = True
        self._archive.ask(store_turn, lambda turn: self._on_turn_stored(turn, earlier, visit), hand_back)
        return True

    def stop(self) -> None:
        """End the running answer and keep its text."""
        self._conductor.stop()

    def regenerate(self, answer_id: int) -> bool:
        """Answer the same message once more, as a sibling of `answer_id`. False if that can't be done now.

        `chat_opened` shows the branch before that message, `turn_started` the new answer.
        """
        place = next((i for i, turn in enumerate(self._turns) if turn.answer_message_id == answer_id), None)
        if self.busy or place is None:
            return False
        if (obstacle := self._obstacle) is not None:
            self.problem_raised.emit(obstacle)
            return False
        old, earlier, visit = self._turns[place], tuple(self._turns[:place]), self._visit
        model, settings = self._pair.target_name, self._settings.current.answer

        def store_answer(store: ChatStore) -> Turn:
            answer = store.begin_answer(old.user_message_id, model=model, settings=settings)
            return Turn(old.chat_id, old.user_message_id, answer, old.prompt, settings, model, is_repeat=True)

        def give_up(problem: Problem) -> None:
            self._storing = False
            self.problem_raised.emit(problem)

        self._storing = True
        self._archive.ask(store_answer, lambda turn: self._on_turn_stored(turn, earlier, visit), give_up)
        return True

    # Chats

    def restore(self) -> None:
        """Read the chat list, repair what a killed app left, and open the chat that was open last."""
        self._reading = True
        visit = self._visit
        self._archive.ask(_tidy, self._on_restored, lambda problem: self._on_not_read(visit, problem))

    def open_chat(self, chat_id: int) -> None:
        """Show a chat; a running answer goes on."""
        self._visit += 1
        visit = self._visit
        self._reading = True
        self._archive.ask(
            lambda store: (_title(store, chat_id), turns_of(store.branch(chat_id))),
            lambda read: self._on_chat_read(visit, chat_id, *read),
            lambda problem: self._on_not_read(visit, problem),
        )

    def new_chat(self) -> None:
        """Show an empty chat; it is stored with its first message."""
        self._visit += 1
        self._reading = False
        self._show(None, NEW_CHAT_TITLE, [])

    def rename_chat(self, chat_id: int, title: str) -> None:
        """Give a chat a title of the user's own; an empty one is ignored."""
        title = " ".join(title.split())
        if not title:
            return
        self._archive.ask(lambda store: store.rename(chat_id, title))
        if chat_id == self._chat_id:
            self._title = title
        self._list_chats()

    def delete_chat(self, chat_id: int) -> None:
        """Take a chat off the list until `undo_delete`; an answer running in it is stopped."""
        if self.running is not None and self.running.chat_id == chat_id:
            self.stop()
        self._archive.ask(lambda store: store.delete(chat_id))
        if chat_id == self._chat_id:
            self.new_chat()
        self._list_chats()

    def undo_delete(self, chat_id: int) -> None:
        """Bring a chat back and show it."""
        self._archive.ask(lambda store: store.undo_delete(chat_id))
        self._list_chats()
        self.open_chat(chat_id)

    def close(self) -> None:
        """Hand everything unsaved to the archive. For the end of the app, before `Archive.close`."""
        self._conductor.interrupt(Problem("Draftglass was closed while this answer was being written."))

    @property
    def _obstacle(self) -> Problem | None:
        """Why nothing can be asked now."""
        return self._pair.obstacle or self._use.obstacle(Party.CHAT)

    def _connect(self) -> None:
        conductor = self._conductor
        conductor.turns_left_out.connect(self.turns_left_out)
        conductor.prefill_progressed.connect(self.prefill_progressed)
        conductor.round_added.connect(self.round_added)
        conductor.turn_ended.connect(self._on_turn_ended)
        self._recorder.problem_raised.connect(self.problem_raised)
        self._archive.failed.connect(self.problem_raised)
        self._use.join(Party.CHAT, lambda: self._storing or self.running is not None)

    def _show(self, chat_id: int | None, title: str, turns: list[Turn]) -> None:
        self._turns = turns
        self._title = title
        self._set_open(chat_id)
        self.chat_opened.emit(ChatView(chat_id, title, tuple(turns)))

    def _set_open(self, chat_id: int | None) -> None:
        self._chat_id = chat_id
        self._settings.apply(replace(self._settings.current, last_chat_id=chat_id))

    def _list_chats(self) -> None:
        self._archive.ask(lambda store: store.chats(), self.chats_changed.emit)

    def _on_turn_stored(self, turn: Turn, earlier: tuple[Turn, ...], visit: int) -> None:
        self._storing = False
        self._latest = turn
        if visit == self._visit:
            if turn.is_repeat:
                self._show(turn.chat_id, self._title, list(earlier))
            self._turns.append(turn)
            self._set_open(turn.chat_id)
        self._list_chats()
        self._conductor.begin(turn, prompt_of(earlier, turn.prompt, self._settings.current.system_prompt))
        self.turn_started.emit(turn)

    def _on_turn_ended(self, turn: Turn) -> None:
        problem = turn.problem
        if problem is not None and problem.fault in HANDED_BACK and not turn.answer.text:
            self._withdraw(turn, problem)
        else:
            self.turn_ended.emit(turn)
        self._list_chats()

    def _withdraw(self, turn: Turn, problem: Problem) -> None:
        """Take a refused prompt, or a refused repeat of its answer, out again and hand the text back."""
        message = turn.answer_message_id if turn.is_repeat else turn.user_message_id
        self._archive.ask(lambda store: store.remove_turn(message))
        self.turn_withdrawn.emit(turn)
        if turn.is_repeat:
            if turn.chat_id == self._chat_id:
                self.open_chat(turn.chat_id)
            self.problem_raised.emit(problem)
            return
        if turn in self._turns:
            self._show(turn.chat_id, self._title, self._turns[:-1])
        self.prompt_refused.emit(turn.chat_id, turn.prompt, problem)

    def _on_restored(self, chats: list[ChatSummary]) -> None:
        self._reading = False
        self.chats_changed.emit(chats)
        last = self._settings.current.last_chat_id
        if any(chat.id == last for chat in chats) and last is not None:
            self.open_chat(last)
        else:
            self.new_chat()

    def _on_chat_read(self, visit: int, chat_id: int, title: str, turns: list[Turn]) -> None:
        if visit != self._visit:
            return
        self._reading = False
        latest = self._latest
        if latest is not None and turns and turns[-1].answer_message_id == latest.answer_message_id:
            turns[-1] = latest
        self._show(chat_id, title, turns)

    def _on_not_read(self, visit: int, problem: Problem) -> None:
        if visit == self._visit:
            self._reading = False
        self.problem_raised.emit(problem)


def _tidy(store: ChatStore) -> list[ChatSummary]:
    store.purge_deleted()
    store.repair_interrupted()
    return store.chats()


def _title(store: ChatStore, chat_id: int) -> str:
    return next((chat.title for chat in store.chats() if chat.id == chat_id), NEW_CHAT_TITLE)
