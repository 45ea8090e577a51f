"""The window as a person uses it: ask, stop, switch, choose, lose the engine, delete and undo."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest
from PySide6.QtCore import QEvent, QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QLabel,
    QLineEdit,
    QListView,
    QPlainTextEdit,
    QPushButton,
    QToolButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from desktop_app.app import Draftglass
from desktop_app.core.errors import Blame, Fault, Problem
from desktop_app.services.settings_file import Settings, Theme
from desktop_app.services.turn import TurnState
from desktop_app.ui.actions import WindowActions
from desktop_app.ui.banner import ProblemBanner
from desktop_app.ui.chats.chat_list_model import ChatRole
from desktop_app.ui.composer import ComposerState
from desktop_app.ui.models.drop_overlay import DropOverlay
from desktop_app.ui.settings.dialog import SettingsDialog
from desktop_app.ui.speed_panel.speed_panel import SpeedPanel
from desktop_app.ui.state_chip import StateChip
from desktop_app.ui.status_line import StatusLine
from desktop_app.ui.switch import Switch
from desktop_app.ui.transcript.message_view import AnswerView
from desktop_app.ui.undo_bar import UndoBar
from desktop_app.ui.welcome import EXAMPLES, ExampleButton, Welcome
from tests.fakes.gguf_files import write_gguf
from tests.fakes.scripted_engine import WORDS, Mishap, Phase, Script
from tests.gui.conftest import Windows

Part = TypeVar("Part", bound=QWidget)

ENGINE_DIES = Script(phase=Phase.STREAM, mishap=Mishap.ABORT, misbehaving_runs=1, last_words="GGML_ASSERT failed")


def chip(draftglass: Draftglass) -> StateChip:
    return found(draftglass, StateChip)


def found(draftglass: Draftglass, kind: type[Part]) -> Part:
    return only(draftglass.window, kind)


def only(parent: QWidget, kind: type[Part]) -> Part:
    (part,) = parent.findChildren(kind)
    return part


def actions(draftglass: Draftglass) -> WindowActions:
    (actions,) = draftglass.window.findChildren(WindowActions)
    return actions


def state(draftglass: Draftglass) -> ComposerState:
    return draftglass.conversation.composer.state


def write(draftglass: Draftglass, text: str) -> None:
    composer = draftglass.conversation.composer
    composer.fill(text)
    QTest.keyClick(only(composer, QPlainTextEdit), Qt.Key.Key_Return)


def ask(qtbot: QtBot, draftglass: Draftglass, text: str = "Count to ten") -> None:
    with qtbot.waitSignal(draftglass.session.turn_ended):
        write(draftglass, text)


def titles(draftglass: Draftglass) -> list[str]:
    model = found(draftglass, QListView).model()
    rows = (model.index(row, 0) for row in range(model.rowCount()))
    return [row.data() for row in rows if row.data(ChatRole.CHAT_ID) is not None]


def shown(draftglass: Draftglass) -> str:
    """What the transcript shows of the last answer, refused tokens included."""
    views = draftglass.transcript.transcript.views
    return views[-1].text.toPlainText() if views and isinstance(views[-1], AnswerView) else ""


def shows_all_words(draftglass: Draftglass) -> bool:
    return all(word.strip() in shown(draftglass) for word in WORDS)


def wait_for_pair(qtbot: QtBot, draftglass: Draftglass) -> None:
    qtbot.waitUntil(lambda: draftglass.pair.target is not None and not draftglass.pair.loading)


def test_a_question_is_answered_in_the_window(qtbot: QtBot, windows: Windows) -> None:
    draftglass = windows.open()
    wait_for_pair(qtbot, draftglass)
    ask(qtbot, draftglass)
    assert draftglass.conversation.composer.text == ""
    qtbot.waitUntil(lambda: titles(draftglass) == ["Count to ten"])
    qtbot.waitUntil(lambda: shows_all_words(draftglass))


def test_speculation_is_switched_between_messages(qtbot: QtBot, windows: Windows, tmp_path: Path) -> None:
    draftglass = windows.open(Script(journal=str(tmp_path / "journal")))
    wait_for_pair(qtbot, draftglass)
    switch = found(draftglass, Switch)
    assert switch.isChecked()
    ask(qtbot, draftglass)
    QTest.mouseClick(switch, Qt.MouseButton.LeftButton)
    assert not actions(draftglass).speculate.isChecked()
    ask(qtbot, draftglass)
    actions(draftglass).speculate.trigger()
    assert switch.isChecked()
    ask(qtbot, draftglass)
    turns = [view.turn for view in draftglass.transcript.transcript.views if isinstance(view, AnswerView)]
    drafted = [turn.answer.tally.drafted > 0 for turn in turns]
    assert drafted == [True, False, True]
    assert (tmp_path / "journal").read_text().count("Load ") == 1


def test_the_chip_says_what_the_service_says(qtbot: QtBot, windows: Windows) -> None:
    draftglass = windows.open()
    wait_for_pair(qtbot, draftglass)
    qtbot.waitUntil(lambda: draftglass.pair.status().active or draftglass.pair.status().text.startswith("Measuring"))
    for enabled, gamma in ((False, 4), (True, 4), (True, 7)):
        draftglass.pair.set_enabled(enabled=enabled)
        draftglass.pair.set_gamma(gamma)
        assert chip(draftglass).text == draftglass.pair.status().text
        assert draftglass.pair.status().detail in chip(draftglass).toolTip()


def test_the_load_shows_its_progress_in_the_chip(qtbot: QtBot, windows: Windows) -> None:
    draftglass = windows.open(Script(phase=Phase.LOAD, mishap=Mishap.STALL))
    qtbot.waitUntil(lambda: chip(draftglass).fraction is not None)
    assert chip(draftglass).fraction == pytest.approx(0.43)
    assert "43" in chip(draftglass).text


def test_stop_ends_the_answer_and_keeps_its_text(qtbot: QtBot, windows: Windows) -> None:
    draftglass = windows.open(Script(phase=Phase.STREAM, mishap=Mishap.STALL))
    wait_for_pair(qtbot, draftglass)
    with qtbot.waitSignals([draftglass.session.round_added] * 2):
        write(draftglass, "Count")
    assert state(draftglass) == ComposerState.GENERATING
    assert actions(draftglass).stop.isEnabled()
    with qtbot.waitSignal(draftglass.session.turn_ended) as ended:
        actions(draftglass).stop.trigger()
    (turn,) = ended.args
    assert turn.state is TurnState.CANCELLED
    assert turn.answer.text
    assert state(draftglass) == ComposerState.READY
    assert not actions(draftglass).stop.isEnabled()


def test_stop_ends_a_load(qtbot: QtBot, windows: Windows) -> None:
    draftglass = windows.open(Script(phase=Phase.LOAD, mishap=Mishap.STALL))
    qtbot.waitUntil(lambda: chip(draftglass).fraction is not None)
    assert actions(draftglass).stop.isEnabled()
    actions(draftglass).stop.trigger()
    qtbot.waitUntil(lambda: not draftglass.pair.loading)
    assert chip(draftglass).fraction is None
    assert not actions(draftglass).stop.isEnabled()


def test_escape_is_the_key_that_stops(windows: Windows) -> None:
    draftglass = windows.open(start=False)
    assert actions(draftglass).stop.shortcut().toString() == "Esc"


def test_shortcuts_are_all_different(windows: Windows) -> None:
    window = windows.open(start=False).window
    keys = [action.shortcut().toString() for action in window.actions()]
    assert all(keys)
    assert len(set(keys)) == len(keys)


def test_the_engine_dies_and_the_next_message_works(qtbot: QtBot, windows: Windows, tmp_path: Path) -> None:
    draftglass = windows.open(replace_script(ENGINE_DIES, tmp_path))
    wait_for_pair(qtbot, draftglass)
    with qtbot.waitSignal(draftglass.session.turn_ended) as ended:
        write(draftglass, "Count")
    (turn,) = ended.args
    assert turn.state is TurnState.INTERRUPTED
    assert turn.answer.text
    banner = found(draftglass, ProblemBanner)
    assert banner.isVisible()
    assert banner.problem == turn.problem
    assert state(draftglass) == ComposerState.READY
    ask(qtbot, draftglass, "Again")
    assert not banner.isVisible()
    qtbot.waitUntil(lambda: shows_all_words(draftglass))


def replace_script(script: Script, tmp_path: Path) -> Script:
    """With a journal, by which the script counts its runs."""
    return Script(
        phase=script.phase,
        mishap=script.mishap,
        misbehaving_runs=script.misbehaving_runs,
        last_words=script.last_words,
        journal=str(tmp_path / "journal"),
    )


def test_a_banner_can_be_dismissed(windows: Windows) -> None:
    draftglass = windows.open(start=False)
    draftglass.conversation.show_problem(Problem("The disk is full.", "Make room."))
    banner = found(draftglass, ProblemBanner)
    assert {label.text() for label in banner.findChildren(QLabel)} == {"The disk is full.", "Make room."}
    QTest.mouseClick(only(banner, QToolButton), Qt.MouseButton.LeftButton)
    assert not banner.isVisible()
    assert banner.problem is None


def test_a_prompt_too_long_stays_in_the_composer(qtbot: QtBot, windows: Windows) -> None:
    problem = Problem("The prompt has 9,412 tokens, the context holds 8,192.", "", Blame.USER, Fault.PROMPT_TOO_LONG)
    draftglass = windows.open(Script(generate_problem=problem))
    wait_for_pair(qtbot, draftglass)
    with qtbot.waitSignal(draftglass.session.prompt_refused):
        write(draftglass, "a very long prompt")
    composer = draftglass.conversation.composer
    assert composer.text == "a very long prompt"
    (label,) = (label for label in composer.findChildren(QLabel) if "not sent" in label.accessibleName())
    assert label.isVisible()
    assert "9,412" in label.text()
    assert "8,192" in label.text()
    assert not found(draftglass, ProblemBanner).isVisible()


def test_a_target_that_fails_disables_the_chat_and_says_why(qtbot: QtBot, windows: Windows) -> None:
    problem = Problem("Big-Q8_0.gguf is cut short.", "Download it again.", Blame.USER, Fault.BAD_MODEL)
    draftglass = windows.open(Script(load_problem=problem))
    qtbot.waitUntil(lambda: found(draftglass, ProblemBanner).problem == problem)
    assert state(draftglass) == ComposerState.DISABLED
    assert "Big-Q8_0.gguf" in chip(draftglass).text


def test_a_draft_that_fails_leaves_the_chat_plain(qtbot: QtBot, windows: Windows) -> None:
    problem = Problem("Small-Q4_0.gguf is cut short.", "Download it again.", Blame.USER, Fault.BAD_MODEL)
    draftglass = windows.open(Script(draft_problem=problem))
    qtbot.waitUntil(lambda: found(draftglass, ProblemBanner).problem == problem)
    with qtbot.waitSignal(draftglass.session.turn_ended) as ended:
        write(draftglass, "Count")
    (turn,) = ended.args
    assert turn.state is TurnState.FINISHED
    assert "small-Q4_0.gguf".casefold() in chip(draftglass).text.casefold()


def test_without_a_model_the_window_says_what_to_do(windows: Windows) -> None:
    draftglass = windows.open(settings=Settings())
    (button,) = (button for button in found(draftglass, Welcome).findChildren(QPushButton) if button.isVisible())
    assert button.text() == "Choose a model…"
    assert state(draftglass) == ComposerState.DISABLED


def test_an_example_fills_the_composer(windows: Windows) -> None:
    draftglass = windows.open()
    example = next(button for button in draftglass.window.findChildren(ExampleButton))
    assert example.isVisible()
    QTest.mouseClick(example, Qt.MouseButton.LeftButton)
    assert draftglass.conversation.composer.text == EXAMPLES[0]


def test_a_deleted_chat_comes_back_by_undo(qtbot: QtBot, windows: Windows) -> None:
    draftglass = windows.open()
    wait_for_pair(qtbot, draftglass)
    ask(qtbot, draftglass, "Keep me")
    qtbot.waitUntil(lambda: titles(draftglass) == ["Keep me"])
    chats = found(draftglass, QListView)
    chats.setFocus()
    QTest.keyClick(chats, Qt.Key.Key_Delete)
    qtbot.waitUntil(lambda: titles(draftglass) == [])
    bar = found(draftglass, UndoBar)
    assert bar.isVisible()
    QTest.mouseClick(only(bar, QPushButton), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: titles(draftglass) == ["Keep me"])
    assert not bar.isVisible()
    qtbot.waitUntil(lambda: shows_all_words(draftglass))


def test_a_chat_is_renamed_in_place(qtbot: QtBot, windows: Windows) -> None:
    draftglass = windows.open()
    wait_for_pair(qtbot, draftglass)
    ask(qtbot, draftglass, "First name")
    qtbot.waitUntil(lambda: titles(draftglass) == ["First name"])
    chats = found(draftglass, QListView)
    chats.setFocus()
    QTest.keyClick(chats, Qt.Key.Key_F2)
    editor = only(chats, QLineEdit)
    QTest.keyClicks(editor, "Second name")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: titles(draftglass) == ["Second name"])


def test_an_answer_goes_on_while_another_chat_is_open(qtbot: QtBot, windows: Windows) -> None:
    draftglass = windows.open(Script(rounds_per_s=20, words=WORDS * 2))
    wait_for_pair(qtbot, draftglass)
    with qtbot.waitSignal(draftglass.session.round_added):
        write(draftglass, "Count")
    chat_id = draftglass.session.chat_id
    assert chat_id is not None
    actions(draftglass).new_chat.trigger()
    draftglass.conversation.composer.fill("meanwhile")
    with qtbot.waitSignal(draftglass.session.turn_ended):
        pass
    assert not draftglass.transcript.isVisible()
    assert shown(draftglass) == ""
    with qtbot.waitSignal(draftglass.session.chat_opened):
        draftglass.session.open_chat(chat_id)
    assert draftglass.conversation.composer.text == ""
    qtbot.waitUntil(lambda: shown(draftglass).count("ten.") == 2)


def test_the_last_chat_and_the_window_come_back(qtbot: QtBot, windows: Windows) -> None:
    first = windows.open()
    wait_for_pair(qtbot, first)
    ask(qtbot, first, "Remember me")
    actions(first).panel.trigger()
    first.window.resize(760, 620)  # the offscreen screen is 800 × 800
    windows.close(first)
    second = windows.open()
    assert second.window.width() == 760
    assert found(second, SpeedPanel).isHidden()
    assert not actions(second).panel.isChecked()
    qtbot.waitUntil(lambda: shows_all_words(second))
    qtbot.waitUntil(lambda: titles(second) == ["Remember me"])


def test_the_panel_folds_by_its_own_button_and_by_key(windows: Windows) -> None:
    draftglass = windows.open(start=False)
    panel = found(draftglass, SpeedPanel)
    panel.fold_requested.emit()
    assert panel.isHidden()
    assert draftglass.settings.current.panel_folded
    actions(draftglass).panel.trigger()
    assert panel.isVisible()
    assert not draftglass.settings.current.panel_folded


def test_the_status_line_tells_context_and_device(qtbot: QtBot, windows: Windows) -> None:
    draftglass = windows.open()
    line = found(draftglass, StatusLine)
    texts = [label.text() for label in line.findChildren(QLabel)]
    assert texts[0].startswith("context 0 /")
    wait_for_pair(qtbot, draftglass)
    ask(qtbot, draftglass)
    context, device = (label.text() for label in line.findChildren(QLabel))
    assert context == "context 20 / 8,192"
    assert device == "CPU, 1 thread"


class Drag:
    """A file dragged over the window, as the platform tells Qt of it."""

    def __init__(self, draftglass: Draftglass, path: Path) -> None:
        self._window = draftglass.window
        self._data = QMimeData()
        self._data.setUrls([QUrl.fromLocalFile(str(path))])
        self._common = (Qt.DropAction.CopyAction, self._data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)

    def enter(self) -> None:
        self._send(QDragEnterEvent(self._place(0.5).toPoint(), *self._common))

    def move(self, across: float) -> None:
        self._send(QDragMoveEvent(self._place(across).toPoint(), *self._common))

    def drop(self, across: float) -> None:
        self._send(QDropEvent(self._place(across), *self._common))

    def _place(self, across: float) -> QPointF:
        return QPointF(self._window.width() * across, self._window.height() / 2)

    def _send(self, event: QEvent) -> None:
        QApplication.sendEvent(self._window.windowHandle(), event)


@pytest.mark.parametrize(("across", "part"), [(0.25, "target"), (0.75, "draft")])
def test_a_dropped_file_becomes_what_it_was_dropped_on(
    qtbot: QtBot, windows: Windows, pair_files: tuple[Path, Path], across: float, part: str
) -> None:
    draftglass = windows.open()
    wait_for_pair(qtbot, draftglass)
    dropped = write_gguf(pair_files[0].with_name("Other-Q8_0.gguf"))
    overlay = found(draftglass, DropOverlay)
    drag = Drag(draftglass, dropped)
    drag.enter()
    assert overlay.isVisible()
    drag.move(across)
    drag.drop(across)
    assert not overlay.isVisible()
    chosen = draftglass.pair.target_path if part == "target" else draftglass.pair.draft_path
    assert chosen == str(dropped)
    wait_for_pair(qtbot, draftglass)


def test_other_files_are_not_taken(windows: Windows, tmp_path: Path) -> None:
    draftglass = windows.open(start=False)
    Drag(draftglass, tmp_path / "notes.txt").enter()
    assert not found(draftglass, DropOverlay).isVisible()


@pytest.mark.qt_log_ignore("does not support raise")
def test_the_theme_follows_the_settings_dialog(windows: Windows) -> None:
    draftglass = windows.open(start=False)
    actions(draftglass).settings.trigger()
    dialog = found(draftglass, SettingsDialog)
    dialog.applied.emit(replace(draftglass.settings.current, theme=Theme.DARK))
    assert draftglass.appearance.colours.dark
    assert draftglass.settings.current.theme is Theme.DARK


def test_every_control_has_a_name_and_a_tooltip(windows: Windows) -> None:
    window = windows.open(start=False).window
    kinds = (QAbstractButton, QLineEdit, QPlainTextEdit, QListView, StateChip)
    # Qt's own buttons inside other widgets, such as the one that clears the search, are Qt's to name.
    ours = [control for kind in kinds for control in window.findChildren(kind) if not is_part_of_field(control)]
    assert [control for control in ours if not (control.accessibleName() or control.property("text"))] == []
    buttons = [control for control in ours if isinstance(control, (QAbstractButton, StateChip))]
    assert [button for button in buttons if not button.toolTip()] == []


def is_part_of_field(control: QWidget) -> bool:
    return isinstance(control.parent(), QLineEdit)
