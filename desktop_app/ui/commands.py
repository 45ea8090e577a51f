"""What the actions do that act on more than one part, with their check marks and greying."""

from __future__ import annotations

from PySide6.QtCore import QObject

from desktop_app.services.chat_session import ChatSession
from desktop_app.services.pair import PairService
from desktop_app.ui.actions import WindowActions
from desktop_app.ui.composer import Composer
from desktop_app.ui.main_window import MainWindow
from desktop_app.ui.transcript.view import TranscriptView
from desktop_app.ui.window_memory import WindowMemory


class WindowCommands(QObject):
    """Holds no state of its own."""

    def __init__(
        self,
        actions: WindowActions,
        window: MainWindow,
        *,
        session: ChatSession,
        pair: PairService,
        composer: Composer,
        transcript: TranscriptView,
        memory: WindowMemory,
    ) -> None:
        super().__init__(window)
        self._actions = actions
        self._session = session
        self._pair = pair
        self._memory = memory
        self._composer = composer
        actions.new_chat.triggered.connect(self._on_new_chat_triggered)
        actions.stop.triggered.connect(self._on_stop_triggered)
        actions.speculate.triggered.connect(self._on_speculate_triggered)
        actions.colours.triggered.connect(transcript.set_colours_shown)
        transcript.colours_toggled.connect(actions.colours.setChecked)
        actions.panel.triggered.connect(self._on_panel_triggered)
        pair.changed.connect(self._on_pair_changed)
        for moment in (session.turn_started, session.turn_ended):
            moment.connect(self._refresh_stop)
        actions.colours.setChecked(True)
        self._on_pair_changed()
        actions.panel.setChecked(not window.panel_folded)

    def fold_panel(self) -> None:
        self._actions.panel.setChecked(False)
        self._memory.fold_panel(folded=True)

    def _on_new_chat_triggered(self) -> None:
        self._session.new_chat()
        self._composer.setFocus()

    def _on_stop_triggered(self) -> None:
        """An answer first: its end leaves a load that it waits for alone."""
        if self._session.running is not None:
            self._session.stop()
        else:
            self._pair.cancel_load()

    def _on_speculate_triggered(self, checked: bool) -> None:
        self._pair.set_enabled(enabled=checked)

    def _on_panel_triggered(self, checked: bool) -> None:
        self._memory.fold_panel(folded=not checked)

    def _on_pair_changed(self) -> None:
        self._actions.speculate.setChecked(self._pair.speculation.enabled)
        self._refresh_stop()

    def _refresh_stop(self) -> None:
        self._actions.stop.setEnabled(self._session.running is not None or self._pair.loading)
