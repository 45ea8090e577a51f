"""Real models, loaded once and shared; every test starts with empty caches."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop_app.engine.llama import context
from desktop_app.engine.pair import Pair
from tests.model.helpers import loaded
from tests.model.samples import SAMPLES, Sample


@pytest.fixture(scope="session")
def _starter(starter_target: Path, starter_draft: Path) -> Iterator[Pair]:
    with loaded(starter_target, starter_draft) as pair:
        yield pair


@pytest.fixture(scope="session")
def _twins(starter_target: Path) -> Iterator[Pair]:
    with loaded(starter_target, starter_target) as pair:
        yield pair


@pytest.fixture
def _exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read prompts in pieces so small that llama.cpp computes every row the same way, whatever batch it is in.

    From 64 rows up its attention on the CPU rounds differently, so that a text could depend on what is reused.
    """
    monkeypatch.setattr(context, "PREFILL_CHUNK", 16)


@pytest.fixture
def starter(_starter: Pair, _exact: None) -> Pair:
    """SmolLM2-135M Q4_1 with its Q2_K requantisation as draft, 2,048 tokens of context."""
    return _emptied(_starter)


@pytest.fixture
def twins(_twins: Pair, _exact: None) -> Pair:
    """SmolLM2-135M as target and as its own draft."""
    return _emptied(_twins)


@pytest.fixture(scope="module", params=SAMPLES)
def sample(request: pytest.FixtureRequest) -> Sample:
    return SAMPLES[request.param]


@pytest.fixture(scope="module")
def _stateful(sample: Sample, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    folder = tmp_path_factory.mktemp("models")
    with loaded(sample.write(folder / "target.gguf"), sample.write(folder / "draft.gguf", noise=0.02)) as pair:
        yield pair


@pytest.fixture
def stateful(_stateful: Pair) -> Pair:
    """A tiny model with a running state, and as its draft the same weights, a little off."""
    return _emptied(_stateful)


def _emptied(pair: Pair) -> Pair:
    for half in (pair.target, pair.draft):
        assert half is not None
        half.context.clear()
    return pair
