"""Cancelling at every moment of a request: soon, exactly one ending, and the next answer is as if nothing had been."""

from __future__ import annotations

from pathlib import Path

import pytest

from desktop_app.core.errors import Fault
from desktop_app.protocol.messages import (
    Cancel,
    Cancelled,
    Failed,
    Finished,
    Load,
    Loaded,
    LoadProgress,
    Prefilling,
    RoundDone,
)
from tests.process.engine import LONG, STORY, Engine, ask, settings

pytestmark = [pytest.mark.process, pytest.mark.model]


def test_while_loading(
    loaded: Engine, qwen_target: Path, starter_target: Path, starter_draft: Path, undisturbed: list[int]
) -> None:
    loaded.send(Load(2, settings(qwen_target)))
    loaded.until(LoadProgress)
    loaded.cancel(2)
    loaded.send(ask(3))
    assert loaded.until(Failed).problem.fault is Fault.NO_MODEL

    loaded.send(Load(4, settings(starter_target), settings(starter_draft)))
    assert loaded.until(Loaded).draft is not None
    assert loaded.answer(5) == undisturbed
    assert loaded.endings(2) == [Cancelled(2)]


def test_while_reading_the_prompt(loaded: Engine, undisturbed: list[int]) -> None:
    loaded.send(ask(2, LONG))
    assert loaded.until(Prefilling).total > 1400
    loaded.cancel(2)
    assert loaded.answer(3) == undisturbed
    assert loaded.endings(2) == [Cancelled(2)]
    assert loaded.of(Prefilling, 2)[-1].done < loaded.of(Prefilling, 2)[-1].total
    assert not loaded.of(RoundDone, 2)


def test_while_streaming(loaded: Engine, undisturbed: list[int]) -> None:
    loaded.send(ask(2, STORY, max_tokens=1500))
    loaded.until(RoundDone)
    loaded.until(RoundDone)
    loaded.cancel(2)
    assert loaded.answer(3) == undisturbed
    assert loaded.endings(2) == [Cancelled(2)]


def test_before_it_began(loaded: Engine, undisturbed: list[int]) -> None:
    loaded.send(ask(2))
    loaded.send(ask(3))
    loaded.send(Cancel(3))
    assert loaded.until(Finished).request == 2
    assert loaded.until(Cancelled).request == 3
    assert loaded.ids(2) == undisturbed, "the running one is not touched"
    assert loaded.answer(4) == undisturbed
    assert loaded.endings(3) == [Cancelled(3)]
    assert not loaded.of(Prefilling, 3)


def test_after_it_finished_nothing_happens(loaded: Engine, undisturbed: list[int]) -> None:
    loaded.answer(2)
    loaded.send(Cancel(2))
    assert loaded.answer(3) == undisturbed
    assert [type(event) for event in loaded.endings(2)] == [Finished]
