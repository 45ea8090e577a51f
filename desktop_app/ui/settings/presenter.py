"""Opens the settings dialog, keeps it with what is known, and carries out what was applied there."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from desktop_app.core.facts import Device
from desktop_app.protocol.messages import Ready
from desktop_app.services.engine_client import EngineClient
from desktop_app.services.model_shelf import ModelShelf
from desktop_app.services.pair import PairService
from desktop_app.services.settings import SettingsService
from desktop_app.services.settings_file import Settings
from desktop_app.ui.settings.dialog import SettingsDialog
from desktop_app.ui.settings.model_page import KnownModels
from desktop_app.ui.theme import Appearance


class SettingsPresenter(QObject):
    """The services follow the settings by themselves; the theme is set here. `opening` asks for a fresh shelf."""

    opening = Signal()

    def __init__(
        self,
        window: QWidget,
        settings: SettingsService,
        appearance: Appearance,
        *,
        pair: PairService,
        shelf: ModelShelf,
        engine: EngineClient,
    ) -> None:
        super().__init__(window)
        self._window = window
        self._settings = settings
        self._appearance = appearance
        self._pair = pair
        self._shelf = shelf
        self._devices: tuple[Device, ...] = ()
        self._dialog: SettingsDialog | None = None
        settings.changed.connect(self._on_settings_changed)
        pair.changed.connect(self._refresh_known)
        shelf.changed.connect(self._refresh_known)
        engine.ready.connect(self._on_engine_ready)

    def open(self) -> None:
        dialog = self._shown_dialog()
        dialog.raise_()
        dialog.activateWindow()

    def open_models(self) -> None:
        """The dialog, at the page of the models."""
        self._shown_dialog().show_models()
        self.open()

    def _shown_dialog(self) -> SettingsDialog:
        if self._dialog is None:
            self._dialog = SettingsDialog(self._window)
            self._dialog.applied.connect(self._on_applied)
        if not self._dialog.isVisible():
            self._dialog.show_values(self._settings.current)
            self._dialog.show_known(self._known())
            self.opening.emit()
        self._dialog.show()
        return self._dialog

    def _known(self) -> KnownModels:
        loaded = (self._pair.target, self._pair.draft)
        return KnownModels(
            files={item.path: item.model for item in self._shelf.items if item.model is not None},
            loaded={} if self._pair.loading else {facts.path: facts for facts in loaded if facts is not None},
            devices=self._devices,
        )

    def _refresh_known(self) -> None:
        if self._dialog is not None and self._dialog.isVisible():
            self._dialog.show_known(self._known())

    def _on_engine_ready(self, ready: Ready) -> None:
        self._devices = ready.devices
        self._refresh_known()

    def _on_settings_changed(self, settings: Settings) -> None:
        if self._dialog is not None:
            self._dialog.rebase(settings)

    def _on_applied(self, settings: Settings) -> None:
        self._settings.apply(settings)
        self._appearance.choose(settings.theme)
