"""The state chip: one line that says what is happening and, if speculation is off, why. Pure; no Qt."""

from __future__ import annotations

from dataclasses import dataclass, replace

from desktop_app.core.errors import Fault, Problem
from desktop_app.core.facts import Rollback
from desktop_app.core.settings import DraftSource
from desktop_app.protocol.messages import Part
from desktop_app.services.pair_state import PairState

_OFF = "Off: "


@dataclass(frozen=True, slots=True)
class Status:
    """What the chip shows."""

    active: bool
    """Whether the next answer will be drafted."""
    text: str
    detail: str
    """The longer explanation for the tooltip; may be empty."""


def status_of(state: PairState) -> Status:
    """What the chip says about `state`: first what keeps it from answering, then what keeps it from drafting."""
    steps = (_obstacle, _in_progress, _off, _measuring, _off_for_now)
    return next((status for step in steps if (status := step(state)) is not None), None) or _speculating(state)


def _obstacle(state: PairState) -> Status | None:
    if state.target_path is None:
        return Status(False, "No model: choose one", "Choose a GGUF file as the target, above or by dropping it here.")
    if state.engine_problem is not None:
        return _because("", state.engine_problem)
    if state.target_problem is not None:
        return _because("Target failed to load: ", state.target_problem)
    return None


def _in_progress(state: PairState) -> Status | None:
    if state.starting:
        return Status(False, "Starting the engine…", "")
    if state.loading:
        return _loading(state)
    if state.target is None:
        return Status(False, "Target not loaded", "It is loaded with the next message.")
    return None


def _loading(state: PairState) -> Status:
    if state.progress is not None:
        part, share = state.progress.part, f" {state.progress.fraction * 100:.0f} %"
    else:
        stays = state.target is not None and state.target.path == state.target_path
        part, share = (Part.DRAFT if stays else Part.TARGET), ""
    path = state.target_path if part is Part.TARGET else state.draft_path
    return Status(False, f"Loading {part}{share}", path or "")


def _off(state: PairState) -> Status | None:
    speculation = state.speculation
    if not speculation.enabled:
        return Status(False, "Plain: speculation is switched off", "Each token takes one pass of the target.")
    if speculation.source is DraftSource.NONE:
        return _NO_DRAFT
    if state.target is not None and state.target.rollback is Rollback.NONE:
        return _NO_ROLLBACK
    if speculation.source is DraftSource.MODEL:
        return _draft_missing(state) or _not_drafted(state)
    if speculation.source is DraftSource.BOTH and (missing := _draft_missing(state)) is not None:
        return replace(missing, active=True, text=missing.text.replace(_OFF, "Prompt lookup only: ", 1))
    return _not_drafted(state)


def _draft_missing(state: PairState) -> Status | None:
    if state.draft_path is None:
        return _NO_DRAFT
    if state.draft_problem is not None:
        failed = state.draft_problem.fault in {Fault.BAD_MODEL, Fault.OUT_OF_MEMORY}
        return _because(f"{_OFF}the draft failed to load: " if failed else _OFF, state.draft_problem)
    if state.draft is None:
        return Status(False, f"{_OFF}the draft is not loaded", state.draft_path)
    return None


def _not_drafted(state: PairState) -> Status | None:
    return _because(_OFF, state.answer_problem) if state.answer_problem else None


def _measuring(state: PairState) -> Status | None:
    """It hides no reason: whoever just chose a draft that doesn't fit wants to know why."""
    return _MEASURING if state.measuring else None


def _off_for_now(state: PairState) -> Status | None:
    """What auto made of the last rounds."""
    pace = state.pace
    if pace is None or pace.speculating:
        return None
    speed = "" if pace.expected_speedup is None else f" ({pace.expected_speedup:.1f}×)"
    if state.speculation.source is DraftSource.BOTH:
        return Status(True, f"Prompt lookup only for now: the draft is slower here{speed}", _TRIED_AGAIN)
    return Status(False, f"Off for now: plain is faster here{speed}", _TRIED_AGAIN)


def _speculating(state: PairState) -> Status:
    gamma = state.speculation.gamma
    count = {None: "as many tokens as pay", 1: "one token"}.get(gamma, f"up to {gamma} tokens")
    detail = f"{_drafter(state)} {count} a round; one target pass judges them."
    return Status(True, f"Speculating, γ {'auto' if gamma is None else gamma}", detail)


def _drafter(state: PairState) -> str:
    match state.speculation.source:
        case DraftSource.LOOKUP:
            return "Prompt lookup proposes"
        case DraftSource.BOTH:
            return f"Prompt lookup or {state.draft.name if state.draft else 'the draft'} proposes"
    return f"{state.draft.name if state.draft else 'The draft'} proposes"


def _because(prefix: str, problem: Problem) -> Status:
    reason = problem.message.rstrip(".")
    if prefix == _OFF:
        reason = _lower_first(reason)
    return Status(False, prefix + reason, str(problem))


def _lower_first(sentence: str) -> str:
    """A sentence as a clause; abbreviations such as GGUF keep their capitals."""
    return sentence[:1].lower() + sentence[1:] if sentence[1:2].islower() or sentence[1:2] == " " else sentence


_MEASURING = Status(
    False, "Measuring this machine…", "Passes of target and draft are timed; a message may be sent meanwhile."
)
_TRIED_AGAIN = "By what drafting costs here and how often its tokens are kept. It is tried again as the text goes on."
_NO_DRAFT = Status(
    False, f"{_OFF}no draft chosen", "Choose a smaller GGUF of the same family, or prompt lookup, as the draft."
)
_NO_ROLLBACK = Status(
    False,
    f"{_OFF}this target can't take tokens back",
    "Speculation removes refused tokens from the model's memory, which this kind of model doesn't allow.",
)
