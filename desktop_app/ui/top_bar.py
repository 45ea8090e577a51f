"""The bar on top: target, draft, the speculation switch, γ and the state chip. Follows `PairService`.

Shows what the service says and passes on what is asked; decides nothing.
"""

from __future__ import annotations

from pathlib import PurePath

from PySide6.QtCore import Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QHBoxLayout, QLabel, QToolButton, QWidget

from desktop_app.core.settings import DraftSource
from desktop_app.protocol.messages import LoadProgress
from desktop_app.services.pair import PairService
from desktop_app.services.status import Status
from desktop_app.ui.actions import WindowActions
from desktop_app.ui.gamma_picker import GAMMA_MEANING, GammaPicker
from desktop_app.ui.models.choice import Choice
from desktop_app.ui.models.model_words import model_details
from desktop_app.ui.models.picker import DraftPicker, ModelPicker
from desktop_app.ui.state_chip import StateChip
from desktop_app.ui.switch import Switch
from desktop_app.ui.theme import Appearance

_SOURCE_NAMES = {DraftSource.LOOKUP: "Prompt lookup", DraftSource.NONE: "No draft"}
_SOURCE_EXPLANATIONS = {
    DraftSource.LOOKUP: "Drafts what followed the last words where they occurred before; needs no model",
    DraftSource.NONE: "Plain decoding",
}


class TopBar(QWidget):
    """`target_file_requested` and `draft_file_requested` ask for a file dialog; `pickers_opening` for a fresh list.

    `model_settings_requested` asks for the page that says how models are loaded.
    """

    target_file_requested = Signal()
    draft_file_requested = Signal()
    model_settings_requested = Signal()
    pickers_opening = Signal()

    def __init__(
        self, pair: PairService, appearance: Appearance, actions: WindowActions, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._appearance = appearance
        self._fraction: float | None = None
        self._names: dict[PurePath, str] = {}
        self._pair = pair
        self._target = ModelPicker("Target model")
        self._draft = DraftPicker("Draft")
        self._switch = Switch()
        self._gamma = GammaPicker()
        self._chip = StateChip()
        self._set_up_controls(actions)
        self._lay_out(actions)
        self._connect()
        self._on_pair_changed()

    def set_choices(self, targets: tuple[Choice, ...], drafts: tuple[Choice, ...]) -> None:
        self._target.set_choices(targets)
        self._draft.set_choices(drafts)
        self._names = {PurePath(choice.path): choice.name for choice in (*targets, *drafts)}
        self._on_pair_changed()

    def _set_up_controls(self, actions: WindowActions) -> None:
        self._switch.setAccessibleName("Speculation")
        keys = actions.speculate.shortcut().toString()
        self._switch.setToolTip(f"Speculation on or off, from the next message on ({keys})")
        self._gamma.setToolTip(f"{GAMMA_MEANING}\nA choice holds from the next message on.")

    def _lay_out(self, actions: WindowActions) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 7, 12, 7)
        row.setSpacing(6)
        for caption, field in (
            ("Target", self._target),
            ("Draft", self._draft),
            ("Speculation", self._switch),
            ("γ", self._gamma),
        ):
            label = QLabel(caption)
            label.setProperty("role", "muted")
            label.setBuddy(field)
            label.setToolTip(field.toolTip())
            row.addWidget(label)
            row.addWidget(field)
            row.addSpacing(10)
        row.addStretch(1)
        row.addWidget(self._chip)
        row.addWidget(_menu_button(actions))

    def _connect(self) -> None:
        pair = self._pair
        self._target.path_chosen.connect(pair.choose_target)
        self._target.file_requested.connect(self.target_file_requested)
        self._draft.path_chosen.connect(pair.choose_draft)
        self._draft.source_chosen.connect(pair.set_source)
        self._draft.file_requested.connect(self.draft_file_requested)
        for picker in (self._target, self._draft):
            picker.about_to_open.connect(self.pickers_opening)
            picker.settings_requested.connect(self.model_settings_requested)
        self._switch.clicked.connect(self._on_switch_clicked)
        self._gamma.option_chosen.connect(self._pair.set_gamma)
        self._appearance.changed.connect(self._on_pair_changed)
        pair.changed.connect(self._on_pair_changed)
        pair.load_progressed.connect(self._on_load_progressed)

    def _on_switch_clicked(self, checked: bool) -> None:
        self._pair.set_enabled(enabled=checked)

    def _on_pair_changed(self) -> None:
        speculation = self._pair.speculation
        self._switch.setChecked(speculation.enabled)
        self._gamma.show_option(speculation.gamma)
        self._gamma.setEnabled(speculation.source is not DraftSource.NONE)
        self._show_target()
        self._show_draft(speculation.source)
        if not self._pair.loading:
            self._fraction = None
        self._show_status()

    def _show_target(self) -> None:
        path = self._pair.target_path
        if path is None:
            self._target.show_chosen("Choose a model", "The model that decides; choose a GGUF file", None)
            return
        self._target.show_chosen(self._name_of(path), model_details(path, self._pair.target), path)

    def _show_draft(self, source: DraftSource) -> None:
        self._draft.show_source(source)
        path = self._pair.draft_path
        if not source.uses_model:
            self._draft.show_chosen(_SOURCE_NAMES[source], _SOURCE_EXPLANATIONS[source], path)
        elif path is None:
            self._draft.show_chosen("Choose a draft", "What proposes tokens; choose a small GGUF file", None)
        else:
            name = self._name_of(path)
            if source is DraftSource.BOTH:
                name = f"lookup + {name}"
            self._draft.show_chosen(name, model_details(path, self._pair.draft), path)

    def _name_of(self, path: str) -> str:
        """As the menu calls it: what a model calls itself often says neither its size nor its quantisation."""
        return self._names.get(PurePath(path), PurePath(path).stem)

    def _on_load_progressed(self, progress: LoadProgress) -> None:
        self._fraction = progress.fraction
        self._show_status()

    def _show_status(self) -> None:
        status = self._pair.status()
        if self._fraction is None:
            self._chip.show_state(status.text, status.detail, self._dot_colour(status))
        else:
            self._chip.show_progress(status.text, status.detail, self._fraction)

    def _dot_colour(self, status: Status) -> QColor:
        colours = self._appearance.colours
        if status.active:
            return colours.positive
        troubled = self._pair.target_problem is not None or self._pair.draft_problem is not None
        return colours.warning if troubled else colours.muted


def _menu_button(actions: WindowActions) -> QToolButton:
    button = QToolButton()
    button.setText("☰")
    button.setProperty("look", "menu")
    button.setToolTip("Everything the window can do, with its shortcuts")
    button.setAccessibleName("Menu")
    button.setMenu(actions.menu(button))
    button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
    return button
