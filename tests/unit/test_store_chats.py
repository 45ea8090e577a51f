"""The chat store as its users see it: the list of chats, turns, and what comes back."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop_app.core.answer import Answer
from desktop_app.core.baseline import Baseline, BaselineSource
from desktop_app.core.errors import Blame, DraftglassError, Problem
from desktop_app.core.rounds import Kind, Round, Seconds, Token
from desktop_app.core.settings import AnswerSettings, Sampling, Speculation
from desktop_app.protocol.messages import Finished, Prefilling, Role, Stop
from desktop_app.store import NEW_CHAT_TITLE, ChatStore, MessageState, Outcome, TurnIds
from desktop_app.store.chats import TITLE_CHARACTERS

_SETTINGS = AnswerSettings(Sampling(temperature=0.7, seed=3), Speculation(gamma=2), max_tokens=99, stop=("###",))
_ROUNDS = (
    Round(0, 10, 0, (Token(5, "He", Kind.PLAIN, p=0.5),), Seconds(verify=0.1)),
    Round(
        1,
        11,
        2,
        (
            Token(6, "ll", Kind.ACCEPTED, p=0.9, q=0.8, chance=1.0),
            Token(7, "x", Kind.REJECTED, p=0.1, q=0.7, chance=0.14),
            Token(8, "o", Kind.CORRECTED, p=0.6),
        ),
        Seconds(0.01, 0.1, 0.002, 0.001),
    ),
    Round(
        2,
        13,
        1,
        (Token(9, " wörld", Kind.ACCEPTED, p=0.9, q=0.8, chance=1.0), Token(10, "!", Kind.BONUS, p=0.6)),
        Seconds(0.01, 0.1, 0.002, 0.001),
    ),
)
_TEXT = "Hello wörld!"


class Clock:
    """Milliseconds that grow by one at every look."""

    def __init__(self) -> None:
        self._ticks = itertools.count(1000)

    def __call__(self) -> int:
        return next(self._ticks)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "chats.db"


@pytest.fixture
def store(path: Path) -> Iterator[ChatStore]:
    store = ChatStore(path, Clock())
    yield store
    store.close()


def _begin(store: ChatStore, chat: int | None, parent: int | None = None, text: str = "Hi") -> TurnIds:
    return store.begin_turn(chat, parent, text, model="Tiny Q4_1", settings=_SETTINGS)


def _finish(store: ChatStore, answer: int, text: str = "Hello") -> None:
    store.finish_answer(answer, MessageState.COMPLETE, text=text, visible=len(text))


def _shape(store: ChatStore, chat: int) -> list[tuple[Role, str]]:
    return [(message.role, message.text) for message in store.branch(chat)]


def _titles(store: ChatStore) -> list[str]:
    return [chat.title for chat in store.chats()]


def test_a_chat_takes_its_title_from_its_first_message(store: ChatStore) -> None:
    chat = store.create_chat()
    assert _titles(store) == [NEW_CHAT_TITLE]
    first = _begin(store, chat, text="  Why is\nthe   sky blue? ")
    assert _titles(store) == ["Why is the sky blue?"]
    _finish(store, first.answer_id)
    _begin(store, chat, first.answer_id, text="And red?")
    assert _titles(store) == ["Why is the sky blue?"]


def test_a_first_message_brings_its_chat_along(store: ChatStore) -> None:
    turn = _begin(store, None, text="Why is the sky blue?")
    assert [(chat.id, chat.title) for chat in store.chats()] == [(turn.chat_id, "Why is the sky blue?")]
    assert _shape(store, turn.chat_id) == [(Role.USER, "Why is the sky blue?"), (Role.ASSISTANT, "")]
    _finish(store, turn.answer_id)
    assert _begin(store, turn.chat_id, turn.answer_id).chat_id == turn.chat_id


def test_a_turn_that_fails_leaves_no_chat(store: ChatStore) -> None:
    with pytest.raises(DraftglassError):
        _begin(store, None, parent=999)
    assert store.chats() == []


def test_long_and_blank_titles(store: ChatStore) -> None:
    _begin(store, store.create_chat(), text="word " * 100)
    _begin(store, store.create_chat(), text=" \n ")
    blank, long = _titles(store)
    assert blank == NEW_CHAT_TITLE
    assert len(long) <= TITLE_CHARACTERS
    assert long.endswith("word…")


def test_a_title_of_the_users_own_stays(store: ChatStore) -> None:
    chat = store.create_chat()
    store.rename(chat, "Mine")
    turn = _begin(store, chat, text="Something else")
    store.remove_turn(turn.user_id)
    assert _titles(store) == ["Mine"]


def test_the_latest_used_chat_comes_first(store: ChatStore) -> None:
    first, second = store.create_chat("first"), store.create_chat("second")
    assert [chat.id for chat in store.chats()] == [second, first]
    turn = _begin(store, first)
    assert [chat.id for chat in store.chats()] == [first, second]
    store.create_chat("third")
    _finish(store, turn.answer_id)
    assert _titles(store) == ["first", "third", "second"]
    store.rename(second, "renaming is no use")
    assert _titles(store)[0] == "first"


def test_delete_and_undo(store: ChatStore) -> None:
    chat = store.create_chat("kept")
    turn = _begin(store, chat)
    _finish(store, turn.answer_id)
    store.delete(chat)
    assert store.chats() == []
    store.undo_delete(chat)
    assert _titles(store) == ["kept"]
    assert len(store.branch(chat)) == 2


def test_purge_takes_only_what_was_deleted(store: ChatStore) -> None:
    gone, kept = store.create_chat("gone"), store.create_chat("kept")
    turn = _begin(store, gone)
    store.append_rounds(turn.answer_id, _ROUNDS, _TEXT, len(_TEXT))
    store.delete(gone)
    assert store.purge_deleted() == 1
    assert store.purge_deleted() == 0
    assert [chat.id for chat in store.chats()] == [kept]
    assert store.branch(gone) == []
    with pytest.raises(DraftglassError):
        store.undo_delete(gone)


def test_a_turn_is_there_before_the_engine_is_asked(store: ChatStore, path: Path) -> None:
    chat = store.create_chat()
    turn = _begin(store, chat, text="Hi")
    reader = ChatStore(path)
    user, answer = reader.branch(chat)
    reader.close()
    assert (user.id, user.role, user.text, user.shown, user.state) == (
        turn.user_id,
        Role.USER,
        "Hi",
        "Hi",
        MessageState.COMPLETE,
    )
    assert (answer.id, answer.parent_id, answer.text, answer.state) == (
        turn.answer_id,
        turn.user_id,
        "",
        MessageState.STREAMING,
    )
    assert (answer.model, answer.settings) == ("Tiny Q4_1", _SETTINGS)


def test_a_turn_is_stored_whole_or_not_at_all(store: ChatStore) -> None:
    with pytest.raises(DraftglassError) as caught:
        _begin(store, 77)
    assert caught.value.problem.blame is Blame.BUG
    chat, other = store.create_chat(), store.create_chat()
    turn = _begin(store, other)
    with pytest.raises(DraftglassError):
        _begin(store, chat, parent=turn.answer_id)
    assert store.branch(chat) == []
    assert _titles(store).count(NEW_CHAT_TITLE) == 1, "the refused turn left no title behind"


def test_half_a_character_is_refused_in_words(store: ChatStore) -> None:
    chat = store.create_chat()
    with pytest.raises(DraftglassError) as caught:
        _begin(store, chat, text="half: \ud83d")
    assert caught.value.problem.blame is Blame.USER
    assert store.branch(chat) == []


def test_how_the_prompt_was_read_comes_back_even_after_a_crash(store: ChatStore, path: Path) -> None:
    chat = store.create_chat()
    turn = _begin(store, chat)
    prefill = Prefilling(7, 812, 812, 790, 640, 0.4)
    store.note_prompt(turn.answer_id, prefill, 3)
    reader = ChatStore(path)
    answer = reader.branch(chat)[1]
    reader.close()
    assert (answer.prefill, answer.left_out) == (prefill, 3)
    _finish(store, turn.answer_id)
    with pytest.raises(DraftglassError):
        store.note_prompt(turn.answer_id, prefill, 0)


@pytest.mark.parametrize("text", ["a\0b", "𝕏 👩‍👩‍👧 \u202e", "' ; DROP TABLE chats --"])
def test_any_other_text_comes_back_as_it_was(store: ChatStore, text: str) -> None:
    chat = store.create_chat()
    _begin(store, chat, text=text)
    assert store.branch(chat)[0].text == text


def test_an_answer_comes_back_with_colours_and_footer(store: ChatStore, path: Path) -> None:
    chat = store.create_chat()
    turn = _begin(store, chat)
    ending = Finished(4, Stop.LIMIT, len(_TEXT) + 1, "\ufffd", 3, 0.21, 0.2)
    baseline = Baseline(19.9, BaselineSource.CALIBRATION, depth=32)
    store.append_rounds(turn.answer_id, _ROUNDS[:1], "He", 1)
    store.append_rounds(turn.answer_id, _ROUNDS[1:], _TEXT, len(_TEXT))
    store.finish_answer(
        turn.answer_id,
        MessageState.COMPLETE,
        text=_TEXT + "\ufffd",
        visible=len(_TEXT) + 1,
        ending=ending,
        baseline=baseline,
    )
    live = Answer()
    for round_ in _ROUNDS:
        live.add(round_, len(_TEXT))
    live.close(len(_TEXT) + 1, "\ufffd")

    reader = ChatStore(path)
    answer = reader.branch(chat)[1]
    reader.close()
    assert answer.state is MessageState.COMPLETE
    assert answer.outcome == Outcome(ending, baseline)
    assert answer.rounds == _ROUNDS
    assert answer.answer() == live


def test_a_failed_answer_keeps_its_reason(store: ChatStore) -> None:
    chat = store.create_chat()
    turn = _begin(store, chat)
    problem = Problem("The engine died.", "Send again.", Blame.ENVIRONMENT)
    store.finish_answer(turn.answer_id, MessageState.FAILED, text="", visible=0, problem=problem)
    answer = store.branch(chat)[1]
    assert (answer.state, answer.outcome.problem) == (MessageState.FAILED, problem)


def test_only_what_is_settled_is_shown(store: ChatStore) -> None:
    chat = store.create_chat()
    turn = _begin(store, chat)
    store.append_rounds(turn.answer_id, _ROUNDS, _TEXT, 5)
    answer = store.branch(chat)[1]
    assert answer.shown == answer.answer().shown == "Hello"


def test_an_unreadable_trace_leaves_the_text(store: ChatStore) -> None:
    chat = store.create_chat()
    turn = _begin(store, chat)
    store.append_rounds(turn.answer_id, _ROUNDS, _TEXT, len(_TEXT))
    store._connection.execute("UPDATE rounds SET trace = x'00'")
    store._connection.execute("UPDATE messages SET settings = x'c1'")
    answer = store.branch(chat)[1]
    assert (answer.rounds, answer.settings) == ((), None)
    assert answer.answer().shown == _TEXT


def test_a_finished_answer_takes_nothing_more(store: ChatStore) -> None:
    turn = _begin(store, store.create_chat())
    _finish(store, turn.answer_id)
    with pytest.raises(DraftglassError):
        store.append_rounds(turn.answer_id, _ROUNDS, _TEXT, 0)
    with pytest.raises(DraftglassError):
        _finish(store, turn.answer_id)


def test_regenerating_adds_a_sibling_and_moves_the_branch(store: ChatStore) -> None:
    chat = store.create_chat()
    turn = _begin(store, chat)
    _finish(store, turn.answer_id, "one")
    second = store.begin_answer(turn.user_id, model="Tiny", settings=_SETTINGS)
    _finish(store, second, "two")
    assert _shape(store, chat) == [(Role.USER, "Hi"), (Role.ASSISTANT, "two")]
    store.remove_turn(second)
    assert _shape(store, chat) == [(Role.USER, "Hi"), (Role.ASSISTANT, "one")]


def test_only_a_users_message_is_answered(store: ChatStore) -> None:
    turn = _begin(store, store.create_chat())
    for message in (turn.answer_id, 77):
        with pytest.raises(DraftglassError):
            store.begin_answer(message, model="Tiny", settings=_SETTINGS)


def test_a_refused_prompt_leaves_nothing(store: ChatStore) -> None:
    chat = store.create_chat()
    refused = _begin(store, chat, text="Far too long")
    store.remove_turn(refused.user_id)
    assert store.branch(chat) == []
    assert _titles(store) == [NEW_CHAT_TITLE]

    first = _begin(store, chat, text="Hi")
    _finish(store, first.answer_id)
    refused = _begin(store, chat, first.answer_id, text="Far too long")
    store.remove_turn(refused.user_id)
    assert _shape(store, chat) == [(Role.USER, "Hi"), (Role.ASSISTANT, "Hello")]
    assert _titles(store) == ["Hi"]
    with pytest.raises(DraftglassError):
        store.remove_turn(refused.user_id)


def test_removing_another_branch_leaves_the_view(store: ChatStore) -> None:
    chat = store.create_chat()
    turn = _begin(store, chat)
    second = store.begin_answer(turn.user_id, model="Tiny", settings=_SETTINGS)
    store.remove_turn(turn.answer_id)
    assert [message.id for message in store.branch(chat)] == [turn.user_id, second]


def test_answers_left_streaming_become_interrupted(store: ChatStore) -> None:
    chat, other = store.create_chat(), store.create_chat()
    left = _begin(store, chat)
    store.append_rounds(left.answer_id, _ROUNDS[:2], "Hello", 5)
    done = _begin(store, other)
    _finish(store, done.answer_id)
    assert store.repair_interrupted() == 1
    assert store.repair_interrupted() == 0
    answer = store.branch(chat)[1]
    assert (answer.state, answer.shown, answer.rounds) == (MessageState.INTERRUPTED, "Hello", _ROUNDS[:2])
    assert answer.outcome.problem is not None
    assert store.branch(other)[1].state is MessageState.COMPLETE


@pytest.mark.parametrize("seed", range(8))
def test_random_trees_agree_with_a_plain_model(store: ChatStore, seed: int) -> None:
    """Turns, second answers and removals at random, beside dictionaries that do the same."""
    rng = random.Random(seed)
    parents: dict[int, int | None] = {}
    users: dict[int, int] = {}
    """Chat by user's message."""
    answers: dict[int, int] = {}
    """Chat by answer."""
    leaves: dict[int, int | None] = {store.create_chat(): None for _ in range(3)}

    def below(top: int | None, chat: int) -> set[int]:
        found = set() if top is None else {top}
        mine = {id_ for id_ in parents if users.get(id_, answers.get(id_)) == chat}
        while grown := {id_ for id_ in mine - found if parents[id_] in found or (top is None and parents[id_] is None)}:
            found |= grown
        return found

    for _ in range(120):
        chat = rng.choice(list(leaves))
        mine = [id_ for id_, owner in users.items() if owner == chat]
        action = rng.random()
        if action < 0.5 or not mine:
            parent = rng.choice([None, leaves[chat], *(id_ for id_, owner in answers.items() if owner == chat)])
            turn = _begin(store, chat, parent, text=str(rng.random()))
            parents |= {turn.user_id: parent, turn.answer_id: turn.user_id}
            users[turn.user_id], answers[turn.answer_id] = chat, chat
            leaves[chat] = turn.answer_id
        elif action < 0.75:
            user = rng.choice(mine)
            answer = store.begin_answer(user, model="", settings=_SETTINGS)
            parents[answer], answers[answer], leaves[chat] = user, chat, answer
        else:
            removed = rng.choice([*mine, *(id_ for id_, owner in answers.items() if owner == chat)])
            parent, gone = parents[removed], below(removed, chat)
            store.remove_turn(removed)
            for id_ in gone:
                del parents[id_]
                users.pop(id_, None)
                answers.pop(id_, None)
            if leaves[chat] in gone:
                leaves[chat] = max(below(parent, chat), default=None)
        for chat_id, leaf in leaves.items():
            expected = []
            at = leaf
            while at is not None:
                expected.append(at)
                at = parents[at]
            assert [message.id for message in store.branch(chat_id)] == expected[::-1]
