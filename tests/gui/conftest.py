"""The whole window over a scripted engine: services, widgets and chat file are real, only the models are a script."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from desktop_app.app import Draftglass, Places
from desktop_app.services.settings_file import Settings
from tests.fakes.gguf_files import write_gguf
from tests.fakes.scripted_engine import Script, argv


class Windows:
    """Opens windows on one and the same home, one after the other, and closes what is left open."""

    def __init__(self, qtbot: QtBot, app: QApplication, home: Path, pair: tuple[Path, Path]) -> None:
        self._qtbot = qtbot
        self._app = app
        self._places = Places(home / "settings.json", home / "chats.sqlite3", home / "models", home / "log")
        self._pair = Settings(target_path=str(pair[0]), draft_path=str(pair[1]))
        self._open: list[Draftglass] = []

    def open(self, script: Script | None = None, *, settings: Settings | None = None, start: bool = True) -> Draftglass:
        """Without `settings` the pair of files is chosen; `start` False leaves out chats, engine and models."""
        draftglass = Draftglass(self._app, self._places, argv(script or Script()))
        self._open.append(draftglass)
        current = draftglass.settings.current
        chosen = replace(current, target_path=self._pair.target_path, draft_path=self._pair.draft_path)
        draftglass.settings.apply(settings or chosen)
        with self._qtbot.waitExposed(draftglass.window):
            draftglass.window.show()
        if start:
            with self._qtbot.waitSignal(draftglass.session.chat_opened):
                draftglass.start()
        return draftglass

    def close(self, draftglass: Draftglass) -> None:
        """As the app does at its end."""
        self._open.remove(draftglass)
        draftglass.window.close()
        draftglass.stop()
        draftglass.window.deleteLater()
        draftglass.deleteLater()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)

    def close_all(self) -> None:
        for draftglass in tuple(self._open):
            self.close(draftglass)


@pytest.fixture(autouse=True)
def collected_on_this_thread() -> Iterator[None]:
    """As in the app: a worker thread that collects garbage would destroy Qt objects of this one."""
    gc.disable()
    yield
    gc.enable()


@pytest.fixture
def pair_files(tmp_path: Path) -> tuple[Path, Path]:
    """Two small GGUF files with one vocabulary: target and draft."""
    models = tmp_path / "models"
    models.mkdir()
    return write_gguf(models / "Big-Q8_0.gguf"), write_gguf(models / "Small-Q4_0.gguf")


@pytest.fixture
def windows(qtbot: QtBot, qapp: QApplication, tmp_path: Path, pair_files: tuple[Path, Path]) -> Iterator[Windows]:
    windows = Windows(qtbot, qapp, tmp_path, pair_files)
    yield windows
    windows.close_all()
