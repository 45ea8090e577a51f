"""`draftglass --self-test`: one speculative turn through the real window and engine, then one line of JSON.

Uses the installed starter pair, but settings and chats of its own in a temporary folder.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication

from desktop_app.app import Draftglass, Places, make_application
from desktop_app.core.errors import Problem
from desktop_app.core.rounds import Kind
from desktop_app.core.settings import AnswerSettings, DraftSource, Sampling, Speculation
from desktop_app.library import paths
from desktop_app.library.starter import DRAFT_NAME, TARGET_NAME
from desktop_app.protocol.messages import Loaded
from desktop_app.services.settings_file import Settings
from desktop_app.services.turn import Turn, TurnState
from desktop_app.ui.transcript.message_view import AnswerView

TIMEOUT_S = 60
PROMPT = "Count from one to twenty in words, separated by commas."
_MAX_TOKENS = 64
_GAMMA = 4
"""Fixed: auto might rightly draft nothing."""
_LOOK_MS = 20
_WORD_LENGTH = 3
"""Shorter ones may be the mark of a list item."""
_IMPORTED_AT = time.perf_counter()

Report = dict[str, Any]


class SelfTest(QObject):
    """Runs once; `report` is set when the loop of the application has ended."""

    def __init__(self, app: QApplication, draftglass: Draftglass) -> None:
        super().__init__(app)
        self._app = app
        self._draftglass = draftglass
        self.report: Report = {"ok": False, "failed": "the window never ended"}
        self._times: Report = {}
        self._load_started_s = 0.0
        self._turn: Turn | None = None
        self._look = QTimer(self, interval=_LOOK_MS)
        self._look.timeout.connect(self._on_look_due)
        self._deadline = QTimer(self, singleShot=True, interval=TIMEOUT_S * 1000)
        self._deadline.timeout.connect(self._on_timeout)
        self._deadline.start()
        draftglass.window.first_painted.connect(self._on_first_painted)
        draftglass.engine.ready.connect(self._on_engine_ready)
        draftglass.engine.loaded.connect(self._on_loaded)
        draftglass.engine.died.connect(self._on_problem)
        draftglass.pair.problem_raised.connect(self._on_problem)
        draftglass.session.problem_raised.connect(self._on_problem)
        draftglass.session.turn_ended.connect(self._on_turn_ended)

    def _on_first_painted(self) -> None:
        self._times["window_shown_ms"] = _since_process_start_ms()
        self._load_started_s = time.perf_counter()
        self._draftglass.start()

    def _on_engine_ready(self) -> None:
        self._times["engine_ready_ms"] = _since_process_start_ms()

    def _on_loaded(self, loaded: Loaded) -> None:
        self._times["load_ms"] = round(1000 * (time.perf_counter() - self._load_started_s))
        if loaded.draft is None:
            self._fail(str(loaded.draft_problem or "the draft was not loaded"))
        elif not self._draftglass.session.send(PROMPT):
            self._fail("the message was not taken")

    def _on_problem(self, problem: Problem) -> None:
        self._fail(str(problem))

    def _on_turn_ended(self, turn: Turn) -> None:
        if failure := _failure_of(turn):
            self._fail(failure)
            return
        self._turn = turn
        self._look.start()

    def _on_look_due(self) -> None:
        """The transcript paints with its next frame; the deadline ends the waiting."""
        views = self._draftglass.transcript.transcript.views
        answer = views[-1] if views else None
        if self._turn is None or not isinstance(answer, AnswerView):
            return
        painted = answer.text.toPlainText()
        if any(word in painted for word in _words_of(self._turn)):
            self._end({"ok": True, **_figures_of(self._turn), **self._times})

    def _on_timeout(self) -> None:
        missing = "no answer" if self._turn is None else "the answer was not painted"
        self._fail(f"{missing} within {TIMEOUT_S} s")

    def _fail(self, why: str) -> None:
        self._end({"ok": False, "failed": why, **self._times})

    def _end(self, report: Report) -> None:
        self.report = report
        self._deadline.stop()
        self._look.stop()
        self._app.quit()


def main(argv: Sequence[str]) -> int:
    """Print the report; returns 0 if all went well, else 1."""
    argparse.ArgumentParser(prog="draftglass --self-test", description=__doc__).parse_args(argv)
    missing = [name for name in (TARGET_NAME, DRAFT_NAME) if not (paths.models_dir() / name).is_file()]
    report = {"ok": False, "failed": f"starter models missing: {', '.join(missing)}"} if missing else _run()
    print(json.dumps(report, ensure_ascii=False))
    return 0 if report["ok"] else 1


def _run() -> Report:
    if _no_display():
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    app = make_application()
    with tempfile.TemporaryDirectory(prefix="draftglass-self-test-") as folder:
        home = Path(folder)
        draftglass = Draftglass(app, Places.below(home / "config", home / "data", home / "log"))
        draftglass.settings.apply(_settings())
        test = SelfTest(app, draftglass)
        draftglass.window.show()
        app.exec()
        draftglass.window.close()
        draftglass.stop()
    return test.report


def _settings() -> Settings:
    return Settings(
        target_path=str(paths.models_dir() / TARGET_NAME),
        draft_path=str(paths.models_dir() / DRAFT_NAME),
        answer=AnswerSettings(
            sampling=Sampling(temperature=0.0),
            speculation=Speculation(enabled=True, source=DraftSource.MODEL, gamma=_GAMMA),
            max_tokens=_MAX_TOKENS,
        ),
    )


def _failure_of(turn: Turn) -> str:
    """What is wrong with the turn, or nothing."""
    broken = next((rule for round_ in turn.answer.rounds if (rule := round_.broken_rule())), None)
    checks: tuple[tuple[bool, Callable[[], str]], ...] = (
        (turn.state is TurnState.FINISHED, lambda: str(turn.problem or f"the answer was {turn.state}")),
        (bool(turn.answer.shown.strip()), lambda: "the answer is empty"),
        (turn.answer.tally.drafted > 0, lambda: str(turn.speculation_problem or "nothing was drafted")),
        (broken is None, lambda: f"a round breaks the rule: {broken}"),
    )
    return next((explain() for good, explain in checks if not good), "")


def _words_of(turn: Turn) -> list[str]:
    """What of the answer is painted as it was written, whatever Markdown makes of the marks around it."""
    return [word for word in re.findall(r"\w+", turn.answer.shown) if len(word) >= _WORD_LENGTH]


def _figures_of(turn: Turn) -> Report:
    tally = turn.answer.tally
    return {
        "tokens": {str(kind): tally.counts[kind] for kind in Kind},
        "rounds": tally.rounds,
        "tok_per_s": None if tally.tok_per_s is None else round(tally.tok_per_s, 1),
    }


def _no_display() -> bool:
    return sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _since_process_start_ms() -> int:
    """Milliseconds since this process began, where the system tells; else since this module was imported."""
    try:
        # Field 22 of the part behind the name, which may hold spaces; see proc_pid_stat(5).
        fields = Path("/proc/self/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
        started_s = int(fields[19]) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, AttributeError):
        return round(1000 * (time.perf_counter() - _IMPORTED_AT))
    return round(1000 * (time.clock_gettime(time.CLOCK_BOOTTIME) - started_s))
