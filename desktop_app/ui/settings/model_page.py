"""How target and draft are loaded, a column each, and what that takes of memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePath

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QWidget

from desktop_app.core.facts import Device, ModelFacts
from desktop_app.core.settings import LoadSettings
from desktop_app.library.models import ModelFile
from desktop_app.protocol.messages import Part
from desktop_app.services.settings_file import Settings
from desktop_app.ui.elided_label import ElidedLabel
from desktop_app.ui.settings.fields import note
from desktop_app.ui.settings.memory_words import (
    MEANING,
    Need,
    estimated,
    measured,
    need_words,
    reload_words,
    room_words,
)
from desktop_app.ui.settings.model_fields import ROWS, ModelFields
from desktop_app.ui.sizes import UNKNOWN
from desktop_app.ui.tone_label import ToneLabel

_MEMORY_ROWS = ("Weights", "KV cache", "Compute buffers", "Together")
_FIRST_FIELD, _FIRST_SIZE = 1, 2 + len(ROWS)
"""Rows of the grid; above the fields stand the models' names, above the sizes a line."""

_COLUMN_WIDTH = 190


@dataclass(frozen=True, slots=True)
class KnownModels:
    """What is known about models and machine, beside their settings."""

    files: Mapping[str, ModelFile]
    """By path; those whose headers were read."""
    loaded: Mapping[str, ModelFacts]
    """By path; those in memory, loaded as the settings say."""
    devices: tuple[Device, ...]


class ModelPage(QWidget):
    """Shows and reads how the chosen models are loaded."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._settings = Settings()
        self._known = KnownModels({}, {}, ())
        self._columns = {part: _Column(part, self) for part in Part}
        self._room = ToneLabel()
        self._reload = ToneLabel()
        self._lay_out()
        for column in self._columns.values():
            column.fields.changed.connect(self._refresh_words)

    def show_values(self, settings: Settings) -> None:
        self._settings = settings
        for part, column in self._columns.items():
            column.fields.show_values(self._applied(part))
        self._refresh()

    def rebase(self, settings: Settings) -> None:
        """The settings changed elsewhere: what is edited here stays, unless another model was chosen."""
        chosen = {part: self._path(part) for part in Part}
        self._settings = settings
        for part, path in chosen.items():
            if self._path(part) != path:
                self._columns[part].fields.show_values(self._applied(part))
        self._refresh()

    def show_known(self, known: KnownModels) -> None:
        self._known = known
        self._refresh()

    def show_defaults(self) -> None:
        for column in self._columns.values():
            column.fields.show_values(LoadSettings())

    def apply_to(self, settings: Settings) -> Settings:
        for part in Part:
            if (path := self._path(part)) is not None:
                settings = settings.with_loading(path, self._loading(part))
        return settings

    @property
    def _one_file(self) -> bool:
        return self._settings.draft_path == self._settings.target_path

    def _path(self, part: Part) -> str | None:
        return self._settings.target_path if part is Part.TARGET else self._settings.draft_path

    def _applied(self, part: Part) -> LoadSettings:
        return self._settings.loading_of(self._path(part) or "")

    def _loading(self, part: Part) -> LoadSettings:
        """How a part is to be loaded; one file that is both is loaded as the target's column says."""
        return self._columns[Part.TARGET if self._one_file else part].fields.values()

    def _lay_out(self) -> None:
        grid = QGridLayout(self)
        grid.setContentsMargins(18, 16, 18, 16)
        grid.setHorizontalSpacing(18)
        grid.setVerticalSpacing(8)
        for row, (label, explanation) in enumerate(ROWS, _FIRST_FIELD):
            grid.addWidget(_caption(label, explanation), row, 0)
        grid.addWidget(_rule(), _FIRST_SIZE - 1, 0, 1, 3)
        for row, label in enumerate(_MEMORY_ROWS, _FIRST_SIZE):
            grid.addWidget(_caption(label, MEANING), row, 0)
        for place, column in enumerate(self._columns.values(), 1):
            column.place_on(grid, place)
        for row, words in enumerate((self._room, note(MEANING), self._reload), _FIRST_SIZE + len(_MEMORY_ROWS)):
            words.setWordWrap(True)
            grid.addWidget(words, row, 0, 1, 3)
        grid.setRowStretch(grid.rowCount(), 1)

    def _refresh(self) -> None:
        gpu = not self._known.devices or any(device.is_gpu for device in self._known.devices)
        for part, column in self._columns.items():
            path = self._path(part)
            column.name.set_text(f"{part.capitalize()} {self._name(part)}", path or "")
            column.fields.fit_to(self._known.files.get(path or ""))
            column.fields.set_enabled(path is not None, gpu=gpu)
        if self._one_file:
            self._columns[Part.DRAFT].fields.set_enabled(False, gpu=gpu)
        self._refresh_words()

    def _refresh_words(self) -> None:
        if self._one_file:
            self._columns[Part.DRAFT].fields.show_values(self._loading(Part.DRAFT))
        needs = {part: self._need(part) for part in Part}
        for part, need in needs.items():
            self._columns[part].show_need(need)
        wanted = [need for part, need in needs.items() if self._path(part) is not None]
        known = [need for need in wanted if need is not None]
        self._room.show_words(room_words(known if len(known) == len(wanted) else (), self._known.devices))
        self._reload.show_words(reload_words(self._changed()))

    def _name(self, part: Part) -> str:
        path = self._path(part)
        if path is None:
            return "none chosen"
        file = self._known.files.get(path)
        return file.label if file else PurePath(path).stem

    def _need(self, part: Part) -> Need | None:
        """Measured where the model is in memory as the column says, else estimated; None where nothing is known."""
        path = self._path(part)
        file = self._known.files.get(path or "")
        if path is None or file is None:
            return None
        how, applied = self._in_full(self._loading, part), self._in_full(self._applied, part)
        facts = self._known.loaded.get(path)
        # Threads take no memory worth the name.
        same = replace(how, threads=applied.threads, batch_threads=applied.batch_threads) == applied
        return measured(file, how, facts) if same and facts else estimated(file, how)

    def _in_full(self, loading: Callable[[Part], LoadSettings], part: Part) -> LoadSettings:
        """With the context that the part gets: the target's, and not more than that was trained for."""
        n_ctx = loading(Part.TARGET).n_ctx
        target = self._known.files.get(self._path(Part.TARGET) or "")
        limit = target.n_ctx_train if target else None
        return replace(loading(part), n_ctx=min(n_ctx, limit or n_ctx))

    def _changed(self) -> list[Part]:
        """What applying loads anew: with another target the draft as well, unless something else drafts."""
        changed = [part for part in Part if self._path(part) and self._loading(part) != self._applied(part)]
        drafts = self._path(Part.DRAFT) and self._settings.answer.speculation.source.uses_model
        return [part for part in Part if changed and (part in changed if part is Part.TARGET else drafts)]


class _Column:
    """The widgets of one part of the pair."""

    def __init__(self, part: Part, page: ModelPage) -> None:
        self.name = ElidedLabel(elide=Qt.TextElideMode.ElideMiddle)
        self.name.setProperty("role", "title")
        self.name.setFixedWidth(_COLUMN_WIDTH)
        self.name.setAccessibleName(f"{part} model")
        self.fields = ModelFields(part, page)
        self.sizes = tuple(QLabel() for _ in _MEMORY_ROWS)
        for label, row in zip(self.sizes, _MEMORY_ROWS, strict=True):
            label.setAccessibleName(f"{row}, {part}")

    def place_on(self, grid: QGridLayout, place: int) -> None:
        for row, field in enumerate((self.name, *self.fields.widgets), _FIRST_FIELD - 1):
            grid.addWidget(field, row, place)
        for row, size in enumerate(self.sizes, _FIRST_SIZE):
            grid.addWidget(size, row, place)

    def show_need(self, need: Need | None) -> None:
        words = (UNKNOWN,) * len(_MEMORY_ROWS) if need is None else need_words(need)
        for label, text in zip(self.sizes, words, strict=True):
            label.setText(text)


def _caption(label: str, explanation: str) -> QLabel:
    caption = QLabel(label)
    caption.setToolTip(explanation)
    return caption


def _rule() -> QFrame:
    line = QFrame()
    line.setFrameShape(QFrame.Shape.HLine)
    line.setForegroundRole(line.palette().ColorRole.Mid)
    return line
