"""What the transcript says about an answer in words and figures. Pure functions, no Qt."""

from __future__ import annotations

from dataclasses import dataclass

from desktop_app.core.baseline import BaselineSource
from desktop_app.core.rounds import Kind
from desktop_app.core.settings import Overflow
from desktop_app.protocol.messages import Stop
from desktop_app.services.turn import Turn, TurnState

UNKNOWN = "–"

_SOURCES = {
    BaselineSource.THIS_PROMPT: "this very prompt, answered plainly",
    BaselineSource.LAST_PLAIN: "the last plain answer of this model",
    BaselineSource.CALIBRATION: "measured after loading",
}
_STOPS = {
    Stop.END: ("end", "The model ended the answer by itself."),
    Stop.STOP_STRING: ("stop string", "The answer reached one of the stop strings set for it."),
    Stop.LIMIT: ("limit", "The answer reached the token limit set for it."),
}
_CONTEXT_FULL = {
    Overflow.DROP_OLDEST: (
        "context full: go on with a new message",
        "No room was left in the model's context. A new message makes room: the oldest turns are left out then.",
    ),
    Overflow.STOP: (
        "context full: start a new chat, or set a larger context",
        "No room was left in the model's context, so a new message would be refused. The settings hold its size.",
    ),
}


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure as it is shown, with its definition."""

    text: str
    tip: str


def figures(turn: Turn) -> tuple[Figure, ...]:
    """The line under an answer. How it ended comes last, once it has."""
    tok_per_s = f"{_number(turn.tok_per_s, 1)} tok/s"
    shown = (
        Figure(tok_per_s, "Tokens per second of decoding; reading the prompt is left out."),
        *_gain(turn),
    )
    if not turn.state.ended:
        return shown
    first = turn.ending.first_token_s if turn.ending else None
    return (
        *shown,
        Figure(f"{_number(first, 2)} s to first", "Seconds from sending to the first token, with reading the prompt."),
        ending(turn),
    )


def _gain(turn: Turn) -> tuple[Figure, ...]:
    """What drafting brought; a plain answer has nothing to compare."""
    tally = turn.answer.tally
    if tally.rounds and not tally.drafted:
        return (Figure("plain", _plain_tip(turn)),)
    return (
        Figure(f"{_number(turn.speedup, 2)}×", _speedup_tip(turn)),
        Figure(
            f"{tally.counts[Kind.ACCEPTED]}/{tally.drafted} drafted" if tally.drafted else f"{UNKNOWN} drafted",
            "Drafted tokens: accepted / drafted.",
        ),
        Figure(f"{_number(tally.tokens_per_pass, 2)} tokens/pass", "Tokens emitted per pass of the target model."),
    )


def ending(turn: Turn) -> Figure:
    """Why an ended answer ended, and what to do where the context was full."""
    if turn.ending is not None and turn.ending.stop is Stop.CONTEXT:
        return Figure(*_CONTEXT_FULL[turn.settings.overflow])
    if turn.ending is not None:
        return Figure(*_STOPS[turn.ending.stop])
    if turn.state is TurnState.CANCELLED:
        return Figure("stopped", "You stopped the answer; what came until then is kept.")
    reason = f": {turn.problem.message}" if turn.problem else ""
    if turn.state is TurnState.FAILED:
        return Figure(f"failed{reason}", "The engine could not answer.")
    return Figure(f"interrupted{reason}", "The engine or the app ended; what came until then is kept.")


def notice(turn: Turn) -> str:
    """What stands in place of the text while there is none; empty once there is."""
    if turn.answer.visible:
        return ""
    if turn.state is TurnState.WAITING:
        return "waiting for the model"
    if turn.state is TurnState.PREFILLING and turn.prefill is not None:
        return f"reading the prompt {turn.prefill.done:,} / {turn.prefill.total:,}"
    if turn.state is TurnState.FINISHED:
        return "The model ended at once."
    if turn.state is TurnState.CANCELLED:
        return "Stopped before the first token."
    if turn.state.ended:
        return "No text came."
    return "reading the prompt"


def _plain_tip(turn: Turn) -> str:
    problem = turn.speculation_problem
    meaning = "No token was drafted."
    return f"{meaning} Speculation did not run: {problem.message}" if problem else meaning


def _speedup_tip(turn: Turn) -> str:
    meaning = "Speed relative to plain decoding of the same model on this machine."
    if turn.baseline is None:
        return f"{meaning} No plain speed is known yet."
    return f"{meaning} Plain: {turn.baseline.tok_per_s:.1f} tok/s, {_SOURCES[turn.baseline.source]}."


def _number(value: float | None, decimals: int) -> str:
    return UNKNOWN if value is None else f"{value:.{decimals}f}"
