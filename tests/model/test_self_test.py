"""The self-test, as a packager or a user runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from desktop_app.core.rounds import Kind
from desktop_app.library.paths import HOME_VARIABLE


def run_self_test(home: Path) -> tuple[int, dict[str, object]]:
    environment = {**os.environ, HOME_VARIABLE: str(home), "QT_QPA_PLATFORM": "offscreen"}
    command = [sys.executable, "-m", "desktop_app", "--self-test"]
    done = subprocess.run(command, capture_output=True, env=environment, text=True, timeout=90, check=False)
    (line,) = done.stdout.splitlines()
    return done.returncode, json.loads(line)


@pytest.mark.model
@pytest.mark.process
def test_one_speculative_turn_through_window_and_engine(
    tmp_path: Path, starter_target: Path, starter_draft: Path
) -> None:
    (tmp_path / "models").mkdir()
    for model in (starter_target, starter_draft):
        (tmp_path / "models" / model.name).symlink_to(model)
    code, report = run_self_test(tmp_path)
    assert report["ok"] is True, report
    assert code == 0
    tokens = report["tokens"]
    assert isinstance(tokens, dict)
    assert tokens.keys() == {str(kind) for kind in Kind}
    assert tokens["accepted"] > 0
    assert report.keys() >= {"rounds", "tok_per_s", "window_shown_ms", "engine_ready_ms", "load_ms"}
    assert not (tmp_path / "chats.sqlite3").exists()


def test_without_models_it_says_what_is_missing(tmp_path: Path) -> None:
    code, report = run_self_test(tmp_path)
    assert code == 1
    assert report["ok"] is False
    assert "SmolLM2-135M-Instruct.Q4_1.gguf" in str(report["failed"])
