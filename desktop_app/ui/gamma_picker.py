"""Chooses γ, the tokens drafted in a round. Knows no services."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from desktop_app.core.settings import GAMMA_MAX
from desktop_app.ui.option_picker import Option, OptionPicker

GAMMA_MEANING = (
    f"γ: tokens drafted in a round, 1 … {GAMMA_MAX}.\n"
    "Auto drafts as many as pay in each round, and none while plain decoding is faster."
)


class GammaPicker(OptionPicker):
    """`option_chosen` with 1 … GAMMA_MAX, or None for auto."""

    def __init__(self, parent: QWidget | None = None) -> None:
        options = [Option(gamma, gamma_name(gamma)) for gamma in (None, *range(1, GAMMA_MAX + 1))]
        super().__init__(options, parent, characters_min=4, width_max=80)
        self.setAccessibleName("Gamma, tokens drafted in a round")
        self.setToolTip(GAMMA_MEANING)


def gamma_name(gamma: int | None) -> str:
    return "auto" if gamma is None else str(gamma)
