"""The engine process as the window meets it: handshake, load, answer, and messages it refuses to answer."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from desktop_app.core.errors import Fault
from desktop_app.protocol.messages import (
    PROTOCOL_VERSION,
    Calibrated,
    Failed,
    Finished,
    Load,
    Loaded,
    LoadProgress,
    Part,
    Prefilling,
    Ready,
    RoundDone,
    Stop,
    Unload,
    Unloaded,
)
from tests.process.engine import LONG, N_CTX, STORY, Engine, ask, settings

pytestmark = [pytest.mark.process, pytest.mark.model]


def test_the_handshake_comes_first_and_names_protocol_version_and_devices(engine: Engine) -> None:
    ready = engine.until(Ready)

    assert engine.events == [ready]
    assert ready.protocol == PROTOCOL_VERSION
    assert re.match(r"\d+\.\d+", ready.llama_cpp_python)
    assert [device.name for device in ready.devices]


def test_a_turn_from_load_to_finish(engine: Engine, starter_target: Path, starter_draft: Path) -> None:
    engine.send(Load(1, settings(starter_target), settings(starter_draft)))
    loaded = engine.until(Loaded)
    assert loaded.draft is not None
    assert loaded.target.n_ctx == loaded.draft.n_ctx == N_CTX
    assert {event.part for event in engine.of(LoadProgress, 1)} == {Part.TARGET, Part.DRAFT}
    costs = engine.until(Calibrated).costs
    assert costs is not None, "nothing broke the measuring off"
    assert [size for size, _ in costs.passes] == [1, 2, 3, 5, 9, 17]
    assert costs.draft_step

    ids = engine.answer(2)

    prefill, rounds = engine.of(Prefilling, 2), engine.of(RoundDone, 2)
    assert prefill[-1].done == prefill[-1].total
    assert [event.round.index for event in rounds] == list(range(len(rounds)))
    assert rounds[0].round.position == prefill[-1].total
    assert rounds[-1].context == prefill[-1].total + len(ids)
    assert any(event.round.gamma for event in rounds)
    [finished] = engine.of(Finished, 2)
    assert finished.stop is Stop.LIMIT
    assert len(ids) == 24
    assert finished.speculation_problem is None


def test_measuring_waits_for_the_answer_that_is_asked_for(
    engine: Engine, starter_target: Path, starter_draft: Path
) -> None:
    engine.send(Load(1, settings(starter_target), settings(starter_draft)))
    engine.send(ask(2))
    engine.until(Finished)
    assert engine.until(Calibrated).costs is not None


def test_a_slow_window_neither_holds_up_the_engine_nor_loses_a_round(loaded: Engine) -> None:
    loaded.narrow_output()
    began = time.monotonic()
    loaded.send(ask(2, STORY, max_tokens=200))
    loaded.come_to_rest()
    unread_s = time.monotonic() - began

    finished = loaded.until(Finished)
    rounds = [event.round for event in loaded.of(RoundDone, 2)]
    assert len(loaded.ids(2)) == 200
    assert [round_.index for round_ in rounds] == list(range(len(rounds)))
    # A round that had waited for its reader would have taken longer than nobody read.
    assert finished.prefill_s + sum(round_.seconds.total for round_ in rounds) < unread_s


class TestRefusals:
    def test_no_model(self, loaded: Engine) -> None:
        loaded.send(Unload())
        loaded.until(Unloaded)
        loaded.send(ask(2))
        assert loaded.until(Failed).problem.fault is Fault.NO_MODEL

    def test_a_prompt_longer_than_the_context_names_both_counts(self, loaded: Engine, undisturbed: list[int]) -> None:
        loaded.send(ask(2, LONG * 2))
        problem = loaded.until(Failed).problem
        assert problem.fault is Fault.PROMPT_TOO_LONG
        counts = [int(count.replace(",", "")) for count in re.findall(r"\d[\d,]*", problem.message)]
        assert len(counts) == 2
        assert counts[0] > counts[1] == N_CTX
        assert loaded.answer(3) == undisturbed

    def test_an_empty_prompt(self, loaded: Engine, undisturbed: list[int]) -> None:
        loaded.send(ask(2, "  \n"))
        assert loaded.until(Failed).problem.fault is Fault.EMPTY_PROMPT
        assert loaded.answer(3) == undisturbed
