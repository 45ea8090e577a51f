"""Settings in memory and their way to the disk."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from desktop_app.core.settings import LoadSettings
from desktop_app.services.settings import SettingsService
from desktop_app.services.settings_file import Settings, Theme, read

pytestmark = pytest.mark.usefixtures("qtbot")


def test_a_change_is_told_at_once_and_saved_soon(qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    service = SettingsService(path)
    dark = replace(service.current, theme=Theme.DARK)
    with qtbot.waitSignal(service.changed, timeout=0):
        service.apply(dark)
    assert not path.exists(), "written in the background"
    with qtbot.waitSignal(service.saved):
        pass
    assert read(path) == (dark, None)


def test_a_burst_of_changes_makes_one_write(qtbot: QtBot, tmp_path: Path) -> None:
    service = SettingsService(tmp_path / "settings.json")
    writes: list[None] = []
    service.saved.connect(lambda: writes.append(None))
    for n_ctx in range(1000, 1010):
        service.apply(service.current.with_loading("/m/a.gguf", LoadSettings(n_ctx=n_ctx)))
    qtbot.waitUntil(lambda: bool(writes))
    service.flush()
    assert len(writes) == 1
    assert read(tmp_path / "settings.json")[0].loading_of("/m/a.gguf").n_ctx == 1009


def test_nothing_new_is_no_change(qtbot: QtBot, tmp_path: Path) -> None:
    service = SettingsService(tmp_path / "settings.json")
    with qtbot.assertNotEmitted(service.changed):
        service.apply(replace(service.current))


def test_the_last_change_is_not_lost_at_the_end(tmp_path: Path) -> None:
    service = SettingsService(tmp_path / "settings.json")
    service.apply(replace(service.current, last_chat_id=77))
    service.flush()
    assert read(tmp_path / "settings.json")[0].last_chat_id == 77


def test_an_unreadable_file_is_told_and_replaced(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text("nonsense")
    service = SettingsService(path)
    assert service.current == Settings()
    assert service.load_problem is not None
    service.apply(replace(service.current, last_chat_id=77))
    service.flush()
    assert SettingsService(path).load_problem is None


def test_a_failing_disk_is_a_problem_and_no_crash(qtbot: QtBot, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    service = SettingsService(blocked / "settings.json")
    with qtbot.waitSignal(service.problem_raised) as raised:
        service.apply(replace(service.current, last_chat_id=77))
    assert raised.args is not None
    assert "could not be saved" in raised.args[0].message
