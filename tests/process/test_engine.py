"""The engine process as the window meets it: handshake, answers, cancelling, bad input, and both sides' deaths."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop_app.core.errors import Fault
from desktop_app.core.rounds import emitted_ids
from desktop_app.core.settings import AnswerSettings, ModelSettings, Sampling
from desktop_app.protocol.messages import (
    PROTOCOL_VERSION,
    Calibrated,
    Cancel,
    Cancelled,
    ChatMessage,
    Failed,
    Finished,
    Generate,
    Load,
    Loaded,
    LoadProgress,
    Part,
    Prefilling,
    Ready,
    Role,
    RoundDone,
    Unload,
    Unloaded,
)
from tests.process.engine import Engine, EngineEnded

pytestmark = [pytest.mark.process, pytest.mark.model]

QUESTION = "Why is the sky blue?"
LONG = "The quick brown fox jumps over the lazy dog. " * 160
IDLE_S = 2.0
"""The goal is 1 s; the rest is for a machine that does something else as well."""


@pytest.fixture
def engine() -> Iterator[Engine]:
    engine = Engine()
    yield engine
    engine.close()


@pytest.fixture
def loaded(engine: Engine, starter_target: Path, starter_draft: Path) -> Engine:
    """With the starter pair in memory and its passes timed."""
    engine.send(Load(1, settings(starter_target), settings(starter_draft)))
    assert engine.until(Loaded).draft_problem is None
    engine.until(Calibrated)
    return engine


def settings(path: Path | str) -> ModelSettings:
    return ModelSettings(str(path), n_ctx=2048)


def ask(request: int, text: str = QUESTION, max_tokens: int = 24) -> Generate:
    return Generate(
        request, (ChatMessage(Role.USER, text),), AnswerSettings(Sampling(temperature=0.0), max_tokens=max_tokens)
    )


def answer(engine: Engine, request: int) -> list[int]:
    """The ids of an answer that is asked for now."""
    engine.send(ask(request))
    assert engine.until(Finished).request == request
    rounds = [event.round for event in engine.of(RoundDone, request)]
    assert all(round_.broken_rule() is None for round_ in rounds)
    return emitted_ids(rounds)


def assert_cancelled(engine: Engine, request: int, asked_at: float) -> None:
    """Soon, once, and with no other ending."""
    assert engine.until(Cancelled).request == request
    assert time.monotonic() - asked_at < IDLE_S
    assert len(engine.of(Cancelled, request)) == 1
    assert not engine.of(Finished, request)
    assert not engine.of(Failed, request)


def test_the_handshake_names_the_protocol_and_the_devices(engine: Engine) -> None:
    ready = engine.until(Ready)

    assert ready.protocol == PROTOCOL_VERSION
    assert [device.name for device in ready.devices]


def test_a_turn_from_load_to_finish(engine: Engine, starter_target: Path, starter_draft: Path) -> None:
    engine.send(Load(1, settings(starter_target), settings(starter_draft)))
    loaded = engine.until(Loaded)
    assert loaded.draft is not None
    assert loaded.target.n_ctx == loaded.draft.n_ctx == 2048
    assert {event.part for event in engine.of(LoadProgress, 1)} == {Part.TARGET, Part.DRAFT}
    costs = engine.until(Calibrated).costs
    assert costs is not None
    assert costs.plain_tok_per_s > 0
    assert costs.draft_step

    ids = answer(engine, 2)

    assert len(ids) == 24
    assert engine.of(Prefilling, 2)[-1].done == engine.of(Prefilling, 2)[-1].total
    assert any(event.round.gamma for event in engine.of(RoundDone, 2))


class TestCancel:
    def test_while_loading(self, loaded: Engine, qwen_target: Path) -> None:
        loaded.send(Load(2, settings(qwen_target)))
        loaded.until(LoadProgress)
        loaded.send(Cancel(2))
        assert_cancelled(loaded, 2, time.monotonic())

        loaded.send(ask(3))
        assert loaded.until(Failed).problem.fault is Fault.NO_MODEL

    def test_while_reading_the_prompt(self, loaded: Engine) -> None:
        before = answer(loaded, 2)
        loaded.send(ask(3, LONG))
        loaded.until(Prefilling)
        loaded.send(Cancel(3))
        assert_cancelled(loaded, 3, time.monotonic())
        assert not loaded.of(RoundDone, 3)
        assert answer(loaded, 4) == before

    def test_while_streaming(self, loaded: Engine) -> None:
        before = answer(loaded, 2)
        loaded.send(ask(3, "Count to two hundred.", max_tokens=1500))
        loaded.until(RoundDone)
        loaded.until(RoundDone)
        loaded.send(Cancel(3))
        assert_cancelled(loaded, 3, time.monotonic())
        assert answer(loaded, 4) == before

    def test_before_it_began(self, loaded: Engine) -> None:
        loaded.send(ask(2, max_tokens=48))
        loaded.send(ask(3))
        loaded.send(Cancel(3))
        assert loaded.until(Finished).request == 2
        assert_cancelled(loaded, 3, time.monotonic())
        assert not loaded.of(Prefilling, 3)


class TestTheOtherSideDies:
    def test_the_engine_ends_with_the_window(self, loaded: Engine) -> None:
        loaded.send(ask(2, "Count to two hundred.", max_tokens=1500))
        loaded.until(RoundDone)
        loaded.hang_up()
        loaded.process.wait(timeout=5)

    def test_a_killed_engine_is_the_end_of_the_pipe(self, loaded: Engine) -> None:
        loaded.send(ask(2, "Count to two hundred.", max_tokens=1500))
        loaded.until(RoundDone)
        loaded.process.kill()
        with pytest.raises(EngineEnded):
            loaded.until(Finished)

    def test_bytes_that_are_no_message_end_the_engine(self, engine: Engine) -> None:
        engine.until(Ready)
        engine.write(b"\xff" * 64)
        engine.process.wait(timeout=5)


def test_the_engine_does_not_wait_for_a_slow_window(loaded: Engine) -> None:
    """Nothing is read until the engine has gone on to the second answer; no round is lost meanwhile."""
    loaded.send(ask(2, "Count to two hundred.", max_tokens=300))
    loaded.send(ask(3))
    assert loaded.until(Finished).request == 2
    assert loaded.until(Finished).request == 3
    rounds = [event.round for event in loaded.of(RoundDone, 2)]
    assert [round_.index for round_ in rounds] == list(range(len(rounds)))


class TestBadInput:
    def test_no_model(self, loaded: Engine) -> None:
        loaded.send(Unload())
        loaded.until(Unloaded)
        loaded.send(ask(2))
        assert loaded.until(Failed).problem.fault is Fault.NO_MODEL

    def test_a_prompt_longer_than_the_context_names_both_counts(self, loaded: Engine) -> None:
        loaded.send(ask(2, LONG * 3))
        problem = loaded.until(Failed).problem
        assert problem.fault is Fault.PROMPT_TOO_LONG
        assert "2,048" in problem.message
        assert problem.message.count(",") >= 2

    def test_an_empty_prompt(self, loaded: Engine) -> None:
        loaded.send(ask(2, "  \n"))
        assert loaded.until(Failed).problem.fault is Fault.EMPTY_PROMPT

    @pytest.mark.parametrize("content", [None, b"", b"GGUF\x03\x00\x00\x00 and then nothing of the kind"])
    def test_a_target_that_cannot_be_loaded(self, engine: Engine, tmp_path: Path, content: bytes | None) -> None:
        file = tmp_path / "broken.gguf"
        if content is not None:
            file.write_bytes(content)
        engine.send(Load(1, settings(file)))
        problem = engine.until(Failed).problem
        assert problem.fault is Fault.BAD_MODEL
        assert "broken.gguf" in problem.message
        assert problem.hint

    def test_a_draft_that_cannot_be_loaded_costs_only_speculation(self, loaded: Engine, starter_target: Path) -> None:
        loaded.send(Load(2, settings(starter_target), settings("/nowhere/draft.gguf")))
        event = loaded.until(Loaded)
        assert event.draft is None
        assert event.draft_problem is not None
        assert "draft.gguf" in event.draft_problem.message
        assert answer(loaded, 3)

    def test_a_draft_with_another_vocabulary_is_refused_by_name(
        self, loaded: Engine, starter_target: Path, qwen_draft: Path
    ) -> None:
        loaded.send(Load(2, settings(starter_target), settings(qwen_draft)))
        event = loaded.until(Loaded)
        assert {progress.part for progress in loaded.of(LoadProgress, 2)} == {Part.DRAFT}, "the target stays"
        assert event.draft is None
        assert event.draft_problem is not None
        assert event.draft_problem.fault is Fault.VOCABULARY

        loaded.send(ask(3))
        finished = loaded.until(Finished)
        assert finished.speculation_problem == event.draft_problem
        assert all(round_.round.gamma == 0 for round_ in loaded.of(RoundDone, 3))
