"""The models on disk and whether each could draft for the chosen target. Reads headers on a thread of its own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, QThreadPool, Signal

from desktop_app.core.errors import DraftglassError, Problem
from desktop_app.core.pairing import Verdict
from desktop_app.library.models import BadFile, ModelFile, describe, list_models
from desktop_app.library.pairing import header_verdict


@dataclass(frozen=True, slots=True)
class ShelfItem:
    """A model file and what its header says."""

    path: str
    label: str
    size_bytes: int | None
    """All parts together; None for a file that can't be read."""
    problem: Problem | None = None
    """Why it can't be loaded."""
    verdict: Verdict | None = None
    """As a draft for the target that was asked about; None without one, or where either file can't be read."""
    model: ModelFile | None = None
    """What its header says; None for a file that can't be read."""


class ModelShelf(QObject):
    """Looks through one folder whenever it is asked; the answer comes by `changed`."""

    changed = Signal()
    _listed = Signal(object)  # tuple[ShelfItem, ...], crosses from the worker thread

    def __init__(self, folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._folder = folder
        self._items: tuple[ShelfItem, ...] = ()
        self._asked: tuple[str | None, frozenset[str]] | None = None
        self._busy = False
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._listed.connect(self._on_listed)

    @property
    def items(self) -> tuple[ShelfItem, ...]:
        return self._items

    def refresh(self, target: str | None, others: Iterable[str] = ()) -> None:
        """List the folder and `others` again, with verdicts for this target. Asking while busy asks once more after."""
        self._asked = (target, frozenset(others))
        if not self._busy:
            self._start()

    def close(self) -> None:
        """Wait for the reading under way. For the end of the app."""
        self._asked = None
        self._pool.waitForDone()

    def _start(self) -> None:
        if self._asked is None:
            return
        (target, others), self._asked = self._asked, None
        self._busy = True
        self._pool.start(lambda: self._listed.emit(_shelf(self._folder, target, others)))

    def _on_listed(self, items: tuple[ShelfItem, ...]) -> None:
        self._busy = False
        self._items = items
        self.changed.emit()
        self._start()


def _shelf(folder: Path, target: str | None, others: frozenset[str]) -> tuple[ShelfItem, ...]:
    found: dict[Path, ModelFile | BadFile] = {model.path: model for model in list_models(folder)}
    for path in map(Path, sorted(others)):
        if path not in found:
            found[path] = _described(path)
    return tuple(_item(model, target) for model in found.values())


def _described(path: Path) -> ModelFile | BadFile:
    try:
        return describe(path)
    except DraftglassError as error:
        return BadFile(path, error.problem)


def _item(model: ModelFile | BadFile, target: str | None) -> ShelfItem:
    if isinstance(model, BadFile):
        return ShelfItem(str(model.path), model.path.name, None, model.problem)
    return ShelfItem(
        str(model.path),
        model.label,
        model.size_bytes,
        verdict=_verdict(target, model.path) if target else None,
        model=model,
    )


def _verdict(target: str, draft: Path) -> Verdict | None:
    try:
        return header_verdict(Path(target), draft)
    except DraftglassError:
        return None  # the target is to blame; its own line says so
