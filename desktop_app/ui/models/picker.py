"""A button that shows the chosen model and opens a menu of the others. Knows no services."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QWidget

from desktop_app.core.settings import DraftSource
from desktop_app.ui.menu_button import MenuButton
from desktop_app.ui.models.choice import Choice


class ModelPicker(MenuButton):
    """`path_chosen` for a model of the list, `file_requested` for any other.

    `settings_requested` asks for the page that says how models are loaded.
    """

    path_chosen = Signal(str)
    file_requested = Signal()
    settings_requested = Signal()
    about_to_open = Signal()

    def __init__(self, what: str, parent: QWidget | None = None) -> None:
        super().__init__(parent, characters_min=9, width_max=240)
        self._path: str | None = None
        self._choices: Sequence[Choice] = ()
        self.setAccessibleName(what)
        self._menu.aboutToShow.connect(self._on_about_to_show)

    def show_chosen(self, name: str, explanation: str, path: str | None) -> None:
        self._path = path
        self.setToolTip(explanation)
        self.show_text(name)

    def set_choices(self, choices: Sequence[Choice]) -> None:
        self._choices = choices
        if self._menu.isVisible():
            self._fill()

    def _on_about_to_show(self) -> None:
        self.about_to_open.emit()
        self._fill()

    def _fill(self) -> None:
        self._menu.clear()
        group = QActionGroup(self._menu)
        for choice in self._choices:
            self._add_choice(choice, group)
        if not self._choices:
            self._menu.addAction("No models found").setEnabled(False)
        self._menu.addSeparator()
        self._add_extras(group)
        self._menu.addAction("Choose a GGUF file…").triggered.connect(self.file_requested)
        self._menu.addAction("Model settings…").triggered.connect(self.settings_requested)

    def _add_choice(self, choice: Choice, group: QActionGroup) -> None:
        # What follows a tab stands in the menu's right-hand column.
        action = QAction(f"{choice.name}\t{choice.note}".replace("&", "&&"), self._menu)
        action.setCheckable(True)
        action.setChecked(self._is_chosen(choice))
        action.setEnabled(choice.usable)
        action.setToolTip(f"{choice.path}\n{choice.note}")
        action.triggered.connect(lambda: self.path_chosen.emit(choice.path))
        group.addAction(action)
        self._menu.addAction(action)

    def _is_chosen(self, choice: Choice) -> bool:
        return self._path is not None and PurePath(choice.path) == PurePath(self._path)

    def _add_extras(self, group: QActionGroup) -> None:
        """Lines between the models and the file dialog."""


class DraftPicker(ModelPicker):
    """Also offers the drafts that need no file, alone or beside a model."""

    source_chosen = Signal(object)  # DraftSource

    def __init__(self, what: str, parent: QWidget | None = None) -> None:
        super().__init__(what, parent)
        self._source = DraftSource.MODEL

    def show_source(self, source: DraftSource) -> None:
        self._source = source

    def _is_chosen(self, choice: Choice) -> bool:
        return self._source.uses_model and super()._is_chosen(choice)

    def _add_extras(self, group: QActionGroup) -> None:
        self._add_source(
            group,
            DraftSource.LOOKUP,
            "Prompt lookup",
            "Drafts what followed the last words where they occurred before; needs no model",
        )
        self._add_source(group, DraftSource.NONE, "No draft", "Plain decoding")
        self._menu.addSeparator()
        self._add_both()
        self._menu.addSeparator()

    def _add_both(self) -> None:
        action = QAction("Prompt lookup beside the draft", self._menu)
        action.setCheckable(True)
        action.setChecked(self._source is DraftSource.BOTH)
        action.setEnabled(self._source.uses_model)
        action.setToolTip("Prompt lookup drafts where it finds a long match, the draft model otherwise")
        action.toggled.connect(lambda both: self.source_chosen.emit(DraftSource.BOTH if both else DraftSource.MODEL))
        self._menu.addAction(action)

    def _add_source(self, group: QActionGroup, source: DraftSource, text: str, explanation: str) -> None:
        action = QAction(text, self._menu)
        action.setCheckable(True)
        action.setChecked(self._source is source)
        action.setToolTip(explanation)
        action.triggered.connect(lambda: self.source_chosen.emit(source))
        group.addAction(action)
        self._menu.addAction(action)
