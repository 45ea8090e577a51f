"""The context in the window: its gauge, the size of the message being written, and where the kept turns begin."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPlainTextEdit
from pytestqt.qtbot import QtBot

from desktop_app.app import Draftglass
from desktop_app.core.errors import Fault, Problem
from desktop_app.core.settings import Overflow
from desktop_app.protocol.messages import Count, Generate
from desktop_app.ui.context_gauge import ContextGauge
from desktop_app.ui.speed_panel.prompt_reading import PromptReading
from desktop_app.ui.transcript.message_view import UserView
from tests.fakes.scripted_engine import Mishap, Phase, Script, journal, journal_of
from tests.gui.conftest import Windows

TOO_LONG = Problem("The conversation has 9,412 tokens; the context holds 8,192.", fault=Fault.PROMPT_TOO_LONG)


def gauge(draftglass: Draftglass) -> str:
    (gauge,) = draftglass.window.findChildren(ContextGauge)
    return gauge.text


def size(draftglass: Draftglass) -> str:
    labels = draftglass.conversation.composer.findChildren(QLabel)
    return next(label.text() for label in labels if label.accessibleName() == "Size of the message")


def type_in(draftglass: Draftglass, text: str) -> None:
    (edit,) = draftglass.conversation.composer.findChildren(QPlainTextEdit)
    QTest.keyClicks(edit, text)


def typing_paused(qtbot: QtBot, draftglass: Draftglass) -> None:
    """Wait until the text is due to be counted."""
    (timer,) = draftglass.context.findChildren(QTimer)
    with qtbot.waitSignal(timer.timeout):
        pass


def lines(draftglass: Draftglass) -> list[str]:
    """What stands above each message of the user's."""
    return [view.line for view in draftglass.transcript.transcript.views if isinstance(view, UserView)]


def ready(qtbot: QtBot, draftglass: Draftglass) -> Draftglass:
    qtbot.waitUntil(lambda: draftglass.pair.target is not None and not draftglass.pair.loading)
    return draftglass


def ask(qtbot: QtBot, draftglass: Draftglass, text: str = "Count to ten.") -> None:
    with qtbot.waitSignal(draftglass.session.turn_ended):
        assert draftglass.session.send(text)


class TestGauge:
    def test_it_is_live_while_the_prompt_is_read_and_answered(self, qtbot: QtBot, windows: Windows) -> None:
        draftglass = ready(qtbot, windows.open())
        assert gauge(draftglass) == "context 0 / 8,192"
        seen: list[str] = []
        for moment in (draftglass.session.prefill_progressed, draftglass.session.round_added):
            moment.connect(lambda _: seen.append(gauge(draftglass)))
        ask(qtbot, draftglass)
        used = [int(text.split()[1]) for text in seen]
        assert used[:2] == [5, 10]
        assert used == sorted(used)
        assert used[-1] == 20
        assert gauge(draftglass) == "context 20 / 8,192"

    def test_it_comes_back_with_a_stored_chat(self, qtbot: QtBot, windows: Windows) -> None:
        first = ready(qtbot, windows.open())
        ask(qtbot, first)
        windows.close(first)
        second = windows.open()
        qtbot.waitUntil(lambda: gauge(second) == "context 20 / 8,192")

    def test_a_chat_with_another_model_is_counted(
        self, qtbot: QtBot, windows: Windows, tmp_path: Path, pair_files: tuple[Path, Path]
    ) -> None:
        draftglass = ready(qtbot, windows.open(Script(journal=str(tmp_path / "journal"))))
        ask(qtbot, draftglass, "Three words here.")
        draftglass.pair.choose_target(str(pair_files[1]))
        qtbot.waitUntil(lambda: gauge(draftglass).startswith("context –"))
        qtbot.waitUntil(lambda: gauge(draftglass) == "context 13 / 8,192")
        [count] = journal_of(tmp_path / "journal", Count)
        assert [message.role for message in count.messages] == ["user", "assistant"]

    def test_a_new_chat_uses_nothing(self, qtbot: QtBot, windows: Windows) -> None:
        draftglass = ready(qtbot, windows.open())
        ask(qtbot, draftglass)
        draftglass.session.new_chat()
        assert gauge(draftglass) == "context 0 / 8,192"


class TestMessageSize:
    def test_the_text_is_counted_once_typing_pauses(self, qtbot: QtBot, windows: Windows, tmp_path: Path) -> None:
        draftglass = ready(qtbot, windows.open(Script(journal=str(tmp_path / "journal"))))
        ask(qtbot, draftglass)
        type_in(draftglass, "How about four more")
        assert size(draftglass) == ""
        qtbot.waitUntil(lambda: size(draftglass) == "4 tokens")
        [count] = journal_of(tmp_path / "journal", Count)
        assert [message.role for message in count.messages] == ["user", "assistant", "user"]
        type_in(draftglass, " please")
        assert size(draftglass) == "4 tokens", "until it is counted anew"
        qtbot.waitUntil(lambda: size(draftglass) == "5 tokens")

    def test_the_count_is_that_of_the_prompt_that_is_sent(self, qtbot: QtBot, windows: Windows, tmp_path: Path) -> None:
        draftglass = ready(qtbot, windows.open(Script(journal=str(tmp_path / "journal"))))
        draftglass.settings.apply(replace(draftglass.settings.current, system_prompt="Be brief."))
        type_in(draftglass, "one two")
        qtbot.waitUntil(lambda: size(draftglass) == "2 tokens")
        ask(qtbot, draftglass, "one two")
        [count], [generate] = journal_of(tmp_path / "journal", Count), journal_of(tmp_path / "journal", Generate)
        assert (count.messages, count.settings) == (generate.messages, generate.settings)

    def test_no_count_while_the_engine_answers_but_after_it(
        self, qtbot: QtBot, windows: Windows, tmp_path: Path
    ) -> None:
        draftglass = ready(qtbot, windows.open(Script(phase=Phase.STREAM, journal=str(tmp_path / "journal"))))
        draftglass.session.send("Count.")
        with qtbot.waitSignals([draftglass.session.round_added] * 2):
            pass
        type_in(draftglass, "meanwhile")
        typing_paused(qtbot, draftglass)
        assert size(draftglass) == ""
        assert "Count" not in journal(tmp_path / "journal")
        draftglass.session.stop()
        qtbot.waitUntil(lambda: size(draftglass) == "1 token")

    def test_a_message_that_is_sent_takes_its_size_along(self, qtbot: QtBot, windows: Windows) -> None:
        draftglass = ready(qtbot, windows.open())
        type_in(draftglass, "one two")
        qtbot.waitUntil(lambda: size(draftglass) == "2 tokens")
        ask(qtbot, draftglass, "one two")
        draftglass.conversation.composer.clear()
        assert size(draftglass) == ""

    def test_another_policy_counts_anew(self, qtbot: QtBot, windows: Windows, tmp_path: Path) -> None:
        draftglass = ready(qtbot, windows.open(Script(journal=str(tmp_path / "journal"))))
        type_in(draftglass, "one two")
        qtbot.waitUntil(lambda: size(draftglass) == "2 tokens")
        current = draftglass.settings.current
        draftglass.settings.apply(replace(current, answer=replace(current.answer, overflow=Overflow.STOP)))
        qtbot.waitUntil(lambda: size(draftglass) == "2 tokens")
        assert [count.settings.overflow for count in journal_of(tmp_path / "journal", Count)] == list(Overflow)

    def test_it_warns_before_anything_is_lost_or_refused(self, qtbot: QtBot, windows: Windows) -> None:
        draftglass = ready(qtbot, windows.open(Script(count_problem=TOO_LONG)))
        type_in(draftglass, "one two")
        qtbot.waitUntil(lambda: "8,192" in size(draftglass))
        assert size(draftglass) == f"2 tokens · {TOO_LONG.message}"

    @pytest.mark.parametrize("mishap", [Mishap.ABORT, Mishap.HANG])
    def test_a_dead_or_silent_engine_costs_only_the_size(self, qtbot: QtBot, windows: Windows, mishap: Mishap) -> None:
        draftglass = windows.open(Script(phase=Phase.IDLE, mishap=mishap, misbehaving_runs=1))
        type_in(draftglass, "one two")
        typing_paused(qtbot, draftglass)
        assert size(draftglass) == ""
        assert draftglass.conversation.composer.text == "one two"


class TestLeftOutLine:
    def test_it_stands_above_the_first_turn_in_the_context(self, qtbot: QtBot, windows: Windows) -> None:
        words = "2 earlier turns no longer fit the context and were left out"
        draftglass = ready(qtbot, windows.open(Script(left_out=2)))
        for text in ("First.", "Second."):
            ask(qtbot, draftglass, text)
        assert lines(draftglass)[0] == ""
        ask(qtbot, draftglass, "Third.")
        qtbot.waitUntil(lambda: lines(draftglass) == ["", "", words])
        ask(qtbot, draftglass, "Fourth.")
        qtbot.waitUntil(lambda: lines(draftglass) == ["", "", words, ""])

        windows.close(draftglass)
        again = windows.open(Script())
        qtbot.waitUntil(lambda: lines(again) == ["", "", words, ""])
        ready(qtbot, again)
        ask(qtbot, again, "With a larger context.")
        qtbot.waitUntil(lambda: lines(again) == [""] * 5)

    def test_it_moves_with_the_event_not_with_the_question(self, qtbot: QtBot, windows: Windows) -> None:
        """Until the engine has said what it left out, the line stays where it is."""
        draftglass = ready(qtbot, windows.open(Script(left_out=1)))
        ask(qtbot, draftglass, "First.")
        ask(qtbot, draftglass, "Second.")
        qtbot.waitUntil(lambda: lines(draftglass)[1] != "")
        before = lines(draftglass)
        with qtbot.waitSignal(draftglass.session.turn_started):
            draftglass.session.send("Third.")
        assert lines(draftglass) == [*before, ""]

    def test_the_message_announces_what_it_pushes_out(self, qtbot: QtBot, windows: Windows) -> None:
        draftglass = ready(qtbot, windows.open(Script(left_out=1)))
        ask(qtbot, draftglass, "First.")
        type_in(draftglass, "one two")
        qtbot.waitUntil(lambda: size(draftglass) == "2 tokens · 1 earlier turn will no longer fit the context")
        ask(qtbot, draftglass, "Second.")
        qtbot.waitUntil(lambda: size(draftglass) == "2 tokens")


def test_the_panel_says_how_the_prompt_was_read(qtbot: QtBot, windows: Windows) -> None:
    draftglass = ready(qtbot, windows.open())
    (reading,) = draftglass.window.findChildren(PromptReading)
    assert reading.text == "–"
    ask(qtbot, draftglass)
    assert reading.text == "10 tokens: 0 reused, 10 read in 0 ms"
    windows.close(draftglass)
    again = windows.open()
    (reading,) = again.window.findChildren(PromptReading)
    qtbot.waitUntil(lambda: reading.text == "10 tokens: 0 reused, 10 read in 0 ms")
