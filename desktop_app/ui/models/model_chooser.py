"""How a person gets a model in: file dialog, drag and drop, and the pickers' lists. Tells `PairService` the choice."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog

from desktop_app.protocol.messages import Part
from desktop_app.services.model_shelf import ModelShelf
from desktop_app.services.pair import PairService
from desktop_app.ui.main_window import MainWindow
from desktop_app.ui.models.choices import draft_choices, target_choices
from desktop_app.ui.models.drop_overlay import DropOverlay
from desktop_app.ui.top_bar import TopBar

_TITLES = {Part.TARGET: "Choose the target", Part.DRAFT: "Choose the draft"}
_FILTER = "GGUF models (*.gguf);;All files (*)"


class ModelChooser(QObject):
    """The dialog opens where the last chosen model lies, or in the models folder."""

    def __init__(
        self, window: MainWindow, top_bar: TopBar, pair: PairService, shelf: ModelShelf, models_dir: Path
    ) -> None:
        super().__init__(window)
        self._window = window
        self._top_bar = top_bar
        self._pair = pair
        self._shelf = shelf
        self._models_dir = models_dir
        self._overlay = DropOverlay(window)
        self._overlay.dropped.connect(self._choose)
        top_bar.target_file_requested.connect(self.ask_for_target)
        top_bar.draft_file_requested.connect(self.ask_for_draft)
        top_bar.pickers_opening.connect(self.refresh)
        shelf.changed.connect(self._on_shelf_changed)
        self._judged_for: str | None = None
        pair.changed.connect(self._on_pair_changed)

    def ask_for_target(self) -> None:
        self._ask(Part.TARGET)

    def ask_for_draft(self) -> None:
        self._ask(Part.DRAFT)

    def refresh(self) -> None:
        """Look at the files again; the pickers fill when it is done."""
        chosen = (self._pair.target_path, self._pair.draft_path)
        self._judged_for = self._pair.target_path
        self._shelf.refresh(self._pair.target_path, [path for path in chosen if path])

    def _ask(self, part: Part) -> None:
        dialog = QFileDialog(self._window, _TITLES[part], self._start_folder(part), _FILTER)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(lambda path: self._choose(path, part))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _start_folder(self, part: Part) -> str:
        chosen = self._pair.target_path if part is Part.TARGET else self._pair.draft_path
        return str(Path(chosen).parent if chosen else self._models_dir)

    def _choose(self, path: str, part: Part) -> None:
        if part is Part.TARGET:
            self._pair.choose_target(path)
        else:
            self._pair.choose_draft(path)

    def _on_shelf_changed(self) -> None:
        items = self._shelf.items
        self._top_bar.set_choices(target_choices(items), draft_choices(items, self._pair.target_path))

    def _on_pair_changed(self) -> None:
        if self._pair.target_path != self._judged_for:
            self.refresh()
