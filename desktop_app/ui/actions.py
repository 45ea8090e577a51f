"""Everything the window can do by keyboard, as named actions with their shortcuts. They do nothing by themselves."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from desktop_app.ui.icons import Icon, icon


class WindowActions(QObject):
    """One menu lists them all, so that each shortcut can be found."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self.new_chat = self._action("New chat", "Ctrl+N", Icon.NEW_CHAT)
        self.search = self._action("Search chats", "Ctrl+K", Icon.SEARCH)
        self.stop = self._action("Stop answering or loading", "Esc", Icon.STOP)
        self.stop.setEnabled(False)
        self.speculate = self._action("Speculation", "Ctrl+D", checkable=True)
        self.colours = self._action("Token colours", "Ctrl+T", checkable=True)
        self.panel = self._action("Speed panel", "F9", checkable=True)
        self.choose_target = self._action("Choose a target…", "Ctrl+O")
        self.choose_draft = self._action("Choose a draft…", "Ctrl+Shift+O")
        self.model_settings = self._action("Model settings…", "Ctrl+M")
        self.settings = self._action("Settings…", "Ctrl+,", Icon.SETTINGS)
        self.quit = self._action("Quit", "Ctrl+Q")

    def menu(self, parent: QWidget) -> QMenu:
        menu = QMenu(parent)
        groups = (
            (self.new_chat, self.search, self.stop),
            (self.speculate, self.colours, self.panel),
            (self.choose_target, self.choose_draft, self.model_settings),
            (self.settings,),
            (self.quit,),
        )
        for group in groups:
            menu.addActions(group)
            menu.addSeparator()
        return menu

    def _action(self, text: str, keys: str, drawing: Icon | None = None, *, checkable: bool = False) -> QAction:
        action = QAction(text, self)
        action.setShortcut(QKeySequence(keys))
        action.setToolTip(f"{text.rstrip('…')} ({keys})")
        action.setCheckable(checkable)
        if drawing is not None:
            action.setIcon(icon(drawing))
        self._window.addAction(action)
        return action
