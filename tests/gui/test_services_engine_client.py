"""The engine client against engines that behave, die, hang and babble."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from PySide6.QtCore import SignalInstance
from pytestqt.qtbot import QtBot

from desktop_app.core.difference import Difference, TextPair
from desktop_app.core.errors import Fault, Problem
from desktop_app.core.settings import AnswerSettings, ModelSettings, Rule, Sampling
from desktop_app.protocol.messages import ChatMessage, Counted, Explain, Explained, Finished, Generate, Role
from desktop_app.services.engine_client import EngineClient, EngineState, Patience
from desktop_app.services.engine_process import EngineProcess
from tests.fakes.scripted_engine import Mishap, Phase, Script, argv, journal, journal_of

TARGET = ModelSettings("/models/target.gguf")
DRAFT = ModelSettings("/models/draft.gguf")
TEXTS = TextPair((1, 2), (1, 3), Sampling(temperature=0.0), Rule.REJECTION, pass_size=5)
HASTE = Patience(ready_s=30.0, cancel_s=0.2, shutdown_s=0.3)

MakeClient = Callable[..., EngineClient]

pytestmark = pytest.mark.usefixtures("qtbot")


@pytest.fixture
def journal_path(tmp_path: Path) -> Path:
    return tmp_path / "journal"


@pytest.fixture
def make_client(tmp_path: Path, journal_path: Path) -> Iterator[MakeClient]:
    made: list[EngineClient] = []

    def make(script: Script, patience: Patience | None = None) -> EngineClient:
        script = msgspec.structs.replace(script, journal=str(journal_path))
        made.append(EngineClient(argv(script), log_path=tmp_path / "log" / "engine.log", patience=patience))
        return made[-1]

    yield make
    for client in made:
        client.wait_until_stopped()


class Heard:
    """Counts emissions, by signal."""

    def __init__(self, client: EngineClient, *names: str) -> None:
        self.events: list[tuple[str, Any]] = []
        for name in names:
            signal: SignalInstance = getattr(client, name)
            signal.connect(lambda value, name=name: self.events.append((name, value)))

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.events]


def ask(client: EngineClient) -> int:
    return client.generate([], AnswerSettings())


def said(*texts: str) -> list[ChatMessage]:
    return [ChatMessage(Role.USER, text) for text in texts]


def test_a_whole_turn_comes_in_order(qtbot: QtBot, make_client: MakeClient) -> None:
    client = make_client(Script())
    heard = Heard(client, "ready", "loaded", "prefilled", "round_received", "finished")
    states = Heard(client, "state_changed")
    client.load(TARGET, DRAFT)
    with qtbot.waitSignal(client.finished) as finished:
        request = ask(client)
    assert heard.names == ["ready", "loaded", "prefilled", "prefilled", *["round_received"] * 3, "finished"]
    assert finished.args is not None
    assert finished.args[0].request == request
    assert [state for _, state in states.events] == ["starting", "idle", "loading", "idle", "generating", "idle"]


def test_a_count_is_answered_while_idle_and_the_last_one_counts(qtbot: QtBot, make_client: MakeClient) -> None:
    client = make_client(Script())
    assert client.count(said("one"), AnswerSettings()) is None, "no engine is started for a count"
    client.load(TARGET, None)
    assert client.count(said("one"), AnswerSettings()) is None
    with qtbot.waitSignal(client.loaded):
        pass
    heard = Heard(client, "counted", "state_changed")
    first, last = client.count(said("one"), AnswerSettings()), client.count(said("one two", "three"), AnswerSettings())
    qtbot.waitUntil(lambda: bool(heard.names))
    assert heard.events == [("counted", Counted(last or 0, newest=1, prompt=3, left_out=0))]
    assert first != last


def test_turns_left_out_are_reported_before_the_prompt_is_read(qtbot: QtBot, make_client: MakeClient) -> None:
    client = make_client(Script(left_out=3))
    heard = Heard(client, "turns_left_out", "prefilled")
    client.load(TARGET, None)
    with qtbot.waitSignal(client.finished):
        ask(client)
    assert heard.names == ["turns_left_out", "prefilled", "prefilled"]
    assert heard.events[0][1].turns == 3


def test_events_of_other_requests_are_dropped(qtbot: QtBot, make_client: MakeClient) -> None:
    client = make_client(Script(stray=True))
    heard = Heard(client, "round_received", "finished")
    client.load(TARGET, None)
    with qtbot.waitSignal(client.finished, check_params_cb=lambda event: event.request == request):
        request = ask(client)
    assert {event.request for _, event in heard.events} == {request}


@pytest.mark.parametrize("phase", [Phase.PREFILL, Phase.STREAM])
def test_an_answer_is_cancelled_in_every_phase(qtbot: QtBot, make_client: MakeClient, phase: Phase) -> None:
    client = make_client(Script(phase=phase))
    client.load(TARGET, DRAFT)
    at = client.prefilled if phase is Phase.PREFILL else client.round_received
    with qtbot.waitSignal(at):
        request = ask(client)
    states = Heard(client, "state_changed")
    with qtbot.waitSignal(client.cancelled, timeout=1000) as cancelled:
        client.cancel(request)
    assert cancelled.args == [request]
    assert [state for _, state in states.events] == ["cancelling", "idle"]


def test_a_difference_is_explained(qtbot: QtBot, make_client: MakeClient, journal_path: Path) -> None:
    difference = Difference(1, 2, "a", 3, "b", margin=0.001, rounding=0.002, near_tie=True)
    client = make_client(Script(difference=difference))
    client.load(TARGET, DRAFT)
    with qtbot.waitSignal(client.explained) as explained:
        request = client.explain([], AnswerSettings(), TEXTS)
    assert explained.args == [Explained(request, difference)]
    assert journal_of(journal_path, Explain) == [Explain(request, (), AnswerSettings(), TEXTS)]
    assert client.state is EngineState.IDLE


def test_explaining_is_cancelled(qtbot: QtBot, make_client: MakeClient) -> None:
    client = make_client(Script(phase=Phase.EXPLAIN))
    with qtbot.waitSignal(client.loaded):
        client.load(TARGET, DRAFT)
    request = client.explain([], AnswerSettings(), TEXTS)
    with qtbot.waitSignal(client.cancelled, timeout=1000) as cancelled:
        client.cancel(request)
    assert cancelled.args == [request]


def test_a_load_is_cancelled(qtbot: QtBot, make_client: MakeClient) -> None:
    client = make_client(Script(phase=Phase.LOAD))
    with qtbot.waitSignal(client.load_progressed):
        request = client.load(TARGET, DRAFT)
    question = ask(client)
    heard = Heard(client, "cancelled", "failed")
    with qtbot.waitSignal(client.cancelled, timeout=1000):
        client.cancel(request)
    assert [request for _, request in heard.events] == [request, question], "the question has no pair to wait for"


def test_what_waits_is_cancelled_without_the_engine(qtbot: QtBot, make_client: MakeClient, journal_path: Path) -> None:
    client = make_client(Script(phase=Phase.LOAD, misbehaving_runs=1))
    with qtbot.waitSignal(client.load_progressed):
        client.load(TARGET, None)
    with qtbot.waitSignal(client.cancelled, timeout=0):
        client.cancel(ask(client))
    assert journal(journal_path) == ["Start", "Load"]


def test_a_newer_load_replaces_the_one_that_runs(qtbot: QtBot, make_client: MakeClient, journal_path: Path) -> None:
    client = make_client(Script())
    with qtbot.waitSignal(client.ready):
        client.start()
    heard = Heard(client, "cancelled", "loaded")
    first = client.load(TARGET, None)
    with qtbot.waitSignal(client.loaded, check_params_cb=lambda event: event.draft is not None):
        second = client.load(TARGET, DRAFT)
    assert client.state is EngineState.IDLE
    answered = [value if name == "cancelled" else value.request for name, value in heard.events]
    assert answered == [first, second]
    assert journal(journal_path) == ["Start", "Load", "Cancel", "Load"]


def test_a_failed_load_fails_the_question_that_waits(qtbot: QtBot, make_client: MakeClient) -> None:
    problem = Problem("target.gguf can't be loaded.")
    client = make_client(Script(load_problem=problem))
    heard = Heard(client, "failed")
    load = client.load(TARGET, None)
    question = ask(client)
    qtbot.waitUntil(lambda: len(heard.events) == 2)
    assert [(failed.request, failed.problem) for _, failed in heard.events] == [(load, problem), (question, problem)]
    assert client.state is EngineState.IDLE


@pytest.mark.parametrize("mishap", [Mishap.ABORT, Mishap.EXIT])
@pytest.mark.parametrize("phase", list(Phase))
def test_a_death_is_told_once_with_its_cause(
    qtbot: QtBot, make_client: MakeClient, phase: Phase, mishap: Mishap
) -> None:
    words = "ggml.c:17: GGML_ASSERT(rows > 0) failed"
    client = make_client(Script(phase=phase, mishap=mishap, last_words=words))
    heard = Heard(client, "died", "failed", "cancelled", "explained")
    with qtbot.waitSignal(client.died):
        client.load(TARGET, DRAFT)
        ask(client)
        client.explain([], AnswerSettings(), TEXTS)
    how = "signal SIGABRT" if mishap is Mishap.ABORT else "exit code 3"
    assert heard.names == ["died"]
    assert heard.events[0][1].message == f"Engine stopped: {words} ({how})"
    assert heard.events[0][1].fault is Fault.ENGINE_DIED
    assert client.state is EngineState.STOPPED
    assert words in client.log_tail()


def test_the_next_question_starts_a_new_engine_and_loads_the_pair_first(
    qtbot: QtBot, make_client: MakeClient, journal_path: Path
) -> None:
    client = make_client(Script(phase=Phase.STREAM, mishap=Mishap.ABORT, misbehaving_runs=1))
    load = client.load(TARGET, DRAFT)
    with qtbot.waitSignal(client.died):
        ask(client)
    with (
        qtbot.waitSignal(client.loaded, check_params_cb=lambda loaded: loaded.request == load),
        qtbot.waitSignal(client.finished),
    ):
        ask(client)
    assert journal(journal_path) == ["Start", "Load", "Generate", "Start", "Load", "Generate"]


def test_a_hanging_engine_is_killed_when_it_ignores_stop(qtbot: QtBot, make_client: MakeClient) -> None:
    client = make_client(Script(phase=Phase.STREAM, mishap=Mishap.HANG), HASTE)
    client.load(TARGET, None)
    with qtbot.waitSignal(client.round_received):
        request = ask(client)
    with qtbot.waitSignal(client.died, timeout=3000) as died:
        client.cancel(request)
    assert died.args is not None
    assert "did not obey Stop within 0.2 s" in died.args[0].message
    assert client.state is EngineState.STOPPED


def test_an_engine_that_is_never_ready_is_given_up(qtbot: QtBot, make_client: MakeClient) -> None:
    client = make_client(Script(phase=Phase.START, mishap=Mishap.HANG), Patience(ready_s=0.1, shutdown_s=0.3))
    with qtbot.waitSignal(client.died, timeout=3000) as died:
        client.start()
    assert died.args is not None
    assert "not ready within 0.1 s" in died.args[0].message


def test_a_slow_start_is_waited_for(qtbot: QtBot, make_client: MakeClient) -> None:
    client = make_client(Script(ready_after_s=0.3))
    client.load(TARGET, None)
    with qtbot.waitSignal(client.finished):
        ask(client)


@pytest.mark.parametrize("phase", [Phase.START, Phase.LOAD, Phase.STREAM])
def test_text_on_stdout_ends_the_engine_and_is_quoted(qtbot: QtBot, make_client: MakeClient, phase: Phase) -> None:
    client = make_client(Script(phase=phase, mishap=Mishap.GARBAGE))
    heard = Heard(client, "died")
    with qtbot.waitSignal(client.died, timeout=5000):
        client.load(TARGET, None)
        ask(client)
    assert len(heard.events) == 1
    assert "“llama_model_load: this is no message”" in heard.events[0][1].message
    assert client.state is EngineState.STOPPED


def test_another_protocol_is_refused(qtbot: QtBot, make_client: MakeClient) -> None:
    client = make_client(Script(protocol=99))
    with qtbot.waitSignal(client.died) as died:
        client.start()
    assert died.args is not None
    assert "protocol 99" in died.args[0].message


def test_a_program_that_is_not_there_counts_as_a_death(qtbot: QtBot, tmp_path: Path) -> None:
    client = EngineClient([str(tmp_path / "absent")])
    with qtbot.waitSignal(client.died) as died:
        ask(client)
    assert died.args is not None
    assert "could not be started" in died.args[0].message
    assert client.state is EngineState.STOPPED


@pytest.mark.parametrize("stubborn", [False, True])
def test_shutdown_ends_the_engine_in_time_and_is_no_death(
    qtbot: QtBot, make_client: MakeClient, *, stubborn: bool
) -> None:
    client = make_client(Script(ignore_shutdown=stubborn), HASTE)
    with qtbot.waitSignal(client.ready):
        client.start()
    heard = Heard(client, "died")
    with qtbot.waitSignal(
        client.state_changed, check_params_cb=lambda state: state is EngineState.STOPPED, timeout=3000
    ):
        client.shutdown()
        assert client.state is EngineState.STOPPING
    assert heard.events == []


def test_what_is_asked_while_stopping_starts_the_engine_again(
    qtbot: QtBot, make_client: MakeClient, journal_path: Path
) -> None:
    client = make_client(Script())
    with qtbot.waitSignal(client.ready):
        client.start()
    client.shutdown()
    with qtbot.waitSignal(client.loaded):
        client.load(TARGET, None)
    assert journal(journal_path) == ["Start", "Shutdown", "Start", "Load"]


def test_unloading_forgets_the_pair(qtbot: QtBot, make_client: MakeClient, journal_path: Path) -> None:
    client = make_client(Script(phase=Phase.STREAM, mishap=Mishap.EXIT, misbehaving_runs=1))
    with qtbot.waitSignal(client.loaded):
        client.load(TARGET, None)
    client.unload()
    with qtbot.waitSignal(client.died):
        ask(client)
    with qtbot.waitSignal(client.finished):
        ask(client)
    assert journal(journal_path) == ["Start", "Load", "Unload", "Generate", "Start", "Generate"]


def test_waiting_for_the_end_works_without_an_event_loop(qtbot: QtBot, make_client: MakeClient) -> None:
    client = make_client(Script(phase=Phase.STREAM, mishap=Mishap.HANG), HASTE)
    client.load(TARGET, None)
    with qtbot.waitSignal(client.round_received):
        ask(client)
    client.wait_until_stopped()
    assert client.state is EngineState.STOPPED


def test_waiting_for_the_end_covers_an_engine_that_was_given_up(qtbot: QtBot, make_client: MakeClient) -> None:
    client = make_client(Script(protocol=99))
    given_up: list[EngineProcess] = []
    client.died.connect(lambda _: given_up.extend(client.findChildren(EngineProcess)))
    with qtbot.waitSignal(client.died):
        client.start()
    client.wait_until_stopped()
    assert [process.running for process in given_up] == [False]


def test_stderr_goes_to_the_log_file(qtbot: QtBot, make_client: MakeClient, tmp_path: Path) -> None:
    client = make_client(Script(phase=Phase.IDLE, mishap=Mishap.EXIT, last_words="nothing of note"))
    with qtbot.waitSignal(client.died) as died:
        client.start()
    assert died.args is not None
    assert died.args[0].message == "Engine stopped: no cause given (exit code 3)"
    assert "nothing of note" in (tmp_path / "log" / "engine.log").read_text()


def test_the_prompt_and_settings_arrive_as_sent(qtbot: QtBot, make_client: MakeClient, journal_path: Path) -> None:
    client = make_client(Script())
    settings = AnswerSettings(max_tokens=7, stop=("\n\n",))
    client.load(TARGET, None)
    with qtbot.waitSignal(client.finished) as finished:
        client.generate([], settings)
    assert finished.args is not None
    assert isinstance(finished.args[0], Finished)
    assert [generate.settings for generate in journal_of(journal_path, Generate)] == [settings]


def test_the_log_folder_may_be_unusable(qtbot: QtBot, tmp_path: Path, expect_log: Callable[[str], None]) -> None:
    expect_log("log stays in memory")
    blocked = tmp_path / "file"
    blocked.write_text("")
    client = EngineClient(
        argv(Script(phase=Phase.IDLE, mishap=Mishap.EXIT, last_words="still heard")), log_path=blocked / "engine.log"
    )
    with qtbot.waitSignal(client.died):
        client.start()
    assert "still heard" in client.log_tail()
