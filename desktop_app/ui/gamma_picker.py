"""Chooses γ, the tokens drafted in a round. Knows no services."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QWidget

from desktop_app.core.settings import GAMMA_MAX
from desktop_app.ui.menu_button import MenuButton


class GammaPicker(MenuButton):
    """`gamma_chosen(int)`, 1 … GAMMA_MAX."""

    gamma_chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, characters_min=2, width_max=80)
        self.setAccessibleName("Gamma, tokens drafted in a round")
        self.setToolTip(f"γ: tokens drafted in a round, 1 … {GAMMA_MAX}, from the next message on")
        group = QActionGroup(self)
        for gamma in range(1, GAMMA_MAX + 1):
            action = self.menu().addAction(str(gamma))
            action.setCheckable(True)
            action.setData(gamma)
            group.addAction(action)
        group.triggered.connect(lambda action: self.gamma_chosen.emit(action.data()))

    def show_gamma(self, gamma: int) -> None:
        self.show_text(str(gamma))
        self.menu().actions()[gamma - 1].setChecked(True)
