"""Fixtures for real models. A model that isn't there fails the test and says how to get it."""

from __future__ import annotations

from pathlib import Path

import pytest

import fetch_models
from desktop_app.library import paths, starter

# Taken before any test points Draftglass at folders of its own.
_MODELS = paths.models_dir()


@pytest.fixture(scope="session")
def starter_target() -> Path:
    """SmolLM2-135M-Instruct Q4_1."""
    return _model(starter.TARGET_NAME)


@pytest.fixture(scope="session")
def starter_draft() -> Path:
    """The starter target requantised to Q2_K."""
    return _model(starter.DRAFT_NAME)


@pytest.fixture(scope="session")
def qwen_target() -> Path:
    """Qwen2.5-Coder-1.5B-Instruct Q4_K_M."""
    return _model(fetch_models.QWEN_TARGET.name)


@pytest.fixture(scope="session")
def qwen_draft() -> Path:
    """Qwen2.5-Coder-0.5B-Instruct Q4_K_M."""
    return _model(fetch_models.QWEN_DRAFT.name)


@pytest.fixture(scope="session")
def gemma() -> Path:
    """Gemma-3-270M Q4_K_M, which has sliding-window memory."""
    return _model(fetch_models.GEMMA.name)


def _model(name: str) -> Path:
    path = _MODELS / name
    if not path.exists():
        pytest.fail(f"{path} is missing; `python3 packaging/dev.py test` fetches it", pytrace=False)
    return path
