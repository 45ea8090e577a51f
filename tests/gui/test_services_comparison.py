"""Comparisons through the real client and a scripted engine: order, warm-up, verdict, and every way they can end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from desktop_app.core.difference import Difference
from desktop_app.core.errors import Fault, Problem
from desktop_app.core.settings import AnswerSettings, DraftSource, Rule, Sampling, Speculation
from desktop_app.protocol.messages import ChatMessage, Explain, Generate, Load, Role
from desktop_app.services.baselines import MIN_TOKENS
from desktop_app.services.comparison import WARM_UP_TOKENS
from desktop_app.services.comparison_record import ComparisonRecord, ComparisonState, Plan, Run, Side
from desktop_app.services.turn import TurnState
from tests.fakes.scripted_engine import WORDS, Mishap, Phase, Script, journal_of
from tests.fakes.services import Services

MESSAGES = (ChatMessage(Role.USER, "Count to ten."),)
PLAIN = Speculation(enabled=False)
DRAFTED = Speculation(gamma=3)
GREEDY = Sampling(temperature=0.0, seed=5)
NEAR_TIE = Difference(4, 4, "five ", 504, "other ", margin=0.002, rounding=0.005, near_tie=True)

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


def plan(a: Speculation = PLAIN, b: Speculation = DRAFTED, *, sampling: Sampling = GREEDY, repeats: int = 2) -> Plan:
    return Plan(MESSAGES, AnswerSettings(sampling, max_tokens=64), a, b, repeats)


def compared(qtbot: QtBot, services: Services, wanted: Plan) -> ComparisonRecord:
    """A whole comparison."""
    with qtbot.waitSignal(services.comparison.ended, timeout=20_000):
        assert services.comparison.begin(wanted) is None
    record = services.comparison.record
    assert record is not None
    return record


def until_first_run(qtbot: QtBot, services: Services, wanted: Plan) -> ComparisonRecord:
    """A comparison whose first run that counts has rounds."""
    assert services.comparison.begin(wanted) is None
    record = services.comparison.record
    assert record is not None
    qtbot.waitUntil(lambda: bool(record.runs and record.runs[0].turn.answer.rounds), timeout=20_000)
    return record


def test_runs_alternate_after_a_short_one_of_each_side(qtbot: QtBot, build: Build) -> None:
    services = build()
    seen: list[Run] = []
    services.comparison.run_started.connect(seen.append)
    record = compared(qtbot, services, plan())
    assert [(run.side.value, run.repeat) for run in seen] == [
        ("a", None),
        ("b", None),
        ("a", 0),
        ("b", 0),
        ("b", 1),
        ("a", 1),
    ]
    assert record.runs == seen[2:]
    assert (record.state, record.problem) == (ComparisonState.DONE, None)
    assert [run.turn.state for run in record.runs] == [TurnState.FINISHED] * 4
    asked = journal_of(services.journal_path, Generate)
    assert {question.messages for question in asked} == {MESSAGES}
    assert {question.settings.sampling for question in asked} == {GREEDY}
    assert [question.settings.max_tokens for question in asked] == [WARM_UP_TOKENS] * 2 + [64] * 4
    assert [question.settings.speculation for question in asked[2:]] == [PLAIN, DRAFTED, DRAFTED, PLAIN]


def test_the_figures_and_the_same_text(qtbot: QtBot, build: Build) -> None:
    services = build()
    record = compared(qtbot, services, plan(repeats=3))
    speedup = record.speedup
    assert speedup is not None
    assert speedup.count == 3
    assert speedup.low == speedup.median == speedup.high
    assert record.figures(Side.B).acceptance_rate is not None
    verdict = record.verdict
    assert verdict is not None
    assert (verdict.same, verdict.expected, verdict.difference) == (True, True, None)
    assert record.target == services.pair.target
    assert record.engine is not None
    assert "Explain" not in services.asked()


def test_a_parting_is_examined_by_the_engine(qtbot: QtBot, build: Build) -> None:
    services = build(Script(parts_at=4, difference=NEAR_TIE))
    record = compared(qtbot, services, plan())
    verdict = record.verdict
    assert verdict is not None
    assert (verdict.parting, verdict.same, verdict.difference) == (4, False, NEAR_TIE)
    (asked,) = journal_of(services.journal_path, Explain)
    assert asked.messages == MESSAGES
    assert asked.texts.first == tuple(range(10))
    assert asked.texts.second[4] == 504
    assert (asked.texts.sampling, asked.texts.pass_size) == (GREEDY, 4)


def test_rejection_sampling_makes_no_same_text_to_expect(qtbot: QtBot, build: Build) -> None:
    services = build(Script(parts_at=4, difference=NEAR_TIE))
    sampling = Sampling(temperature=0.8, seed=5)
    record = compared(qtbot, services, plan(sampling=sampling))
    assert record.verdict is not None
    assert (record.verdict.expected, record.verdict.parting, record.verdict.difference) == (False, 4, None)
    assert "Explain" not in services.asked()


def test_shared_noise_does(qtbot: QtBot, build: Build) -> None:
    services = build(Script(parts_at=4, difference=NEAR_TIE))
    a, b = Speculation(enabled=False, rule=Rule.SHARED_NOISE), Speculation(gamma=3, rule=Rule.SHARED_NOISE)
    record = compared(qtbot, services, plan(a, b, sampling=Sampling(temperature=0.8, seed=5)))
    assert record.verdict is not None
    assert (record.verdict.expected, record.verdict.difference) == (True, NEAR_TIE)


def test_two_settings_that_both_draft(qtbot: QtBot, build: Build) -> None:
    services = build()
    lookup = Speculation(gamma=2, source=DraftSource.LOOKUP)
    record = compared(qtbot, services, plan(lookup, DRAFTED))
    assert record.verdict is not None
    assert record.verdict.same
    assert [run.turn.answer.rounds[0].gamma for run in record.runs] == [2, 3, 3, 2]


def test_a_draft_that_chats_do_without_is_loaded(qtbot: QtBot, build: Build) -> None:
    services = build()
    services.pair.set_source(DraftSource.LOOKUP)
    with qtbot.waitSignal(services.engine.loaded):
        services.pair.load()
    assert services.pair.draft is None
    record = compared(qtbot, services, plan(a=Speculation(enabled=False, source=DraftSource.LOOKUP)))
    assert record.state is ComparisonState.DONE
    assert record.draft is not None
    assert [load.draft is not None for load in journal_of(services.journal_path, Load)] == [False, True]
    assert services.pair.speculation.source is DraftSource.LOOKUP


def test_stop_keeps_what_was_measured(qtbot: QtBot, build: Build) -> None:
    services = build(Script(rounds_per_s=50))
    assert services.comparison.begin(plan(repeats=5)) is None
    record = services.comparison.record
    assert record is not None
    qtbot.waitUntil(lambda: len(record.runs) == 3 and bool(record.runs[2].turn.answer.rounds), timeout=20_000)
    with qtbot.waitSignal(services.comparison.ended):
        services.comparison.stop()
    assert (record.state, record.problem) == (ComparisonState.STOPPED, None)
    assert len(record.pairs) == 1
    assert record.speedup is not None
    assert record.verdict is not None
    assert record.verdict.same
    assert not services.comparison.running


def test_stop_while_the_engine_examines(qtbot: QtBot, build: Build) -> None:
    services = build(Script(phase=Phase.EXPLAIN, parts_at=4, difference=NEAR_TIE))
    with qtbot.waitSignal(services.comparison.examining_started, timeout=20_000):
        services.comparison.begin(plan(repeats=1))
    with qtbot.waitSignal(services.comparison.ended):
        services.comparison.stop()
    record = services.comparison.record
    assert record is not None
    assert record.state is ComparisonState.STOPPED
    assert record.verdict is not None
    assert (record.verdict.parting, record.verdict.difference) == (4, None)


@pytest.mark.parametrize("phase", [phase for phase in Phase if phase is not Phase.IDLE])
def test_a_dead_engine_ends_it_and_the_next_one_works(qtbot: QtBot, build: Build, phase: Phase) -> None:
    words = "GGML_ASSERT(n_tokens > 0) failed"
    script = Script(phase=phase, mishap=Mishap.ABORT, last_words=words, misbehaving_runs=1, parts_at=4)
    services = build(script)
    record = compared(qtbot, services, plan(repeats=1))
    assert record.state is ComparisonState.FAILED
    assert record.problem is not None
    assert words in record.problem.message
    assert record.problem.fault is Fault.ENGINE_DIED
    assert compared(qtbot, services, plan(repeats=1)).state is ComparisonState.DONE


def test_a_refused_prompt_fails_it(qtbot: QtBot, build: Build) -> None:
    problem = Problem("The conversation has 9,412 tokens; the context holds 8,192.", fault=Fault.PROMPT_TOO_LONG)
    services = build(Script(generate_problem=problem))
    record = compared(qtbot, services, plan())
    assert (record.state, record.problem, record.runs) == (ComparisonState.FAILED, problem, [])
    assert record.verdict is None


def test_a_draft_that_cannot_draft_fails_it(qtbot: QtBot, build: Build) -> None:
    problem = Problem("The draft ran out of memory.")
    services = build(Script(speculation_problem=problem))
    record = compared(qtbot, services, plan())
    assert (record.state, record.problem, record.runs) == (ComparisonState.FAILED, problem, [])


def test_without_a_model_it_does_not_begin(build: Build) -> None:
    services = build(target=None, draft=None)
    problem = services.comparison.begin(plan())
    assert problem is not None
    assert problem.fault is Fault.NO_MODEL
    assert services.comparison.record is None


def test_other_models_end_it(qtbot: QtBot, build: Build) -> None:
    services = build(Script(rounds_per_s=50))
    record = until_first_run(qtbot, services, plan())
    with qtbot.waitSignal(services.comparison.ended):
        services.pair.choose_target("/models/other.gguf")
    assert record.state is ComparisonState.FAILED
    assert record.problem is not None
    assert "changed" in record.problem.message
    qtbot.waitUntil(lambda: services.pair.target is not None and services.pair.target.path == "/models/other.gguf")


def test_a_message_waits_for_its_end(qtbot: QtBot, build: Build) -> None:
    services = build(Script(rounds_per_s=50))
    until_first_run(qtbot, services, plan(repeats=1))
    with qtbot.waitSignal(services.session.prompt_refused) as refused:
        assert not services.session.send("Hello?")
    assert refused.args is not None
    assert refused.args[1] == "Hello?"
    assert "comparison" in refused.args[2].message
    with qtbot.waitSignal(services.comparison.ended, timeout=20_000):
        pass
    with qtbot.waitSignal(services.session.turn_ended) as ended:
        assert services.session.send("Hello?")
    assert ended.args is not None
    assert ended.args[0].answer.shown == "".join(WORDS)


def test_it_waits_for_the_end_of_an_answer(qtbot: QtBot, build: Build) -> None:
    services = build(Script(rounds_per_s=50))
    with qtbot.waitSignal(services.session.round_added):
        services.session.send("Count.")
    problem = services.comparison.begin(plan())
    assert problem is not None
    assert "chat" in problem.message
    with qtbot.waitSignal(services.session.turn_ended):
        pass
    assert compared(qtbot, services, plan(repeats=1)).state is ComparisonState.DONE


def test_a_comparison_touches_no_chat_and_leaves_a_baseline(qtbot: QtBot, build: Build) -> None:
    services = build()
    assert WARM_UP_TOKENS < MIN_TOKENS
    compared(qtbot, services, plan(repeats=1))
    done: list[int] = []
    services.archive.ask(lambda store: len(store.chats()), done.append)
    qtbot.waitUntil(lambda: done == [0])
    with qtbot.waitSignal(services.session.turn_ended) as ended:
        services.session.send("Another question.")
    assert ended.args is not None
    assert ended.args[0].baseline is not None
