"""The state chip: one line that says what is happening and, if speculation is off, why. Pure; no Qt."""

from __future__ import annotations

from dataclasses import dataclass

from desktop_app.core.errors import Fault, Problem
from desktop_app.core.settings import DraftSource
from desktop_app.protocol.messages import Part
from desktop_app.services.pair_state import PairState


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
    return _obstacle(state) or _in_progress(state) or _off(state) or _measuring(state) or _speculating(state)


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
    if state.target is not None and not state.target.rollback:
        return _NO_ROLLBACK
    if speculation.source is DraftSource.MODEL:
        return _draft_missing(state) or _not_drafted(state)
    return _not_drafted(state)


def _draft_missing(state: PairState) -> Status | None:
    if state.draft_path is None:
        return _NO_DRAFT
    if state.draft_problem is not None:
        failed = state.draft_problem.fault in {Fault.BAD_MODEL, Fault.OUT_OF_MEMORY}
        return _because("Off: the draft failed to load: " if failed else "Off: ", state.draft_problem)
    if state.draft is None:
        return Status(False, "Off: the draft is not loaded", state.draft_path)
    return None


def _not_drafted(state: PairState) -> Status | None:
    return _because("Off: ", state.answer_problem) if state.answer_problem else None


def _measuring(state: PairState) -> Status | None:
    """It hides no reason: whoever just chose a draft that doesn't fit wants to know why."""
    return _MEASURING if state.measuring else None


def _speculating(state: PairState) -> Status:
    speculation = state.speculation
    if speculation.source is DraftSource.LOOKUP:
        drafter = "Prompt lookup proposes"
    else:
        drafter = f"{state.draft.name} proposes" if state.draft else "The draft proposes"
    count = f"up to {speculation.gamma} tokens" if speculation.gamma > 1 else "one token"
    detail = f"{drafter} {count} a round; one target pass judges them."
    return Status(True, f"Speculating, γ {speculation.gamma}", detail)


def _because(prefix: str, problem: Problem) -> Status:
    reason = problem.message.rstrip(".")
    if prefix == "Off: ":
        reason = _lower_first(reason)
    return Status(False, prefix + reason, str(problem))


def _lower_first(sentence: str) -> str:
    """A sentence as a clause; abbreviations such as GGUF keep their capitals."""
    return sentence[:1].lower() + sentence[1:] if sentence[1:2].islower() or sentence[1:2] == " " else sentence


_MEASURING = Status(
    False, "Measuring this machine…", "Passes of target and draft are timed; a message may be sent meanwhile."
)
_NO_DRAFT = Status(
    False, "Off: no draft chosen", "Choose a smaller GGUF of the same family, or prompt lookup, as the draft."
)
_NO_ROLLBACK = Status(
    False,
    "Off: this target can't take tokens back",
    "Speculation removes refused tokens from the model's memory, which this kind of model doesn't allow.",
)
