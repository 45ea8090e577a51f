"""The folders of the app and its resources."""

from __future__ import annotations

from pathlib import Path

import pytest

from desktop_app.library import paths


def test_home_variable_holds_every_folder(home: Path) -> None:
    folders = (paths.data_dir(), paths.models_dir(), paths.config_dir(), paths.log_dir())

    assert all(folder.is_relative_to(home) for folder in folders)
    assert len(set(folders)) == len(folders)


def test_without_it_the_systems_folders_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(paths.HOME_VARIABLE)

    folders = (paths.data_dir(), paths.models_dir(), paths.config_dir(), paths.log_dir())

    assert all("draftglass" in folder.parts for folder in folders)


def test_resources_are_found_in_the_checkout() -> None:
    assert paths.resource("icons/draftglass.svg").is_file()
