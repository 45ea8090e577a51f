"""The composer: keys, growth, refusals, one text for each chat."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPlainTextEdit, QToolButton
from pytestqt.qtbot import QtBot

from desktop_app.core.errors import Fault, Problem
from desktop_app.ui.composer import Composer, ComposerState

TOO_LONG = Problem("The prompt has 9,412 tokens, the context holds 8,192.", "Shorten it.", fault=Fault.PROMPT_TOO_LONG)


@pytest.fixture
def composer(qtbot: QtBot) -> Composer:
    composer = Composer()
    qtbot.addWidget(composer)
    composer.resize(500, 200)
    with qtbot.waitExposed(composer):
        composer.show()
    return composer


def editor(composer: Composer) -> QPlainTextEdit:
    (editor,) = composer.findChildren(QPlainTextEdit)
    return editor


def button(composer: Composer) -> QToolButton:
    (button,) = composer.findChildren(QToolButton)
    return button


def refusal(composer: Composer) -> QLabel:
    return next(label for label in composer.findChildren(QLabel) if "not sent" in label.accessibleName())


def test_enter_submits_and_the_text_stays_until_it_was_taken(qtbot: QtBot, composer: Composer) -> None:
    QTest.keyClicks(editor(composer), "Hello")
    with qtbot.waitSignal(composer.submitted) as sent:
        QTest.keyClick(editor(composer), Qt.Key.Key_Return)
    assert sent.args == ["Hello"]
    assert composer.text == "Hello"
    composer.clear()
    assert composer.text == ""


def test_shift_enter_starts_a_line(qtbot: QtBot, composer: Composer) -> None:
    with qtbot.assertNotEmitted(composer.submitted):
        QTest.keyClicks(editor(composer), "one")
        QTest.keyClick(editor(composer), Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
        QTest.keyClicks(editor(composer), "two")
    assert composer.text == "one\ntwo"


@pytest.mark.parametrize("text", ["", "   ", "\n\n"])
def test_nothing_but_space_cannot_be_sent(qtbot: QtBot, composer: Composer, text: str) -> None:
    composer.fill(text)
    with qtbot.assertNotEmitted(composer.submitted):
        QTest.keyClick(editor(composer), Qt.Key.Key_Return)
    assert not button(composer).isEnabled()


@pytest.mark.parametrize("state", [ComposerState.GENERATING, ComposerState.DISABLED])
def test_enter_keeps_the_text_while_nothing_can_be_sent(qtbot: QtBot, composer: Composer, state: ComposerState) -> None:
    composer.set_state(state)
    composer.fill("later")
    with qtbot.assertNotEmitted(composer.submitted):
        QTest.keyClick(editor(composer), Qt.Key.Key_Return)
    assert composer.text == "later"


def test_the_button_stops_while_generating(qtbot: QtBot, composer: Composer) -> None:
    composer.set_state(ComposerState.GENERATING)
    assert button(composer).accessibleName() == "Stop"
    with qtbot.waitSignal(composer.stop_requested):
        QTest.mouseClick(button(composer), Qt.MouseButton.LeftButton)
    composer.set_state(ComposerState.READY)
    assert button(composer).accessibleName() == "Send"


def test_it_grows_to_eight_lines_and_then_scrolls(composer: Composer) -> None:
    heights = []
    for lines in (1, 2, 8, 9, 30):
        composer.fill("\n".join(["x"] * lines))
        QApplication.processEvents()
        heights.append(editor(composer).sizeHint().height())
    one, two, eight, nine, thirty = heights
    assert one < two < eight == nine == thirty
    assert eight - one == pytest.approx(7 * (two - one), abs=1)
    assert editor(composer).verticalScrollBar().maximum() == 30 - 8
    assert editor(composer).verticalScrollBarPolicy() == Qt.ScrollBarPolicy.ScrollBarAsNeeded


def test_wrapped_lines_count(composer: Composer) -> None:
    one = editor(composer).sizeHint().height()
    composer.fill("word " * 60)
    QApplication.processEvents()
    assert editor(composer).sizeHint().height() > one
    assert editor(composer).verticalScrollBar().value() == 0


def test_a_refused_prompt_comes_back_with_its_reason(composer: Composer) -> None:
    composer.give_back(None, "a long prompt", TOO_LONG)
    assert composer.text == "a long prompt"
    assert refusal(composer).isVisible()
    assert "9,412" in refusal(composer).text()
    assert "8,192" in refusal(composer).text()


def test_what_was_written_meanwhile_is_kept_behind_a_refused_prompt(composer: Composer) -> None:
    composer.fill("next idea")
    composer.give_back(None, "a long prompt", TOO_LONG)
    assert composer.text == "a long prompt\n\nnext idea"


def test_each_chat_keeps_the_text_written_in_it(composer: Composer) -> None:
    composer.switch_chat(1)
    composer.fill("for one")
    composer.switch_chat(2)
    assert composer.text == ""
    composer.fill("for two")
    composer.switch_chat(1)
    assert composer.text == "for one"
    composer.switch_chat(2)
    assert composer.text == "for two"


def test_a_new_chat_that_gets_its_id_keeps_its_text(composer: Composer) -> None:
    composer.fill("second question")
    composer.adopt_chat(7)
    composer.switch_chat(7)
    assert composer.text == "second question"
    composer.switch_chat(None)
    assert composer.text == ""


def test_a_prompt_refused_in_another_chat_waits_there_with_its_reason(composer: Composer) -> None:
    composer.switch_chat(1)
    composer.fill("next idea")
    composer.switch_chat(2)
    composer.fill("for two")

    composer.give_back(1, "a long prompt", TOO_LONG)

    assert composer.text == "for two"
    assert not refusal(composer).isVisible()
    composer.switch_chat(1)
    assert composer.text == "a long prompt\n\nnext idea"
    assert "9,412" in refusal(composer).text()
    composer.switch_chat(2)
    assert not refusal(composer).isVisible()
    composer.switch_chat(1)
    assert refusal(composer).isVisible(), "as long as the text is there"
