"""The chat list: groups by day, filter, and rows that change one by one."""

from __future__ import annotations

from datetime import date, datetime, timedelta

import pytest
from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from desktop_app.store import ChatSummary
from desktop_app.ui.chats.chat_delegate import direction_of
from desktop_app.ui.chats.chat_list_model import ChatListModel, ChatRole

TODAY = date(2026, 3, 10)


def chat(chat_id: int, title: str, days_ago: int = 0, hour: int = 12) -> ChatSummary:
    day = TODAY - timedelta(days=days_ago)
    at_ms = int(datetime(day.year, day.month, day.day, hour).astimezone().timestamp() * 1000)
    return ChatSummary(chat_id, title, at_ms, at_ms)


CHATS = (
    chat(5, "Trees", 0),
    chat(4, "Sky", 0, hour=0),
    chat(3, "Soup", 1),
    chat(2, "Old sky", 2),
    chat(1, "Older", 400),
)


@pytest.fixture
def model(qtmodeltester: ModelTester) -> ChatListModel:
    model = ChatListModel(today=lambda: TODAY)
    qtmodeltester.check(model)  # type: ignore[no-untyped-call]  # pytest-qt has no annotation there
    return model


def texts(model: ChatListModel) -> list[str]:
    return [model.index(row).data() for row in range(model.rowCount())]


def test_chats_stand_under_their_days(model: ChatListModel) -> None:
    model.set_chats(CHATS)
    assert texts(model) == ["Today", "Trees", "Sky", "Yesterday", "Soup", "Earlier", "Old sky", "Older"]


def test_headings_cannot_be_chosen(model: ChatListModel) -> None:
    model.set_chats(CHATS)
    assert model.index(0).flags() == Qt.ItemFlag.NoItemFlags
    assert model.index(0).data(ChatRole.CHAT_ID) is None
    assert model.index(1).flags() & Qt.ItemFlag.ItemIsEditable


def test_the_filter_wants_every_word_and_ignores_case(model: ChatListModel) -> None:
    model.set_chats(CHATS)
    model.set_query("SKY")
    assert texts(model) == ["Today", "Sky", "Earlier", "Old sky"]
    model.set_query("sky old")
    assert texts(model) == ["Earlier", "Old sky"]
    model.set_query("")
    assert len(texts(model)) == 8


def test_a_new_title_changes_its_row_alone(qtbot: QtBot, model: ChatListModel) -> None:
    model.set_chats(CHATS)
    renamed = (CHATS[0], ChatSummary(4, "Blue sky", CHATS[1].created_ms, CHATS[1].updated_ms), *CHATS[2:])
    with (
        qtbot.assertNotEmitted(model.modelReset),
        qtbot.assertNotEmitted(model.rowsRemoved),
        qtbot.assertNotEmitted(model.rowsInserted),
        qtbot.waitSignal(model.dataChanged) as changed,
    ):
        model.set_chats(renamed)
    assert [index.row() for index in changed.args[:2]] == [2, 2]


def test_a_chat_that_moves_up_leaves_the_others_in_place(qtbot: QtBot, model: ChatListModel) -> None:
    model.set_chats(CHATS)
    trees = QPersistentModelIndex(model.index_of(5))
    moved = (chat(3, "Soup", 0, hour=13), *CHATS[:2], *CHATS[3:])
    with qtbot.assertNotEmitted(model.modelReset):
        model.set_chats(moved)
    assert texts(model) == ["Today", "Soup", "Trees", "Sky", "Earlier", "Old sky", "Older"]
    assert trees.row() == 2


def test_a_title_that_was_edited_is_reported_not_taken(qtbot: QtBot, model: ChatListModel) -> None:
    model.set_chats(CHATS)
    with qtbot.waitSignal(model.renamed) as renamed:
        assert model.setData(model.index_of(3), "  Stew ")
    assert renamed.args == [3, "Stew"]
    assert model.index_of(3).data() == "Soup"


@pytest.mark.parametrize("title", ["", "   ", "Soup"])
def test_an_empty_or_unchanged_title_is_no_change(qtbot: QtBot, model: ChatListModel, title: str) -> None:
    model.set_chats(CHATS)
    with qtbot.assertNotEmitted(model.renamed):
        assert not model.setData(model.index_of(3), title)


def test_the_chat_being_answered_is_marked(qtbot: QtBot, model: ChatListModel) -> None:
    model.set_chats(CHATS)
    with qtbot.waitSignal(model.dataChanged):
        model.set_answering(3)
    assert model.index_of(3).data(ChatRole.ANSWERING) is True
    model.set_answering(None)
    assert model.index_of(3).data(ChatRole.ANSWERING) is False


def test_an_absent_chat_has_no_index(model: ChatListModel) -> None:
    model.set_chats(CHATS)
    assert model.index_of(99) == QModelIndex()
    assert not model.index_of(None).isValid()


@pytest.mark.parametrize(
    ("title", "direction"),
    [
        ("Trees", Qt.LayoutDirection.LeftToRight),
        ("שלום world", Qt.LayoutDirection.RightToLeft),
        ("123 مرحبا", Qt.LayoutDirection.RightToLeft),
        ("42", Qt.LayoutDirection.LeftToRight),
    ],
)
def test_titles_read_in_the_direction_of_their_first_strong_character(
    title: str, direction: Qt.LayoutDirection
) -> None:
    assert direction_of(title) is direction
