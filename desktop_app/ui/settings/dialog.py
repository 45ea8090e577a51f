"""The settings dialog: pages over one `Settings` value. Says what was applied; saves nothing itself."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QTabWidget, QVBoxLayout, QWidget

from desktop_app.core.settings import AnswerSettings, Speculation
from desktop_app.services.settings_file import Settings
from desktop_app.ui.settings.general_page import GeneralPage
from desktop_app.ui.settings.model_page import KnownModels, ModelPage
from desktop_app.ui.settings.sampling_page import SamplingPage
from desktop_app.ui.settings.speculation_page import SpeculationPage

_Button = QDialogButtonBox.StandardButton


class SettingsDialog(QDialog):
    """`applied(Settings)` on OK and on Apply; what is outside its pages stays as the last `rebase` said."""

    applied = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Settings")
        self._settings = Settings()
        self._sampling = SamplingPage()
        self._speculation = SpeculationPage()
        self._model = ModelPage()
        self._general = GeneralPage()
        self._tabs = QTabWidget()
        self._tabs.setDocumentMode(True)
        self._tabs.addTab(self._sampling, "Answer")
        self._tabs.addTab(self._speculation, "Speculation")
        self._tabs.addTab(self._model, "Models")
        self._tabs.addTab(self._general, "General")
        self._buttons = QDialogButtonBox(_Button.Ok | _Button.Cancel | _Button.Apply | _Button.RestoreDefaults)
        for button in self._buttons.buttons():
            button.setIcon(QIcon())  # some desktops put icons of their own set there
        self._buttons.clicked.connect(self._on_clicked)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 12, 12)
        column.addWidget(self._tabs)
        column.addWidget(self._buttons)

    def show_values(self, settings: Settings) -> None:
        self._settings = settings
        self._sampling.show_values(settings.answer)
        self._speculation.show_values(settings.answer.speculation)
        self._model.show_values(settings)
        self._general.show_values(settings)

    def rebase(self, settings: Settings) -> None:
        """The settings changed elsewhere; what is being edited here stays."""
        self._settings = settings
        self._model.rebase(settings)

    def show_known(self, known: KnownModels) -> None:
        self._model.show_known(known)

    def show_models(self) -> None:
        """Turn to the page of the models."""
        self._tabs.setCurrentWidget(self._model)

    def values(self) -> Settings:
        settings = self._general.apply_to(self._model.apply_to(self._settings))
        answer = AnswerSettings(
            sampling=self._sampling.sampling(),
            speculation=self._speculation.apply_to(settings.answer.speculation),
            max_tokens=self._sampling.max_tokens(),
            stop=self._sampling.stop(),
            overflow=self._sampling.overflow(),
        )
        return replace(settings, answer=answer)

    def _on_clicked(self, button: QWidget) -> None:
        which = self._buttons.standardButton(button)  # type: ignore[arg-type]  # the box only holds buttons
        if which == _Button.RestoreDefaults:
            self._show_defaults()
        elif which == _Button.Cancel:
            self.reject()
        else:
            self.applied.emit(self.values())
            if which == _Button.Ok:
                self.accept()

    def _show_defaults(self) -> None:
        """Defaults for what the pages show; the rest stays."""
        self._sampling.show_values(AnswerSettings())
        self._speculation.show_values(Speculation())
        self._model.show_defaults()
        self._general.show_values(Settings())
