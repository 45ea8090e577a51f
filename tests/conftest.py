"""Rules that hold for every test: its own folders, no unexpected log record, nothing left running or open.

Qt's own warnings fail a test through pytest-qt (`qt_log_level_fail` in pyproject.toml).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop_app.library.paths import HOME_VARIABLE
from tests.helpers import leaks
from tests.helpers.log_watch import LogWatch

# Before anything makes a QApplication: no window may pop up while somebody works.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

pytest_plugins = ("tests.models",)


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """Fail on threads, child processes, running timers and top-level widgets that outlive the test."""
    before = leaks.snapshot()
    yield
    left = leaks.left_since(before)
    if left:
        pytest.fail(f"left behind: {', '.join(left)}", pytrace=False)


@pytest.fixture(autouse=True)
def expect_log() -> Iterator[LogWatch]:
    """Fail on log records from WARNING up; `expect_log(pattern)` announces one that must come."""
    with LogWatch() as watch:
        yield watch
    watch.verify()


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Draftglass's folders for this test, below a temporary one."""
    folder = tmp_path / "home"
    monkeypatch.setenv(HOME_VARIABLE, str(folder))
    return folder
