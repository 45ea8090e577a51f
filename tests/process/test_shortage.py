"""Too little memory: the engine says what for and what to do, stays alive, and what it advises works."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from desktop_app.core.errors import Fault
from desktop_app.protocol.messages import Failed, Load, Loaded, Ready
from tests.process.engine import Engine, settings

pytestmark = [pytest.mark.process, pytest.mark.model]

MB = 1_000_000


def limit(engine: Engine, room_bytes: int) -> None:
    """Let the process have this much more address space than it has now."""
    engine.until(Ready)
    process = psutil.Process(engine.process.pid)
    most = process.memory_info().vms + room_bytes
    process.rlimit(psutil.RLIMIT_AS, (most, most))


def test_a_context_that_does_not_fit_is_named_and_a_smaller_one_works(engine: Engine, starter_target: Path) -> None:
    """8,192 tokens take 189 MB, 512 take 12."""
    limit(engine, starter_target.stat().st_size + 150 * MB)
    engine.send(Load(1, settings(starter_target, n_ctx=8192)))
    problem = engine.until(Failed).problem
    assert problem.fault is Fault.OUT_OF_MEMORY
    assert (
        problem.message
        == "There is not enough memory for a context of 8,192 tokens: 180 MB at once were not to be had."
    )
    assert problem.hint.startswith("Set a smaller context")
    engine.send(Load(2, settings(starter_target, n_ctx=512)))
    assert engine.until(Loaded).request == 2
    assert engine.answer(3)


def test_weights_that_do_not_fit_are_named(engine: Engine, starter_target: Path) -> None:
    limit(engine, 50 * MB)
    engine.send(Load(1, settings(starter_target)))
    problem = engine.until(Failed).problem
    assert problem.fault is Fault.OUT_OF_MEMORY
    assert problem.message == f"There is not enough memory for the weights of {starter_target.name}."
    assert "smaller model" in problem.hint


def test_a_draft_that_does_not_fit_costs_only_speculation(
    engine: Engine, starter_target: Path, starter_draft: Path
) -> None:
    limit(engine, starter_target.stat().st_size + 150 * MB)
    engine.send(Load(1, settings(starter_target, n_ctx=512), settings(starter_draft)))
    loaded = engine.until(Loaded)
    assert loaded.draft_problem is not None
    assert loaded.draft_problem.fault is Fault.OUT_OF_MEMORY
    assert engine.answer(2)
