"""Keeps the speed panel with the answer that matters: the running one of the open chat, else its last one."""

from __future__ import annotations

from PySide6.QtCore import QObject

from desktop_app.services.chat_session import ChatSession
from desktop_app.services.pair import PairService
from desktop_app.services.turn import ChatView, Turn
from desktop_app.ui.speed_panel.speed_panel import SpeedPanel


class PanelFollower(QObject):
    """Passes turns, costs and settings on to the panel."""

    def __init__(self, panel: SpeedPanel, session: ChatSession, pair: PairService) -> None:
        super().__init__(panel)
        self._panel = panel
        self._session = session
        self._pair = pair
        session.chat_opened.connect(self._on_chat_opened)
        session.turn_started.connect(self._on_turn_started)
        session.prefill_progressed.connect(self._on_turn_grew)
        session.round_added.connect(self._on_turn_grew)
        session.turn_ended.connect(self._on_turn_ended)
        pair.changed.connect(self._on_pair_changed)
        self._on_pair_changed()

    def _on_chat_opened(self, view: ChatView) -> None:
        if view.turns:
            self._panel.start_turn(view.turns[-1])
        else:
            self._panel.clear()

    def _on_turn_started(self, turn: Turn) -> None:
        if self._is_open(turn):
            self._panel.start_turn(turn)

    def _on_turn_grew(self, turn: Turn) -> None:
        if self._is_open(turn):
            self._panel.update_turn(turn)

    def _on_turn_ended(self, turn: Turn) -> None:
        if self._is_open(turn):
            self._panel.end_turn(turn)

    def _on_pair_changed(self) -> None:
        self._panel.set_costs(self._pair.costs)
        self._panel.set_speculation(self._pair.speculation)

    def _is_open(self, turn: Turn) -> bool:
        return turn.chat_id == self._session.chat_id
