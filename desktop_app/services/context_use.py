"""How full the target's context is with the open chat, and what the message being written would add to it.

The engine counts, while it has nothing else to do; nobody waits for it.
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QObject, QTimer, Signal

from desktop_app.core.errors import Problem
from desktop_app.core.facts import ModelFacts
from desktop_app.core.settings import Overflow
from desktop_app.protocol.messages import Counted
from desktop_app.services.branch import context_start, kept_from
from desktop_app.services.chat_session import ChatSession
from desktop_app.services.engine_client import EngineClient, EngineState
from desktop_app.services.pair import PairService
from desktop_app.services.settings import SettingsService
from desktop_app.services.settings_file import Settings
from desktop_app.services.turn import Turn

COUNT_AFTER_MS = 300
"""A pause in typing after which the text is counted."""


@dataclass(frozen=True, slots=True)
class MessageSize:
    """What the message being written would come to. Counts are tokens."""

    tokens: int
    """Of its text by itself."""
    prompt: int
    """Of the whole prompt it would be sent in."""
    left_out: int
    """Turns that are in the context now and would no longer fit."""
    problem: Problem | None
    """Why it would be refused."""


@dataclass(frozen=True, slots=True)
class _Asked:
    request: int
    text: str
    """Empty for the chat as it is."""


class ContextUse(QObject):
    """Follows session, pair and settings; is told what is being written."""

    changed = Signal()

    def __init__(
        self,
        engine: EngineClient,
        pair: PairService,
        session: ChatSession,
        settings: SettingsService,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._engine = engine
        self._pair = pair
        self._session = session
        self._settings = settings
        self._target: ModelFacts | None = pair.target
        self._counted_with = _what_counts(settings.current)
        self._text = ""
        self._used: int | None = None
        self._message: MessageSize | None = None
        self._asked: _Asked | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(COUNT_AFTER_MS)
        self._timer.timeout.connect(self._on_count_due)
        self._connect()
        self._refresh()

    @property
    def used(self) -> int | None:
        """Tokens of the open chat in the target's context; None where they are not known."""
        return self._used

    @property
    def size(self) -> int | None:
        """Tokens that the target's context holds; None while no target is in memory."""
        return self._target.n_ctx if self._target else None

    @property
    def message(self) -> MessageSize | None:
        """The message being written; None while it is not counted."""
        return self._message

    @property
    def overflow(self) -> Overflow:
        """What happens once the context is full."""
        return self._settings.current.answer.overflow

    def set_text(self, text: str) -> None:
        """What is being written now. It is counted after a pause; until then its last size stands."""
        if text == self._text:
            return
        self._text = text
        if not text.strip():
            self._set_message(None)
        self._timer.start()

    def _connect(self) -> None:
        session = self._session
        session.chat_opened.connect(self._refresh)
        session.turn_started.connect(self._on_turn_grew)
        session.prefill_progressed.connect(self._on_turn_grew)
        session.round_added.connect(self._on_turn_grew)
        session.turn_ended.connect(self._on_turn_grew)
        self._pair.changed.connect(self._on_pair_changed)
        self._settings.changed.connect(self._on_settings_changed)
        self._engine.state_changed.connect(self._on_engine_state_changed)
        self._engine.counted.connect(self._on_counted)

    def _refresh(self) -> None:
        """Another branch or another target: what was counted is void."""
        turns = self._session.turns
        last = turns[-1] if turns else None
        if last is None:
            self._used = 0
        else:
            self._used = last.context if last.model == self._pair.target_name else None
        self._recount()

    def _recount(self) -> None:
        self._asked = None
        self._message = None
        self._timer.start()
        self.changed.emit()

    def _set_message(self, message: MessageSize | None) -> None:
        if message != self._message:
            self._message = message
            self.changed.emit()

    def _on_turn_grew(self, turn: Turn) -> None:
        if turn.chat_id == self._session.chat_id and turn.context is not None and turn.context != self._used:
            self._used = turn.context
            self.changed.emit()

    def _on_pair_changed(self) -> None:
        """Emitted for much that doesn't concern the context, progress of loading among it."""
        if self._pair.target != self._target:
            self._target = self._pair.target
            self._refresh()

    def _on_settings_changed(self, settings: Settings) -> None:
        if (now := _what_counts(settings)) != self._counted_with:
            self._counted_with = now
            self._recount()

    def _on_engine_state_changed(self, state: EngineState) -> None:
        if state is EngineState.IDLE:
            self._timer.start()
        else:
            self._set_message(None)

    def _on_count_due(self) -> None:
        """Count the chat where its size isn't known, else the text.

        Whatever keeps that from being done now ends in a signal that starts the timer again.
        """
        text = self._text if self._used is not None and self._text.strip() else ""
        if self._session.busy or self._target is None or (self._used is not None and not text):
            return
        messages, settings = self._session.prompt(text or None), self._settings.current.answer
        request = self._engine.count(messages, settings) if messages else None
        self._asked = None if request is None else _Asked(request, text)

    def _on_counted(self, counted: Counted) -> None:
        asked = self._asked
        if asked is None or counted.request != asked.request:
            return
        if not asked.text:
            self._used = counted.prompt
            self._recount()
        elif asked.text == self._text:
            self._set_message(
                MessageSize(counted.newest, counted.prompt, self._newly_left_out(counted.left_out), counted.problem)
            )

    def _newly_left_out(self, left_out: int) -> int:
        turns = self._session.turns
        return kept_from(turns, left_out) - context_start(turns)


def _what_counts(settings: Settings) -> tuple[object, ...]:
    """The settings on which the size of a prompt depends."""
    return settings.system_prompt, settings.answer.max_tokens, settings.answer.overflow
