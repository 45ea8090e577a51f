"""How the engine process ends: when told to, when the window is gone, on foreign bytes, and when it is killed."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from desktop_app.protocol.messages import Finished, Load, LoadProgress, Ready, RoundDone, Shutdown
from tests.process.engine import STORY, Engine, EngineEnded, ask, settings

pytestmark = [pytest.mark.process, pytest.mark.model]

ENDS_WITHIN_S = 5.0


def test_shutdown_ends_it_after_the_answer_that_runs(loaded: Engine, undisturbed: list[int]) -> None:
    loaded.send(ask(2))
    loaded.send(Shutdown())
    loaded.until(Finished)
    assert loaded.ids(2) == undisturbed
    assert loaded.process.wait(ENDS_WITHIN_S) == 0


class TestWithoutAWindow:
    def test_while_streaming(self, loaded: Engine) -> None:
        loaded.send(ask(2, STORY, max_tokens=1500))
        loaded.until(RoundDone)
        loaded.hang_up()
        assert loaded.process.wait(ENDS_WITHIN_S) == 0

    def test_with_another_request_waiting(self, loaded: Engine) -> None:
        loaded.send(ask(2, STORY, max_tokens=1500))
        loaded.send(ask(3, STORY, max_tokens=1500))
        loaded.until(RoundDone)
        loaded.hang_up()
        assert loaded.process.wait(ENDS_WITHIN_S) == 0

    def test_while_loading(self, engine: Engine, qwen_target: Path) -> None:
        engine.send(Load(1, settings(qwen_target)))
        engine.until(LoadProgress)
        engine.hang_up()
        assert engine.process.wait(ENDS_WITHIN_S) == 0


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"\xff" * 64, id="an impossible length"),
        pytest.param(b"\x00\x00\x00\x05hello", id="no MessagePack"),
        pytest.param(b"\x00\x00\x00\x07\x81\xa4type\x01", id="no command"),
    ],
)
def test_bytes_that_are_no_message_end_it(engine: Engine, data: bytes) -> None:
    engine.until(Ready)
    engine.write(data)
    assert engine.process.wait(ENDS_WITHIN_S) == 0


def test_killed_it_is_the_end_of_the_pipe(loaded: Engine) -> None:
    loaded.send(ask(2, STORY, max_tokens=1500))
    loaded.until(RoundDone)
    loaded.process.kill()
    with pytest.raises(EngineEnded):
        loaded.until(Finished)
    assert loaded.process.wait(ENDS_WITHIN_S) == -signal.SIGKILL
