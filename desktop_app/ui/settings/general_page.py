"""The look of the window and what every chat begins with."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtWidgets import QPlainTextEdit, QSizePolicy, QWidget

from desktop_app.services.settings_file import Settings, Theme
from desktop_app.ui.settings.fields import ChoiceBox, add_field, form

_THEMES = {Theme.SYSTEM: "As the system", Theme.LIGHT: "Light", Theme.DARK: "Dark"}


class GeneralPage(QWidget):
    """Shows and reads theme and system prompt."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = ChoiceBox(_THEMES)
        self._system_prompt = QPlainTextEdit()
        self._system_prompt.setProperty("look", "field")
        self._system_prompt.setTabChangesFocus(True)
        self._system_prompt.setFixedSize(330, 130)
        self._system_prompt.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        rows = form(self)
        add_field(rows, "Theme", self._theme, "Colours of the window")
        add_field(
            rows,
            "System prompt",
            self._system_prompt,
            "Instructions put before every conversation; empty leaves it to the model's own template",
        )

    def show_values(self, settings: Settings) -> None:
        self._theme.show_value(settings.theme)
        self._system_prompt.setPlainText(settings.system_prompt)

    def apply_to(self, settings: Settings) -> Settings:
        return replace(settings, theme=self._theme.value(), system_prompt=self._system_prompt.toPlainText().strip())
