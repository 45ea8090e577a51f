"""The chip's words, state by state."""

from __future__ import annotations

from dataclasses import replace

import pytest

from desktop_app.core.errors import Fault, Problem
from desktop_app.core.facts import Rollback
from desktop_app.core.pacing import Pace
from desktop_app.core.settings import DraftSource, ModelSettings, Speculation
from desktop_app.protocol.messages import LoadProgress, Part
from desktop_app.services.pair_state import PairState
from desktop_app.services.status import status_of
from tests.fakes.scripted_engine import facts

LOADED = PairState(
    Speculation(gamma=4),
    target_path="/m/target.gguf",
    draft_path="/m/draft.gguf",
    target=facts(ModelSettings("/m/target.gguf")),
    draft=facts(ModelSettings("/m/draft.gguf")),
)
AUTO = replace(LOADED, speculation=Speculation())
OFF = Pace(speculating=False, expected_speedup=0.8)
LOOKUP = Speculation(source=DraftSource.LOOKUP, gamma=4)
BOTH = Speculation(source=DraftSource.BOTH)
RECURRENT = replace(facts(ModelSettings("/m/target.gguf")), rollback=Rollback.NONE)
VOCABULARY = Problem("The draft has another vocabulary (token 139 differs).", fault=Fault.VOCABULARY)
BROKEN = Problem("GGUF header cut short.", fault=Fault.BAD_MODEL)
SHORT = Problem("The draft's context holds 512 tokens, the target's 8192.")
DEAD = Problem("Engine stopped: GGML_ASSERT(x) failed (signal SIGABRT)")


@pytest.mark.parametrize(
    ("state", "text"),
    [
        (PairState(Speculation()), "No model: choose one"),
        (LOADED, "Speculating, γ 4"),
        (replace(LOADED, speculation=Speculation(gamma=1)), "Speculating, γ 1"),
        (replace(LOADED, speculation=LOOKUP, draft=None), "Speculating, γ 4"),
        (replace(LOADED, speculation=Speculation(enabled=False)), "Plain: speculation is switched off"),
        (replace(LOADED, speculation=Speculation(source=DraftSource.NONE)), "Off: no draft chosen"),
        (replace(LOADED, draft_path=None, draft=None), "Off: no draft chosen"),
        (
            replace(LOADED, draft=None, draft_problem=VOCABULARY),
            "Off: the draft has another vocabulary (token 139 differs)",
        ),
        (replace(LOADED, draft=None, draft_problem=BROKEN), "Off: the draft failed to load: GGUF header cut short"),
        (
            replace(LOADED, draft=None, draft_problem=SHORT),
            "Off: the draft's context holds 512 tokens, the target's 8192",
        ),
        (replace(LOADED, draft=None), "Off: the draft is not loaded"),
        (replace(LOADED, target=RECURRENT), "Off: this target can't take tokens back"),
        (replace(LOADED, speculation=LOOKUP, target=RECURRENT), "Off: this target can't take tokens back"),
        (replace(LOADED, answer_problem=Problem("No room for the draft.")), "Off: no room for the draft"),
        (replace(LOADED, target=None, starting=True, loading=True), "Starting the engine…"),
        (replace(LOADED, target=None, loading=True), "Loading target"),
        (replace(LOADED, target_path="/m/other.gguf", loading=True), "Loading target"),
        (replace(LOADED, draft=None, loading=True), "Loading draft"),
        (replace(LOADED, loading=True, progress=LoadProgress(1, Part.TARGET, 0.434)), "Loading target 43 %"),
        (replace(LOADED, loading=True, progress=LoadProgress(1, Part.DRAFT, 1.0)), "Loading draft 100 %"),
        (replace(LOADED, target=None), "Target not loaded"),
        (replace(LOADED, measuring=True), "Measuring this machine…"),
        (AUTO, "Speculating, γ auto"),
        (replace(AUTO, pace=Pace(speculating=True, expected_speedup=1.4)), "Speculating, γ auto"),
        (replace(AUTO, pace=OFF), "Off for now: plain is faster here (0.8×)"),
        (replace(AUTO, pace=Pace(speculating=False, expected_speedup=None)), "Off for now: plain is faster here"),
        (
            replace(LOADED, measuring=True, draft=None, draft_problem=VOCABULARY),
            "Off: the draft has another vocabulary (token 139 differs)",
        ),
        (
            replace(LOADED, measuring=True, speculation=Speculation(enabled=False)),
            "Plain: speculation is switched off",
        ),
        (replace(LOADED, target=None, engine_problem=DEAD), DEAD.message),
        (replace(LOADED, target=None, target_problem=BROKEN), "Target failed to load: GGUF header cut short"),
    ],
)
def test_the_chip_says(state: PairState, text: str) -> None:
    status = status_of(state)
    assert status.text == text
    assert status.active is text.startswith("Speculating")


def test_the_detail_names_the_drafter() -> None:
    assert status_of(LOADED).detail.startswith("draft proposes up to 4 tokens")
    assert status_of(AUTO).detail.startswith("draft proposes as many tokens as pay")
    assert status_of(replace(LOADED, speculation=LOOKUP)).detail.startswith("Prompt lookup proposes")
    assert status_of(replace(LOADED, speculation=BOTH)).detail.startswith("Prompt lookup or draft proposes")


@pytest.mark.parametrize(
    ("state", "text"),
    [
        (replace(LOADED, draft_path=None), "Prompt lookup only: no draft chosen"),
        (
            replace(LOADED, draft=None, draft_problem=VOCABULARY),
            "Prompt lookup only: the draft has another vocabulary (token 139 differs)",
        ),
        (replace(LOADED, pace=OFF), "Prompt lookup only for now: the draft is slower here (0.8×)"),
    ],
)
def test_prompt_lookup_goes_on_without_the_draft_beside_it(state: PairState, text: str) -> None:
    status = status_of(replace(state, speculation=BOTH))
    assert (status.active, status.text) == (True, text)


def test_the_detail_of_a_problem_holds_its_hint() -> None:
    problem = Problem("It is gone.", "Choose another.")
    assert status_of(replace(LOADED, draft=None, draft_problem=problem)).detail == "It is gone. Choose another."
