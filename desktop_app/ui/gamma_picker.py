"""Chooses γ, the tokens drafted in a round. Knows no services."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QWidget

from desktop_app.core.settings import GAMMA_MAX
from desktop_app.ui.menu_button import MenuButton


class GammaPicker(MenuButton):
    """`gamma_chosen` with 1 … GAMMA_MAX, or None for auto."""

    gamma_chosen = Signal(object)  # int | None

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, characters_min=4, width_max=80)
        self.setAccessibleName("Gamma, tokens drafted in a round")
        self.setToolTip(
            f"γ: tokens drafted in a round, 1 … {GAMMA_MAX}, from the next message on.\n"
            "Auto drafts as many as pay in each round, and none while plain decoding is faster."
        )
        group = QActionGroup(self)
        self._actions = {gamma: self._add(gamma, group) for gamma in (None, *range(1, GAMMA_MAX + 1))}
        group.triggered.connect(lambda action: self.gamma_chosen.emit(action.data()))

    def show_gamma(self, gamma: int | None) -> None:
        self.show_text(_name(gamma))
        self._actions[gamma].setChecked(True)

    def _add(self, gamma: int | None, group: QActionGroup) -> QAction:
        action = self.menu().addAction(_name(gamma))
        action.setCheckable(True)
        action.setData(gamma)
        group.addAction(action)
        return action


def _name(gamma: int | None) -> str:
    return "auto" if gamma is None else str(gamma)
