"""Engines for the process tests: one process for each test, since most of them leave it broken or gone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from desktop_app.protocol.messages import Load, Loaded
from tests.process.engine import Engine, settings


@pytest.fixture
def engine() -> Iterator[Engine]:
    with _running() as engine:
        yield engine


@pytest.fixture
def loaded(engine: Engine, starter_target: Path, starter_draft: Path) -> Engine:
    """With the starter pair in memory, loaded as request 1."""
    return _load_pair(engine, starter_target, starter_draft)


@pytest.fixture(scope="session")
def undisturbed(starter_target: Path, starter_draft: Path) -> list[int]:
    """The starter pair's answer to QUESTION, in a process where nothing else happened."""
    with _running() as engine:
        return _load_pair(engine, starter_target, starter_draft).answer(2)


@contextmanager
def _running() -> Iterator[Engine]:
    engine = Engine()
    try:
        yield engine
    finally:
        engine.close()


def _load_pair(engine: Engine, target: Path, draft: Path) -> Engine:
    engine.send(Load(1, settings(target), settings(draft)))
    assert engine.until(Loaded).draft_problem is None
    return engine
