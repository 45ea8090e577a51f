"""Choosing and loading a pair, and what the state chip says on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event, get_ident, main_thread

import pytest
from pytestqt.qtbot import QtBot

from desktop_app.core.errors import Blame, Fault, Problem
from desktop_app.core.facts import Costs
from desktop_app.core.settings import AnswerSettings, DraftSource, LoadSettings, Rule
from desktop_app.protocol.messages import Load
from desktop_app.services.settings import SettingsService
from tests.fakes.scripted_engine import Mishap, Phase, Script, journal_of
from tests.fakes.services import DRAFT, TARGET, Services

OTHER_VOCABULARY = Problem(
    "The draft has another vocabulary (token 139 differs).", "Choose another.", Blame.USER, Fault.VOCABULARY
)
COSTS = Costs(16, ((1, 0.05), (2, 0.06)), 0.01)

Build = Callable[..., Services]

pytestmark = pytest.mark.usefixtures("qtbot")


@pytest.fixture
def build(tmp_path: Path) -> Iterator[Build]:
    made: list[Services] = []

    def make(script: Script | None = None, **options: object) -> Services:
        made.append(Services.build(tmp_path, script or Script(), **options))  # type: ignore[arg-type]  # build's options
        return made[-1]

    yield make
    for services in made:
        services.close()


def chip(services: Services) -> str:
    return services.pair.status().text


def load(qtbot: QtBot, services: Services) -> None:
    with qtbot.waitSignal(services.engine.loaded):
        services.pair.load()


def ask(qtbot: QtBot, services: Services) -> None:
    with qtbot.waitSignal(services.session.turn_ended):
        services.session.send("Count to ten.")


def loads(services: Services) -> list[Load]:
    return journal_of(services.journal_path, Load)


def test_loading_a_pair_tells_its_progress_and_its_facts(qtbot: QtBot, build: Build) -> None:
    services = build(Script(costs=COSTS))
    texts: list[str] = []
    services.pair.changed.connect(lambda: texts.append(chip(services)))
    with qtbot.waitSignal(services.engine.calibrated):
        services.pair.load()
    assert services.pair.target is not None
    assert services.pair.target.path == TARGET
    assert services.pair.draft is not None
    assert services.pair.draft.path == DRAFT
    assert services.pair.costs == COSTS
    assert list(dict.fromkeys(texts)) == [
        "Loading target",
        "Starting the engine…",
        "Loading target 43 %",
        "Measuring this machine…",
        "Speculating, γ auto",
    ]


def test_a_question_ends_the_measuring(qtbot: QtBot, build: Build) -> None:
    services = build()
    load(qtbot, services)
    assert chip(services) == "Measuring this machine…"
    ask(qtbot, services)
    assert chip(services) == "Speculating, γ auto"


def test_without_a_target_the_chip_asks_for_one(build: Build) -> None:
    services = build(target=None)
    services.pair.load()
    assert chip(services) == "No model: choose one"
    assert services.pair.obstacle is not None
    assert services.pair.obstacle.fault is Fault.NO_MODEL
    assert services.asked() == []


def test_switch_gamma_and_rule_never_load_again(qtbot: QtBot, build: Build) -> None:
    services = build()
    load(qtbot, services)
    ask(qtbot, services)
    services.pair.set_enabled(enabled=False)
    assert chip(services) == "Plain: speculation is switched off"
    services.pair.set_enabled(enabled=True)
    services.pair.set_gamma(99)
    services.pair.set_rule(Rule.SHARED_NOISE)
    assert chip(services) == "Speculating, γ 16"
    services.pair.set_source(DraftSource.LOOKUP)
    services.pair.set_source(DraftSource.NONE)
    assert chip(services) == "Off: no draft chosen"
    services.pair.set_source(DraftSource.MODEL)
    ask(qtbot, services)
    assert services.asked() == ["Start", "Load", "Generate", "Generate"]


def test_another_draft_is_loaded_beside_the_same_target(qtbot: QtBot, build: Build) -> None:
    services = build()
    load(qtbot, services)
    with qtbot.waitSignal(services.engine.loaded):
        services.pair.choose_draft("/models/other.gguf")
    before, after = loads(services)
    assert before.target == after.target
    assert after.draft is not None
    assert after.draft.path == "/models/other.gguf"


def test_a_draft_is_loaded_when_it_is_first_selected(qtbot: QtBot, build: Build) -> None:
    services = build()
    services.pair.set_source(DraftSource.LOOKUP)
    load(qtbot, services)
    assert services.pair.draft is None
    with qtbot.waitSignal(services.engine.loaded):
        services.pair.set_source(DraftSource.MODEL)
    assert [bool(asked.draft) for asked in loads(services)] == [False, True]


def test_a_changed_context_loads_again(qtbot: QtBot, build: Build) -> None:
    services = build()
    load(qtbot, services)
    with qtbot.waitSignal(services.engine.loaded):
        services.settings.apply(services.settings.current.with_loading(TARGET, LoadSettings(n_ctx=512)))
    assert [asked.target.n_ctx for asked in loads(services)] == [8192, 512]


def test_each_model_is_loaded_by_its_own_settings(qtbot: QtBot, build: Build) -> None:
    services = build()
    current = services.settings.current
    own = LoadSettings(n_ctx=512, threads=1)
    services.settings.apply(current.with_loading(DRAFT, own))
    load(qtbot, services)
    [asked] = loads(services)
    assert (asked.target, asked.draft) == (LoadSettings().of(TARGET), own.of(DRAFT))


def test_choosing_a_pair_loads_once(qtbot: QtBot, build: Build) -> None:
    services = build(target=None, draft=None)
    with qtbot.waitSignal(services.engine.loaded):
        services.pair.choose_pair(TARGET, DRAFT)
    assert services.asked() == ["Start", "Load"]


def test_the_headers_are_judged_first_and_off_the_gui_thread(qtbot: QtBot, build: Build) -> None:
    threads: list[int] = []

    def judge(target: Path, draft: Path) -> Problem:
        threads.append(get_ident())
        assert (str(target), str(draft)) == (TARGET, DRAFT)
        return OTHER_VOCABULARY

    services = build(judge=judge)
    with qtbot.waitSignals([services.pair.problem_raised, services.engine.loaded]):
        services.pair.load()
    ask(qtbot, services)
    assert threads[0] != main_thread().ident
    assert [asked.draft for asked in loads(services)] == [None]
    assert services.pair.draft_problem == OTHER_VOCABULARY
    assert chip(services) == "Off: the draft has another vocabulary (token 139 differs)"
    assert services.pair.obstacle is None, "chat goes on plainly"


def test_a_verdict_on_an_earlier_choice_is_dropped(qtbot: QtBot, build: Build) -> None:
    go = Event()

    def judge(target: Path, draft: Path) -> Problem | None:
        del target
        go.wait(5)
        return OTHER_VOCABULARY if str(draft) == DRAFT else None

    services = build(judge=judge)
    services.pair.load()
    services.pair.choose_draft("/models/other.gguf")
    with qtbot.waitSignal(services.engine.loaded):
        go.set()
    assert [asked.draft.path for asked in loads(services) if asked.draft] == ["/models/other.gguf"]
    assert services.pair.draft_problem is None


def test_a_draft_that_fails_to_load_leaves_the_target_chatting(qtbot: QtBot, build: Build) -> None:
    problem = Problem("draft.gguf is truncated.", "Download it again.", Blame.USER, Fault.BAD_MODEL)
    services = build(Script(draft_problem=problem))
    with qtbot.waitSignal(services.pair.problem_raised):
        services.pair.load()
    ask(qtbot, services)
    assert chip(services) == "Off: the draft failed to load: draft.gguf is truncated"
    assert services.pair.target is not None
    assert services.pair.obstacle is None


def test_a_target_that_fails_to_load_is_the_obstacle(qtbot: QtBot, build: Build) -> None:
    problem = Problem("target.gguf is no GGUF file.", "Choose another.", Blame.USER, Fault.BAD_MODEL)
    services = build(Script(load_problem=problem))
    with qtbot.waitSignal(services.pair.problem_raised):
        services.pair.load()
    assert services.pair.obstacle == problem
    assert services.pair.target is None
    assert chip(services) == "Target failed to load: target.gguf is no GGUF file"


def test_choosing_the_same_target_tries_again(qtbot: QtBot, build: Build) -> None:
    services = build(Script(load_problem=Problem("no memory")))
    for _ in range(2):
        with qtbot.waitSignal(services.pair.problem_raised):
            services.pair.choose_target(TARGET)
    assert len(loads(services)) == 2


def test_loading_can_be_cancelled(qtbot: QtBot, build: Build) -> None:
    services = build(Script(phase=Phase.LOAD))
    with qtbot.waitSignal(services.pair.load_progressed):
        services.pair.load()
    with qtbot.waitSignal(services.engine.cancelled, timeout=1000):
        services.pair.cancel_load()
    assert not services.pair.loading
    assert chip(services) == "Target not loaded"
    assert services.pair.obstacle is None, "the next message loads it"


def test_a_death_while_loading_is_reported(qtbot: QtBot, build: Build) -> None:
    services = build(Script(phase=Phase.LOAD, mishap=Mishap.ABORT, last_words="cudaMalloc failed: out of memory"))
    with qtbot.waitSignal(services.pair.problem_raised) as raised:
        services.pair.load()
    assert raised.args is not None
    assert raised.args[0].fault is Fault.OUT_OF_MEMORY
    assert chip(services) == "Engine stopped: it ran out of memory, cudaMalloc failed: out of memory (signal SIGABRT)"
    assert not services.pair.loading


def test_the_chip_owns_up_when_an_answer_was_not_drafted(qtbot: QtBot, build: Build) -> None:
    services = build(Script(speculation_problem=Problem("The draft ran out of memory.")))
    load(qtbot, services)
    ask(qtbot, services)
    status = services.pair.status()
    assert (status.active, status.text) == (False, "Off: the draft ran out of memory")
    services.pair.set_gamma(2)
    assert chip(services) == "Speculating, γ 2", "another setting deserves another try"


def test_choices_persist(qtbot: QtBot, build: Build, tmp_path: Path) -> None:
    services = build(target=None, draft=None)
    with qtbot.waitSignal(services.engine.loaded):
        services.pair.choose_pair(TARGET, DRAFT)
    services.pair.set_gamma(7)
    services.settings.flush()
    again = SettingsService(tmp_path / "settings.json").current
    assert (again.target_path, again.draft_path) == (TARGET, DRAFT)
    assert again.answer == replace(AnswerSettings(), speculation=replace(AnswerSettings().speculation, gamma=7))
