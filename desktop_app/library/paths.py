"""Where Draftglass keeps its files. Owns the names of its folders; creates none of them."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

HOME_VARIABLE = "DRAFTGLASS_HOME"
"""Environment variable that puts every folder below one, so that tests and trials leave the user's files alone."""

_PACKAGE = Path(__file__).resolve().parent.parent


def data_dir() -> Path:
    """Chats and everything else that is worth a backup."""
    return _home() or platformdirs.user_data_path("draftglass", appauthor=False)


def models_dir() -> Path:
    """Model files that Draftglass fetched or made."""
    return data_dir() / "models"


def config_dir() -> Path:
    """What the user set."""
    home = _home()
    return home / "config" if home else platformdirs.user_config_path("draftglass", appauthor=False)


def log_dir() -> Path:
    """What window and engine logged."""
    home = _home()
    return home / "log" if home else platformdirs.user_log_path("draftglass", appauthor=False)


def resource(name: str) -> Path:
    """A file or folder of `resources/`, named with forward slashes: in the wheel, else in the checkout."""
    packed = _PACKAGE / "_resources"
    return (packed if packed.is_dir() else _PACKAGE.parent / "resources") / name


def _home() -> Path | None:
    home = os.environ.get(HOME_VARIABLE)
    return Path(home) if home else None
