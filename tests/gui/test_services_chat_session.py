"""Whole turns through session, archive and client, against a scripted engine; each looks at what is stored as well."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from desktop_app.core.baseline import BaselineSource
from desktop_app.core.errors import Fault, Problem
from desktop_app.core.settings import AnswerSettings
from desktop_app.protocol.messages import Generate, Role
from desktop_app.services.engine_client import Patience
from desktop_app.services.turn import ChatView, Turn, TurnState
from desktop_app.store import ChatStore, ChatSummary, MessageState, chats
from tests.fakes.scripted_engine import WORDS, Mishap, Phase, Script, journal_of
from tests.fakes.services import Services

TEXT = "".join(WORDS)

Build = Callable[..., Services]


@pytest.fixture
def build(qtbot: QtBot, tmp_path: Path) -> Iterator[Build]:
    made: list[Services] = []

    def make(script: Script | None = None, **options: object) -> Services:
        services = Services.build(tmp_path, script or Script(), **options)  # type: ignore[arg-type]  # build's options
        made.append(services)
        with qtbot.waitSignal(services.session.chat_opened):
            services.session.restore()
        return services

    yield make
    for services in made:
        services.close()


def finish(qtbot: QtBot, services: Services, text: str = "Count to ten.") -> Turn:
    with qtbot.waitSignal(services.session.turn_ended) as ended:
        assert services.session.send(text)
    return turn_in(ended.args)


def earlier_run(qtbot: QtBot, folder: Path, text: str) -> Turn:
    """A whole turn in a run of the app that has ended."""
    services = Services.build(folder, Script())
    turn = finish(qtbot, services, text)
    services.close()
    return turn


def turn_in(args: list[object] | None) -> Turn:
    assert args is not None
    turn = args[0]
    assert isinstance(turn, Turn)
    return turn


def settle(qtbot: QtBot, services: Services) -> list[ChatSummary]:
    """Wait until the archive has done everything asked so far."""
    done: list[list[ChatSummary]] = []
    services.archive.ask(lambda store: store.chats(), done.append)
    qtbot.waitUntil(lambda: bool(done))
    return done[0]


def test_a_whole_turn(qtbot: QtBot, build: Build) -> None:
    services = build()
    states: list[TurnState] = []
    for signal in ("turn_started", "prefill_progressed", "round_added", "turn_ended"):
        getattr(services.session, signal).connect(lambda turn: states.append(turn.state))
    turn = finish(qtbot, services)
    assert list(dict.fromkeys(states)) == ["waiting", "prefilling", "streaming", "finished"]
    assert turn.answer.shown == TEXT
    assert turn.ending is not None
    assert turn.context is not None
    settle(qtbot, services)
    question, answer = services.stored()
    assert (question.role, question.text) == (Role.USER, "Count to ten.")
    assert (answer.state, answer.shown, answer.model) == (MessageState.COMPLETE, TEXT, "target")
    assert list(answer.rounds) == turn.answer.rounds
    assert answer.outcome.ending == turn.ending


def test_the_question_is_stored_before_the_engine_is_asked(qtbot: QtBot, build: Build) -> None:
    services = build(Script(phase=Phase.START, mishap=Mishap.HANG), patience=Patience(shutdown_s=0.2))
    with qtbot.waitSignal(services.session.turn_started):
        services.session.send("Remember me.")
    question, answer = services.stored()
    assert (question.text, answer.text, answer.state) == ("Remember me.", "", MessageState.STREAMING)
    assert "Generate" not in services.asked()


def test_a_growing_answer_is_stored_within_a_second(qtbot: QtBot, build: Build) -> None:
    services = build(Script(phase=Phase.STREAM))
    with qtbot.waitSignals([services.session.round_added] * 2, order="simple"):
        services.session.send("Count.")
    turn = services.session.running
    assert turn is not None
    qtbot.waitUntil(lambda: len(services.stored()[1].rounds) == 2, timeout=1000)
    assert services.stored()[1].text == turn.answer.text == "One two three four five six "


def test_rounds_that_could_not_be_stored_are_stored_later(qtbot: QtBot, build: Build, tmp_path: Path) -> None:
    services = build(Script(phase=Phase.STREAM))
    with qtbot.waitSignals([services.session.round_added] * 2):
        services.session.send("Count.")
    other = sqlite3.connect(tmp_path / "chats.sqlite3", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with qtbot.waitSignal(services.session.problem_raised, timeout=10_000) as raised:
        pass
    assert raised.args is not None
    assert "could not be saved" in raised.args[0].message
    other.close()
    qtbot.waitUntil(lambda: len(services.stored()[1].rounds) == 2, timeout=10_000)
    with qtbot.waitSignal(services.session.turn_ended):
        services.session.stop()
    settle(qtbot, services)
    assert services.stored()[1].state is MessageState.CANCELLED


def test_nothing_is_sent_for_empty_text(qtbot: QtBot, build: Build) -> None:
    services = build()
    with qtbot.assertNotEmitted(services.session.prompt_refused):
        assert not services.session.send(" \n\t")
    assert settle(qtbot, services) == []


def test_without_a_model_the_text_is_handed_back(qtbot: QtBot, build: Build) -> None:
    services = build(target=None)
    with qtbot.waitSignal(services.session.prompt_refused, timeout=0) as refused:
        assert not services.session.send("Hello?")
    assert refused.args is not None
    _, text, problem = refused.args
    assert text == "Hello?"
    assert problem.fault is Fault.NO_MODEL
    assert settle(qtbot, services) == []


def test_a_second_message_waits_in_the_composer(qtbot: QtBot, build: Build) -> None:
    services = build(Script(phase=Phase.STREAM))
    assert services.session.send("First.")
    assert services.session.busy
    assert not services.session.send("Too early.")
    with qtbot.waitSignal(services.session.round_added):
        pass
    assert not services.session.send("Still too early.")
    assert [message.text for message in services.stored() if message.role is Role.USER] == ["First."]


@pytest.mark.parametrize(
    ("phase", "text"), [(Phase.LOAD, ""), (Phase.PREFILL, ""), (Phase.STREAM, "One two three four five six ")]
)
def test_stop_keeps_the_text_in_every_phase(qtbot: QtBot, build: Build, phase: Phase, text: str) -> None:
    services = build(Script(phase=phase))
    engine = services.engine
    at = {Phase.LOAD: engine.load_progressed, Phase.PREFILL: engine.prefilled, Phase.STREAM: engine.round_received}
    with qtbot.waitSignals([at[phase]] * (2 if phase is Phase.STREAM else 1)):
        services.session.send("Count.")
    with qtbot.waitSignal(services.session.turn_ended, timeout=1000) as ended:
        services.session.stop()
    turn = turn_in(ended.args)
    assert (turn.state, turn.answer.shown, turn.problem) == (TurnState.CANCELLED, text, None)
    assert not services.session.busy
    settle(qtbot, services)
    assert (services.stored()[1].state, services.stored()[1].shown) == (MessageState.CANCELLED, text)


@pytest.mark.parametrize("phase", [phase for phase in Phase if phase is not Phase.EXPLAIN])
def test_a_dead_engine_interrupts_and_the_next_message_revives_it(qtbot: QtBot, build: Build, phase: Phase) -> None:
    words = "GGML_ASSERT(n_tokens > 0) failed"
    services = build(Script(phase=phase, mishap=Mishap.ABORT, last_words=words, misbehaving_runs=1))
    turn = finish(qtbot, services)
    kept = "One two three four five six " if phase is Phase.STREAM else ""
    assert (turn.state, turn.answer.shown) == (TurnState.INTERRUPTED, kept)
    assert turn.problem is not None
    assert words in turn.problem.message
    settle(qtbot, services)
    answer = services.stored()[1]
    assert (answer.state, answer.shown, answer.outcome.problem) == (MessageState.INTERRUPTED, kept, turn.problem)

    second = finish(qtbot, services, "Go on.")
    assert (second.state, second.answer.shown) == (TurnState.FINISHED, TEXT)
    assert services.asked()[-3:] == ["Start", "Load", "Generate"]
    assert services.pair.draft is not None
    roles = [message.role for message in journal_of(services.journal_path, Generate)[-1].messages]
    assert roles == ([Role.USER, Role.ASSISTANT, Role.USER] if kept else [Role.USER])


def test_a_hanging_engine_is_killed_and_the_text_kept(qtbot: QtBot, build: Build) -> None:
    services = build(Script(phase=Phase.STREAM, mishap=Mishap.HANG), patience=Patience(cancel_s=0.2))
    with qtbot.waitSignals([services.session.round_added] * 2):
        services.session.send("Count.")
    with qtbot.waitSignal(services.session.turn_ended) as ended:
        services.session.stop()
    turn = turn_in(ended.args)
    assert turn.state is TurnState.INTERRUPTED
    assert turn.answer.shown == "One two three four five six "


def test_a_prompt_that_is_too_long_goes_back_and_leaves_no_trace(qtbot: QtBot, build: Build) -> None:
    problem = Problem("The prompt has 9,000 tokens, the context holds 8,192.", fault=Fault.PROMPT_TOO_LONG)
    services = build(Script(generate_problem=problem))
    opened: list[ChatView] = []
    services.session.chat_opened.connect(opened.append)
    with (
        qtbot.assertNotEmitted(services.session.turn_ended),
        qtbot.waitSignal(services.session.turn_withdrawn),
        qtbot.waitSignal(services.session.prompt_refused) as refused,
    ):
        services.session.send("Very long.")
    assert refused.args == [1, "Very long.", problem]
    assert opened[-1].turns == ()
    settle(qtbot, services)
    assert services.stored() == []
    assert not services.session.busy


def test_a_prompt_refused_in_a_chat_left_behind_names_that_chat(qtbot: QtBot, build: Build) -> None:
    problem = Problem("The prompt has 9,000 tokens, the context holds 8,192.", fault=Fault.PROMPT_TOO_LONG)
    services = build(Script(generate_problem=problem))
    with qtbot.waitSignal(services.session.turn_started) as started:
        services.session.send("Very long.")
    services.session.new_chat()
    with qtbot.waitSignal(services.session.prompt_refused) as refused:
        pass
    assert refused.args == [turn_in(started.args).chat_id, "Very long.", problem]
    assert services.session.chat_id is None


def test_a_message_that_can_not_be_stored_goes_back_and_leaves_no_chat(
    qtbot: QtBot, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    services = build()
    # The answer's settings are stored last, after chat and message.
    monkeypatch.setattr(chats, "pack", lambda _settings: object())
    with qtbot.waitSignal(services.session.prompt_refused) as refused:
        services.session.send("Hello?")
    assert refused.args is not None
    assert refused.args[:2] == [None, "Hello?"]
    monkeypatch.undo()
    assert settle(qtbot, services) == []
    assert finish(qtbot, services, "Hello?").answer.shown == TEXT


def test_another_failure_stays_with_its_reason(qtbot: QtBot, build: Build) -> None:
    problem = Problem("The chat template fails in line 3.", fault=Fault.TEMPLATE)
    services = build(Script(generate_problem=problem))
    turn = finish(qtbot, services)
    assert (turn.state, turn.problem) == (TurnState.FAILED, problem)
    settle(qtbot, services)
    assert (services.stored()[1].state, services.stored()[1].outcome.problem) == (MessageState.FAILED, problem)


def test_a_target_that_fails_to_load_fails_the_waiting_turn_and_refuses_the_next(qtbot: QtBot, build: Build) -> None:
    problem = Problem("target.gguf is no GGUF file.", fault=Fault.BAD_MODEL)
    services = build(Script(load_problem=problem))
    assert finish(qtbot, services).problem == problem
    with qtbot.waitSignal(services.session.prompt_refused, timeout=0):
        assert not services.session.send("Again?")


def test_text_held_back_for_a_stop_string_shows_when_the_answer_ends_otherwise(qtbot: QtBot, build: Build) -> None:
    services = build(Script(tail="\N{REPLACEMENT CHARACTER}"))
    turn = finish(qtbot, services)
    assert turn.answer.text == TEXT + "\N{REPLACEMENT CHARACTER}"
    settle(qtbot, services)
    assert services.stored()[1].text == turn.answer.text


def test_the_prompt_is_the_branch_with_the_system_prompt(qtbot: QtBot, build: Build) -> None:
    services = build()
    services.settings.apply(replace(services.settings.current, system_prompt="Be brief."))
    finish(qtbot, services, "First?")
    finish(qtbot, services, "Second?")
    said = [(message.role, message.content) for message in journal_of(services.journal_path, Generate)[-1].messages]
    assert said == [("system", "Be brief."), ("user", "First?"), ("assistant", TEXT), ("user", "Second?")]


def test_regenerate_writes_a_sibling(qtbot: QtBot, build: Build) -> None:
    services = build()
    first = finish(qtbot, services, "One?")
    finish(qtbot, services, "Two?")
    opened: list[ChatView] = []
    services.session.chat_opened.connect(opened.append)
    with qtbot.waitSignal(services.session.turn_ended) as ended:
        assert services.session.regenerate(first.answer_message_id)
    again = turn_in(ended.args)
    assert again.user_message_id == first.user_message_id
    assert again.answer_message_id != first.answer_message_id
    assert opened[-1].turns == ()
    settle(qtbot, services)
    assert [message.id for message in services.stored()] == [first.user_message_id, again.answer_message_id]
    last = journal_of(services.journal_path, Generate)[-1]
    assert [message.content for message in last.messages] == ["One?"]


def test_a_refused_repeat_brings_the_old_answer_back(qtbot: QtBot, build: Build, tmp_path: Path) -> None:
    turn = earlier_run(qtbot, tmp_path, "One?")
    problem = Problem("The prompt is too long now.", fault=Fault.PROMPT_TOO_LONG)
    services = build(Script(generate_problem=problem))
    qtbot.waitUntil(lambda: services.session.chat_id == turn.chat_id)
    opened: list[ChatView] = []
    with qtbot.waitSignal(services.session.problem_raised) as raised:
        assert services.session.regenerate(turn.answer_message_id)
        services.session.chat_opened.connect(opened.append)
    assert raised.args == [problem]
    qtbot.waitUntil(lambda: bool(opened) and len(opened[-1].turns) == 1)
    assert opened[-1].turns[0].answer_message_id == turn.answer_message_id


def test_a_stream_goes_on_while_another_chat_is_open(qtbot: QtBot, build: Build) -> None:
    services = build(Script(phase=Phase.STREAM))
    session = services.session
    with qtbot.waitSignals([session.round_added] * 2):
        session.send("Count.")
    live = session.running
    assert live is not None
    session.new_chat()
    assert session.chat_id is None
    with qtbot.waitSignal(session.chat_opened) as opened:
        session.open_chat(live.chat_id)
    assert opened.args is not None
    assert opened.args[0].turns == (live,)
    session.new_chat()
    with qtbot.waitSignal(session.turn_ended):
        session.stop()
    with qtbot.waitSignal(session.chat_opened) as reopened:
        session.open_chat(live.chat_id)
    assert reopened.args is not None
    assert reopened.args[0].turns[0].state is TurnState.CANCELLED


def test_a_read_that_overlaps_the_end_shows_the_ended_turn(qtbot: QtBot, build: Build) -> None:
    services = build(Script(phase=Phase.STREAM))
    session = services.session
    with qtbot.waitSignals([session.round_added] * 2):
        session.send("Count.")
    live = session.running
    assert live is not None
    session.new_chat()
    with qtbot.waitSignal(session.chat_opened) as opened:
        session.open_chat(live.chat_id)
        session.close()
    assert opened.args is not None
    assert opened.args[0].turns == (live,)
    assert live.state is TurnState.INTERRUPTED


def test_quitting_while_streaming_keeps_the_text(qtbot: QtBot, tmp_path: Path) -> None:
    services = Services.build(tmp_path, Script(phase=Phase.STREAM))
    with qtbot.waitSignals([services.session.round_added] * 2):
        services.session.send("Count.")
    services.close()
    answer = services.stored()[1]
    assert (answer.state, answer.shown) == (MessageState.INTERRUPTED, "One two three four five six ")
    assert answer.outcome.problem is not None


def test_the_last_chat_is_opened_again(qtbot: QtBot, build: Build, tmp_path: Path) -> None:
    turn = earlier_run(qtbot, tmp_path, "Still there?")
    services = build()
    with qtbot.waitSignal(services.session.chat_opened) as opened:
        services.session.restore()
    assert opened.args is not None
    (again,) = opened.args[0].turns
    assert opened.args[0].title == "Still there?"
    assert (again.prompt, again.answer.shown, again.state) == ("Still there?", TEXT, TurnState.FINISHED)
    assert again.answer.tally == turn.answer.tally
    assert again.settings == AnswerSettings()
    follow_up = finish(qtbot, services, "And now?")
    assert follow_up.chat_id == turn.chat_id
    assert len(journal_of(services.journal_path, Generate)[-1].messages) == 3


def test_what_a_killed_app_left_is_marked_interrupted(qtbot: QtBot, build: Build, tmp_path: Path) -> None:
    store = ChatStore(tmp_path / "chats.sqlite3")
    store.begin_turn(store.create_chat(), None, "Hello?", model="m", settings=AnswerSettings())
    store.close()
    services = build()
    with qtbot.waitSignal(services.session.chat_opened) as opened:
        services.session.open_chat(1)
    assert opened.args is not None
    (turn,) = opened.args[0].turns
    assert turn.state is TurnState.INTERRUPTED
    assert turn.problem is not None


def test_chats_are_listed_renamed_deleted_and_brought_back(qtbot: QtBot, build: Build) -> None:
    services = build()
    session = services.session
    chat = finish(qtbot, services, "A question").chat_id
    assert [summary.title for summary in settle(qtbot, services)] == ["A question"]
    session.rename_chat(chat, "  New\nname ")
    session.rename_chat(chat, " ")
    assert [summary.title for summary in settle(qtbot, services)] == ["New name"]
    session.delete_chat(chat)
    assert session.chat_id is None
    assert settle(qtbot, services) == []
    with qtbot.waitSignal(session.chat_opened) as opened:
        session.undo_delete(chat)
    assert opened.args is not None
    assert opened.args[0].title == "New name"
    assert len(settle(qtbot, services)) == 1


def test_deleting_a_chat_stops_its_answer(qtbot: QtBot, build: Build) -> None:
    services = build(Script(phase=Phase.STREAM))
    with qtbot.waitSignal(services.session.round_added):
        services.session.send("Count.")
    turn = services.session.running
    assert turn is not None
    with qtbot.waitSignal(services.session.turn_ended):
        services.session.delete_chat(turn.chat_id)
    assert turn.state is TurnState.CANCELLED


def test_the_baseline_is_this_prompt_once_it_was_answered_plainly(qtbot: QtBot, build: Build) -> None:
    services = build()
    services.pair.set_enabled(enabled=False)
    plain = finish(qtbot, services)
    assert plain.baseline is None
    services.pair.set_enabled(enabled=True)
    with qtbot.waitSignal(services.session.turn_ended) as ended:
        services.session.regenerate(plain.answer_message_id)
    drafted = turn_in(ended.args)
    assert drafted.baseline is not None
    assert drafted.baseline.source is BaselineSource.THIS_PROMPT
    assert drafted.baseline.tok_per_s == plain.tok_per_s
    other = finish(qtbot, services, "Something else.")
    assert other.baseline is not None
    assert other.baseline.source is BaselineSource.LAST_PLAIN
    settle(qtbot, services)
    assert services.stored()[-1].outcome.baseline == other.baseline


def test_an_answer_that_was_not_drafted_says_why(qtbot: QtBot, build: Build) -> None:
    problem = Problem("The draft ran out of memory.")
    services = build(Script(speculation_problem=problem))
    turn = finish(qtbot, services)
    assert turn.speculation_problem == problem
    assert turn.answer.tally.speculative_rounds == 0
