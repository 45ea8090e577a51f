"""A button that shows the chosen one of a few values and opens a menu of all. Knows no services."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QWidget

from desktop_app.ui.menu_button import MenuButton


@dataclass(frozen=True, slots=True)
class Option:
    """One line of the menu."""

    value: object
    name: str
    explanation: str = ""
    usable: bool = True
    """False greys the line out; `explanation` then says why."""


class OptionPicker(MenuButton):
    """`option_chosen(value)` when the user picks one; what is shown changes by `show_option` alone."""

    option_chosen = Signal(object)

    def __init__(
        self, options: Sequence[Option], parent: QWidget | None = None, *, characters_min: int, width_max: int
    ) -> None:
        super().__init__(parent, characters_min=characters_min, width_max=width_max)
        self._options: Sequence[Option] = ()
        self._value: object = None
        self._group = QActionGroup(self)
        self.set_options(options)

    @property
    def value(self) -> object:
        """What is shown."""
        return self._value

    def set_options(self, options: Sequence[Option]) -> None:
        """Other lines, with the same value shown where it is among them."""
        if options == self._options:
            return
        self._options = options
        self._fill()
        self.show_option(self._value)

    def show_option(self, value: object) -> None:
        self._value = value
        for option, action in zip(self._options, self._menu.actions(), strict=True):
            action.setChecked(option.value == value)
            if option.value == value:
                self.show_text(option.name)

    def _fill(self) -> None:
        for action in self._group.actions():
            action.deleteLater()
            self._group.removeAction(action)
            self._menu.removeAction(action)
        for option in self._options:
            self._add(option)

    def _add(self, option: Option) -> None:
        action = self._group.addAction(option.name.replace("&", "&&"))
        action.setCheckable(True)
        action.setEnabled(option.usable)
        action.setToolTip(option.explanation)
        action.triggered.connect(lambda: self.option_chosen.emit(option.value))
        self._menu.addAction(action)
