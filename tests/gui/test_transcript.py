"""The transcript follows turns: it fills, streams, keeps the reader's place, and says how an answer stands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton, QToolButton
from pytestqt.qtbot import QtBot

from desktop_app.core.baseline import Baseline, BaselineSource
from desktop_app.core.errors import Problem
from desktop_app.core.rounds import Kind
from desktop_app.core.settings import Overflow
from desktop_app.protocol.messages import Prefilling, Stop
from desktop_app.services.settings_file import Theme
from desktop_app.services.turn import ChatView, Turn, TurnState
from desktop_app.ui.theme import Appearance
from desktop_app.ui.transcript.legend import KINDS
from desktop_app.ui.transcript.message_view import AnswerView, UserView
from desktop_app.ui.transcript.view import TranscriptView
from desktop_app.ui.transcript.wording import figures, notice
from tests.fakes.answers import answer_of, finish, finished_turn, grow, rounds_of, running_turn

PARAGRAPHS = "\n\n".join(f"Paragraph {n} with *some* words that fill a line or two of text." for n in range(12))


@pytest.fixture
def view(qtbot: QtBot, qapp: QApplication) -> TranscriptView:
    view = TranscriptView(Appearance(qapp, Theme.LIGHT))
    qtbot.addWidget(view)
    view.resize(700, 500)
    with qtbot.waitExposed(view):
        view.show()
    return view


def show_chat(qtbot: QtBot, view: TranscriptView, *turns: Turn) -> None:
    with qtbot.waitSignal(view.transcript.filled):
        QApplication.processEvents()
        view.show_chat(ChatView(1, "chat", turns))


def answers(view: TranscriptView) -> list[AnswerView]:
    return [shown for shown in view.transcript.views if isinstance(shown, AnswerView)]


def stream(qtbot: QtBot, view: TranscriptView, turn: Turn, text: str) -> None:
    """Give the turn the rounds of a text and wait until they are shown."""
    for round_ in rounds_of(text):
        grow(turn.answer, round_)
        view.update_turn(turn)
    qtbot.waitUntil(lambda: answers(view)[-1].text.complete)


def bar_value(view: TranscriptView) -> tuple[int, int]:
    bar = view.transcript.verticalScrollBar()
    return bar.value(), bar.maximum()


def test_a_chat_is_shown_whole_and_in_order(qtbot: QtBot, view: TranscriptView) -> None:
    turns = [finished_turn(n, PARAGRAPHS, prompt=f"question {n}") for n in range(1, 9)]
    show_chat(qtbot, view, *turns)
    assert [answer.turn for answer in answers(view)] == turns
    assert all(answer.text.complete for answer in answers(view))
    shown = view.transcript.views
    assert [isinstance(message, UserView) for message in shown] == [True, False] * 8
    assert all(above.geometry().bottom() < below.y() for above, below in pairwise(shown))
    value, maximum = bar_value(view)
    assert value == maximum > 0


def test_another_chat_replaces_it(qtbot: QtBot, view: TranscriptView) -> None:
    show_chat(qtbot, view, finished_turn(1, PARAGRAPHS))
    other = finished_turn(2, "Short.")
    show_chat(qtbot, view, other)
    assert [answer.turn for answer in answers(view)] == [other]
    assert bar_value(view) == (0, 0)


def test_a_growing_answer_is_followed_to_its_end(qtbot: QtBot, view: TranscriptView) -> None:
    show_chat(qtbot, view, finished_turn(1, PARAGRAPHS))
    turn = running_turn(2)
    view.start_turn(turn)
    stream(qtbot, view, turn, PARAGRAPHS)
    value, maximum = bar_value(view)
    assert value == maximum
    assert len(answers(view)[-1].text.toPlainText()) > len(PARAGRAPHS) / 2


def test_rounds_are_painted_by_the_frame_not_one_by_one(qtbot: QtBot, view: TranscriptView) -> None:
    turn = running_turn(1)
    view.start_turn(turn)
    frames: list[int] = []
    view.transcript.frame_shown.connect(lambda: frames.append(1))
    stream(qtbot, view, turn, PARAGRAPHS)
    assert len(turn.answer.rounds) > 20
    assert 1 <= len(frames) <= 3


def test_a_reader_further_up_is_left_alone(qtbot: QtBot, view: TranscriptView) -> None:
    show_chat(qtbot, view, finished_turn(1, PARAGRAPHS), finished_turn(2, PARAGRAPHS))
    turn = running_turn(3)
    view.start_turn(turn)
    view.transcript.verticalScrollBar().setValue(100)
    jump = view.transcript.findChild(QPushButton)
    assert jump is not None
    assert jump.isVisible()
    stream(qtbot, view, turn, PARAGRAPHS)
    assert bar_value(view)[0] == 100
    QTest.mouseClick(jump, Qt.MouseButton.LeftButton)
    assert bar_value(view)[0] == bar_value(view)[1]
    assert not jump.isVisible()


def test_resizing_keeps_what_the_reader_sees(qtbot: QtBot, view: TranscriptView) -> None:
    show_chat(qtbot, view, *(finished_turn(n, PARAGRAPHS) for n in range(1, 6)))
    reading = answers(view)[2]
    view.transcript.verticalScrollBar().setValue(reading.y())
    with qtbot.waitSignal(view.transcript.filled):
        view.resize(480, 500)
    assert abs(bar_value(view)[0] - reading.y()) <= 1
    assert all(answer.arranged_width == reading.width() for answer in answers(view))


def test_resizing_while_streaming_loses_nothing(qtbot: QtBot, view: TranscriptView) -> None:
    turn = running_turn(1)
    view.start_turn(turn)
    for number, round_ in enumerate(rounds_of(PARAGRAPHS)):
        grow(turn.answer, round_)
        view.update_turn(turn)
        if number % 10 == 0:
            view.resize(420 + 7 * number, 500)
            QApplication.processEvents()
    finish(turn)
    view.end_turn(turn)
    qtbot.waitUntil(lambda: answers(view)[-1].text.complete)
    view.set_colours_shown(False)
    qtbot.waitUntil(lambda: answers(view)[-1].text.complete)
    assert answers(view)[-1].text.toPlainText().replace("\n", "") == PARAGRAPHS.replace("\n", "").replace("*", "")


def test_the_state_of_an_answer_without_text(qtbot: QtBot, view: TranscriptView) -> None:
    turn = running_turn(1)
    turn.state = TurnState.PREFILLING
    turn.prefill = Prefilling(1, 128, 412, 0)
    assert notice(turn) == "reading the prompt 128 / 412"
    view.start_turn(turn)
    finish(turn)
    with qtbot.waitSignal(view.transcript.frame_shown):
        view.end_turn(turn)
    assert notice(turn) == "The model ended at once."
    assert [figure.text for figure in figures(turn)][:4] == ["– tok/s", "–×", "– drafted", "– tokens/pass"]


def test_the_footer_says_what_the_turn_knows() -> None:
    turn = finished_turn(1, PARAGRAPHS)
    turn.baseline = Baseline(20.0, BaselineSource.THIS_PROMPT)
    tally = turn.answer.tally
    texts = [figure.text for figure in figures(turn)]
    assert texts[0] == f"{tally.tok_per_s:.1f} tok/s"
    assert texts[2] == f"{tally.counts[Kind.ACCEPTED]}/{tally.drafted} drafted"
    assert texts[-2:] == ["0.21 s to first", "end"]
    assert "20.0 tok/s, this very prompt" in figures(turn)[1].tip
    assert all(figure.tip for figure in figures(turn))


def _fill_to_the_limit(turn: Turn) -> None:
    turn.settings = replace(turn.settings, overflow=Overflow.STOP)
    finish(turn, Stop.CONTEXT)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda turn: finish(turn, Stop.LIMIT), "limit"),
        (lambda turn: finish(turn, Stop.CONTEXT), "context full: go on with a new message"),
        (_fill_to_the_limit, "context full: start a new chat, or set a larger context"),
        (lambda turn: setattr(turn, "state", TurnState.CANCELLED), "stopped"),
        (lambda turn: _break(turn, TurnState.INTERRUPTED), "interrupted: The engine died."),
        (lambda turn: _break(turn, TurnState.FAILED), "failed: The engine died."),
    ],
)
def test_why_an_answer_stopped(change: Callable[[Turn], None], words: str) -> None:
    turn = running_turn(1)
    turn.answer = answer_of(rounds_of("Some text."))
    change(turn)
    assert figures(turn)[-1].text == words


def _break(turn: Turn, state: TurnState) -> None:
    turn.state = state
    turn.problem = Problem("The engine died.")


def test_every_figure_explains_itself_on_hover(qtbot: QtBot, view: TranscriptView) -> None:
    show_chat(qtbot, view, finished_turn(1, "Text."))
    footer = answers(view)[0].footer
    assert "Tokens per second of decoding" in footer.tip_at(QPoint(4, 8))
    assert footer.tip_at(QPoint(footer.width() - 1, footer.height() - 1)) == ""


def button(answer: AnswerView, text: str) -> QToolButton:
    return next(found for found in answer.footer.findChildren(QToolButton) if found.text() == text)


def test_copy_and_regenerate(qtbot: QtBot, view: TranscriptView) -> None:
    turn = finished_turn(3, "Some **bold** text.")
    show_chat(qtbot, view, turn)
    answer = answers(view)[0]
    QTest.mouseClick(button(answer, "Copy"), Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == "Some **bold** text."
    with qtbot.waitSignal(view.regenerate_requested) as asked:
        QTest.mouseClick(button(answer, "Regenerate"), Qt.MouseButton.LeftButton)
    assert asked.args == [turn.answer_message_id]


def test_a_running_answer_cannot_be_regenerated(qtbot: QtBot, view: TranscriptView) -> None:
    turn = running_turn(1)
    view.start_turn(turn)
    stream(qtbot, view, turn, "Some text.")
    assert button(answers(view)[0], "Regenerate").isHidden()
    finish(turn)
    with qtbot.waitSignal(view.transcript.frame_shown):
        view.end_turn(turn)
    assert not button(answers(view)[0], "Regenerate").isHidden()


def test_the_legend_hides_kinds_and_tells_it(qtbot: QtBot, view: TranscriptView) -> None:
    show_chat(qtbot, view, finished_turn(1, PARAGRAPHS, alpha=0.5))
    text = answers(view)[0].text
    with_rejected = text.document().characterCount()
    with qtbot.waitSignal(view.hidden_kinds_changed) as told, qtbot.waitSignal(view.transcript.filled):
        QTest.mouseClick(view.legend.item(Kind.REJECTED), Qt.MouseButton.LeftButton)
    assert told.args == [frozenset({Kind.REJECTED, Kind.DISCARDED})]
    assert text.document().characterCount() < with_rejected


def test_the_legend_counts_the_last_answer(qtbot: QtBot, view: TranscriptView) -> None:
    turn = finished_turn(1, PARAGRAPHS)
    show_chat(qtbot, view, turn)
    for kind in KINDS:
        assert f"{turn.answer.tally.counts[kind]} tokens" in view.legend.item(kind).accessibleName()


def test_one_switch_hides_all_colours_and_remembers_the_choice(qtbot: QtBot, view: TranscriptView) -> None:
    show_chat(qtbot, view, finished_turn(1, PARAGRAPHS))
    chosen = view.legend.chosen_kinds
    with qtbot.waitSignal(view.transcript.filled):
        view.set_colours_shown(False)
    assert view.legend.hidden_kinds == frozenset(KINDS)
    assert view.legend.chosen_kinds == chosen
    with qtbot.waitSignal(view.transcript.filled):
        view.set_colours_shown(True)
    assert view.legend.hidden_kinds == chosen
