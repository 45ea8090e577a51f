"""Opens the settings dialog and carries out what was applied there."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from desktop_app.services.settings import SettingsService
from desktop_app.services.settings_file import Settings
from desktop_app.ui.settings.dialog import SettingsDialog
from desktop_app.ui.theme import Appearance


class SettingsPresenter(QObject):
    """The services follow the settings by themselves; the theme is set here."""

    def __init__(self, window: QWidget, settings: SettingsService, appearance: Appearance) -> None:
        super().__init__(window)
        self._window = window
        self._settings = settings
        self._appearance = appearance
        self._dialog: SettingsDialog | None = None

    def open(self) -> None:
        if self._dialog is None:
            self._dialog = SettingsDialog(self._window)
            self._dialog.applied.connect(self._on_applied)
        if not self._dialog.isVisible():
            self._dialog.show_values(self._settings.current)
        self._dialog.show()
        self._dialog.raise_()
        self._dialog.activateWindow()

    def _on_applied(self, settings: Settings) -> None:
        self._settings.apply(settings)
        self._appearance.choose(settings.theme)
