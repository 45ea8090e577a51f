"""What the engine process does with models that can't be used, and with those it holds already."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from desktop_app.core.errors import Fault
from desktop_app.protocol.messages import Failed, Finished, Load, Loaded, LoadProgress, Part, RoundDone
from tests.fakes.tiny_models import truncate
from tests.process.engine import Engine, settings

pytestmark = [pytest.mark.process, pytest.mark.model]


class TestTargets:
    @pytest.mark.parametrize("content", [None, b"", b"GGUF\x03\x00\x00\x00 and then nothing of the kind"])
    def test_one_that_cannot_be_loaded_is_named(
        self, engine: Engine, starter_target: Path, tmp_path: Path, content: bytes | None
    ) -> None:
        file = tmp_path / "broken.gguf"
        if content is not None:
            file.write_bytes(content)
        _assert_refused_and_usable(engine, file, starter_target)

    def test_half_a_download_is_named(self, engine: Engine, starter_target: Path, tmp_path: Path) -> None:
        file = truncate(starter_target, tmp_path / "broken.gguf", keep=0.5)
        _assert_refused_and_usable(engine, file, starter_target)


class TestDrafts:
    def test_the_same_pair_again_loads_nothing(
        self, loaded: Engine, starter_target: Path, starter_draft: Path, undisturbed: list[int]
    ) -> None:
        loaded.send(Load(2, settings(starter_target), settings(starter_draft)))
        assert loaded.until(Loaded).draft is not None
        assert not loaded.of(LoadProgress, 2)
        assert loaded.answer(3) == undisturbed

    def test_another_one_keeps_the_target(self, loaded: Engine, starter_target: Path, undisturbed: list[int]) -> None:
        loaded.send(Load(2, settings(starter_target), settings(starter_target)))
        event = loaded.until(Loaded)
        assert event.draft is not None
        assert event.draft.path == str(starter_target)
        assert {progress.part for progress in loaded.of(LoadProgress, 2)} == {Part.DRAFT}
        assert loaded.answer(3) == undisturbed

    def test_one_that_cannot_be_loaded_costs_only_speculation(
        self, loaded: Engine, starter_target: Path, tmp_path: Path
    ) -> None:
        loaded.send(Load(2, settings(starter_target), settings(tmp_path / "absent.gguf")))
        event = loaded.until(Loaded)
        assert event.draft is None
        assert event.draft_problem is not None
        assert event.draft_problem.fault is Fault.BAD_MODEL
        assert "absent.gguf" in event.draft_problem.message
        _assert_plain(loaded, 3, event)

    def test_one_with_another_vocabulary_is_refused_by_the_token_that_differs(
        self, loaded: Engine, starter_target: Path, qwen_draft: Path
    ) -> None:
        loaded.send(Load(2, settings(starter_target), settings(qwen_draft)))
        event = loaded.until(Loaded)
        assert {progress.part for progress in loaded.of(LoadProgress, 2)} == {Part.DRAFT}
        assert event.draft is None
        assert event.draft_problem is not None
        assert event.draft_problem.fault is Fault.VOCABULARY
        assert re.search(r"token \d+ differs", event.draft_problem.message)
        _assert_plain(loaded, 3, event)


def _assert_refused_and_usable(engine: Engine, file: Path, good: Path) -> None:
    engine.send(Load(1, settings(file)))
    problem = engine.until(Failed).problem
    assert problem.fault is Fault.BAD_MODEL
    assert file.name in problem.message
    assert problem.hint
    engine.send(Load(2, settings(good)))
    assert engine.until(Loaded).request == 2
    assert engine.answer(3)


def _assert_plain(engine: Engine, request: int, loaded: Loaded) -> None:
    """The chat goes on without speculation and says why."""
    assert len(engine.answer(request)) == 24
    assert {event.round.gamma for event in engine.of(RoundDone, request)} == {0}
    [finished] = engine.of(Finished, request)
    assert finished.speculation_problem == loaded.draft_problem
