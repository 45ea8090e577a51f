"""Real models, loaded once and shared; every test starts with empty caches."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop_app.engine.pair import Pair
from tests.model.helpers import loaded


@pytest.fixture(scope="session")
def _starter(starter_target: Path, starter_draft: Path) -> Iterator[Pair]:
    with loaded(starter_target, starter_draft) as pair:
        yield pair


@pytest.fixture(scope="session")
def _twins(starter_target: Path) -> Iterator[Pair]:
    with loaded(starter_target, starter_target) as pair:
        yield pair


@pytest.fixture
def starter(_starter: Pair) -> Pair:
    """SmolLM2-135M Q4_1 with its Q2_K requantisation as draft, 2,048 tokens of context."""
    return _emptied(_starter)


@pytest.fixture
def twins(_twins: Pair) -> Pair:
    """SmolLM2-135M as target and as its own draft."""
    return _emptied(_twins)


def _emptied(pair: Pair) -> Pair:
    for half in (pair.target, pair.draft):
        assert half is not None
        half.context.clear()
    return pair
