"""What the Compare page says about settings, figures and verdict. Pure functions, no widgets."""

from __future__ import annotations

from desktop_app.core.difference import Difference
from desktop_app.core.settings import DraftSource, Rule, Sampling, Speculation
from desktop_app.services.comparison_record import (
    ComparisonRecord,
    ComparisonState,
    Run,
    Side,
    SideFigures,
    Spread,
    Verdict,
    drafts,
)
from desktop_app.ui.gamma_picker import gamma_name
from desktop_app.ui.words import Tone, Words, many

UNKNOWN = "–"

SOURCE_NAMES = {
    DraftSource.NONE: "Plain",
    DraftSource.MODEL: "Draft model",
    DraftSource.LOOKUP: "Prompt lookup",
    DraftSource.BOTH: "Lookup + draft model",
}
RULE_NAMES = {Rule.SHARED_NOISE: "Shared noise", Rule.REJECTION: "Rejection"}

_LONGEST_TOKEN = 24
"""Characters of a token that are quoted before it is cut."""


def settings_words(speculation: Speculation, sampling: Sampling) -> str:
    """What one side does, short enough to stand above its text."""
    if not drafts(speculation):
        return SOURCE_NAMES[DraftSource.NONE]
    rule = "" if sampling.greedy else f", {RULE_NAMES[speculation.rule].lower()}"
    return f"{SOURCE_NAMES[speculation.source]}, γ {gamma_name(speculation.gamma)}{rule}"


def run_words(record: ComparisonRecord, run: Run) -> str:
    """The title of a run: its settings, and which one of how many it is."""
    settings = settings_words(record.plan.settings(run.side).speculation, record.plan.answer.sampling)
    if run.repeat is None:
        return f"{settings} · warming up"
    return f"{settings} · run {run.repeat + 1} of {record.plan.repeats}"


def sampling_words(sampling: Sampling) -> str:
    """How both sides choose tokens."""
    if sampling.greedy:
        return "greedy"
    return f"temperature {sampling.temperature:g}, one seed"


def speed_words(figures: SideFigures) -> tuple[str, str]:
    """The median speed, and its spread with what else is known of a side."""
    speed = figures.tok_per_s
    details = [_range(speed, 1, "run")] if speed else []
    if figures.acceptance_rate is not None:
        details.append(f"α {figures.acceptance_rate:.2f}")
    if figures.tokens_per_pass is not None and figures.tokens_per_pass > 1:
        details.append(f"{figures.tokens_per_pass:.2f} tokens/pass")
    return _speed(speed.median if speed else None), " · ".join(details)


def running_speed_words(run: Run) -> tuple[str, str]:
    """While no run of a side is complete: what the one that runs has come to."""
    speed = run.turn.tok_per_s if run.repeat is not None else None
    return _speed(speed), "" if speed is None else "so far"


def speedup_words(speedup: Spread | None) -> tuple[Words, str]:
    """B's speed over A's and its spread. Its tone says which side is faster, where every pair agrees."""
    if speedup is None:
        return Words(f"{UNKNOWN}×"), "B's speed over A's"
    tone = Tone.POSITIVE if speedup.low > 1 else Tone.WARNING if speedup.high < 1 else Tone.CALM
    return Words(f"{speedup.median:.2f}×", tone), f"B's speed over A's · {_range(speedup, 2, 'pair')}"


def progress_words(record: ComparisonRecord) -> str:
    """What is going on, or how it ended before its end."""
    pairs, repeats = len(record.pairs), record.plan.repeats
    match record.state:
        case ComparisonState.WARMING_UP:
            return "Reading the prompt for both sides…"
        case ComparisonState.RUNNING:
            return f"Run {len(record.runs)} of {2 * repeats}"
        case ComparisonState.EXAMINING:
            return "Looking into where the texts part…"
        case ComparisonState.DONE:
            return ""
    ended = "Stopped" if record.state is ComparisonState.STOPPED else "Ended"
    return f"{ended} after {pairs} of {many(repeats, 'pair')}"


def progress(record: ComparisonRecord) -> float:
    """The share of the runs that is done, from 0 to 1; the run that is made counts by its tokens."""
    plan = record.plan
    done = len(record.of(Side.A)) + len(record.of(Side.B))
    running = record.runs[-1].turn if record.runs and not record.runs[-1].complete else None
    share = running.answer.tally.tokens / plan.answer.max_tokens if running else 0.0
    return min((done + share) / (2 * plan.repeats), 1.0)


def verdict_words(verdict: Verdict | None) -> Words:
    """Whether the texts are the same; nothing while that isn't known."""
    if verdict is None:
        return Words("")
    if verdict.parting is None:
        return Words("Same text, token for token", Tone.POSITIVE)
    place = f"token {verdict.parting + 1}"
    if not verdict.expected:
        return Words(f"The texts differ from {place} on, as rejection sampling lets them")
    if verdict.difference is None:
        return Words(f"The texts part at {place}", Tone.WARNING)
    if verdict.difference.near_tie:
        return Words(f"The texts part at {place}, at a near-tie: rounding decided", Tone.WARNING)
    if verdict.difference.margin is None:
        return Words(f"The texts part at {place}", Tone.DANGER)
    return Words(f"The texts part at {place}, by more than rounding explains", Tone.DANGER)


def parting_words(verdict: Verdict | None) -> str:
    """The two tokens where the texts part, and how close they were."""
    if verdict is None or verdict.parting is None:
        return ""
    if verdict.difference is None:
        return "" if verdict.expected else "The words may differ; their distribution is the same."
    difference = verdict.difference
    tokens = f"A {_wrote(difference.first_id, difference.first_text)}"
    tokens += f", B {_wrote(difference.second_id, difference.second_text)}"
    return f"{tokens}. {_margin_words(difference)}{_advice(difference)}"


def _margin_words(difference: Difference) -> str:
    if difference.margin is None:
        return "By how much one is preferred can't be said here."
    favourite = "A's" if difference.margin >= 0 else "B's"
    words = f"A pass over one token prefers {favourite} by {_logits(abs(difference.margin))} logits"
    if difference.rounding is None:
        return f"{words}."
    return f"{words}; passes over several tokens round by up to {_logits(difference.rounding)} here."


def _advice(difference: Difference) -> str:
    return "" if difference.near_tie else " Please report it with the exported data."


def _wrote(token: int | None, text: str) -> str:
    if token is None:
        return "ended"
    shown = text if len(text) <= _LONGEST_TOKEN else text[: _LONGEST_TOKEN - 1] + "…"
    return f"wrote “{shown}”".replace("\n", "↵").replace("\t", "⇥")


def _logits(value: float) -> str:
    return f"{value:.4f}" if value < 0.1 else f"{value:.2f}"


def _speed(tok_per_s: float | None) -> str:
    return f"{UNKNOWN} tok/s" if tok_per_s is None else f"{tok_per_s:.1f} tok/s"


def _range(spread: Spread, decimals: int, what: str) -> str:
    """The extremes and over how many they are; one value has none."""
    count = many(spread.count, what)
    if spread.count == 1:
        return count
    return f"{spread.low:.{decimals}f} – {spread.high:.{decimals}f} over {count}"
