"""How the speed panel words its figures. No widgets, no Qt; definitions are in `tips`."""

from __future__ import annotations

from desktop_app.core.baseline import Baseline, BaselineSource
from desktop_app.core.settings import GAMMA_MAX
from desktop_app.protocol.messages import Prefilling
from desktop_app.services.turn import TurnState
from desktop_app.ui.speed_panel.figures import Figures, Shares

UNKNOWN = "–"

SOURCE_WORDS = {
    BaselineSource.THIS_PROMPT: "this prompt",
    BaselineSource.LAST_PLAIN: "last plain answer",
    BaselineSource.CALIBRATION: "calibration at load",
}


def rate_text(tok_per_s: float | None) -> str:
    """Tokens per second with three digits or so: 8.4, 41.8, 312."""
    if tok_per_s is None:
        return UNKNOWN
    return f"{tok_per_s:.1f}" if tok_per_s < 99.95 else f"{tok_per_s:.0f}"


def times_text(factor: float | None, digits: int = 2) -> str:
    return UNKNOWN if factor is None else f"{factor:.{digits}f}×"


def number_text(value: float | None, digits: int = 2) -> str:
    return UNKNOWN if value is None else f"{value:.{digits}f}"


def percent_text(share: float | None) -> str:
    """Whole percent; what isn't nothing never reads as 0."""
    if share is None:
        return UNKNOWN
    percent = round(share * 100)
    return "< 1 %" if share > 0 and not percent else f"{percent} %"


def gamma_text(figures: Figures) -> str:
    """The measured γ, and the one that was set where they differ: 4, or 3.6 (set 4), or 5.2 (auto)."""
    gamma, setting = figures.gamma, figures.gamma_setting
    if gamma is None:
        return "auto" if figures.gamma_auto else UNKNOWN
    text = f"{gamma:.0f}" if abs(gamma - round(gamma)) < 0.05 else f"{gamma:.1f}"
    if figures.gamma_auto:
        return f"{text} (auto)"
    return text if setting is None or text == str(setting) else f"{text} (set {setting})"


def prompt_text(prefill: Prefilling | None) -> str:
    """How the prompt is or was read: what the cache spared, and how long the rest took."""
    if prefill is None:
        return UNKNOWN
    reused = f"{prefill.reused:,} reused"
    if prefill.done < prefill.total:
        return f"{prefill.done:,} of {prefill.total:,} tokens read, {reused}"
    read = f"{prefill.total - prefill.reused:,} read in {seconds_text(prefill.seconds)}"
    return f"{prefill.total:,} tokens: {reused}, {read}"


def draft_prompt_text(prefill: Prefilling | None) -> str:
    """What the draft's cache spared, where that differs by more than the last round's tokens; else empty."""
    if prefill is None or prefill.draft_reused is None or abs(prefill.draft_reused - prefill.reused) <= GAMMA_MAX:
        return ""
    return f"draft: {prefill.draft_reused:,} reused"


def seconds_text(seconds: float) -> str:
    """Two digits or so: 40 ms, 0.4 s, 12 s."""
    if seconds < 0.095:
        return f"{seconds * 1000:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 9.95 else f"{seconds:.0f} s"


def baseline_text(baseline: Baseline | None) -> str:
    if baseline is None:
        return "plain –  ·  not measured yet"
    return f"plain {rate_text(baseline.tok_per_s)}  ·  {SOURCE_WORDS[baseline.source]}"


def shares_text(shares: Shares | None) -> str:
    """The time shares in words, for screen readers."""
    if shares is None:
        return "not known yet"
    parts = {"draft": shares.draft, "verify": shares.verify, "sample": shares.sample, "rest": shares.rest}
    return ", ".join(f"{name} {percent_text(share)}" for name, share in parts.items())


def histogram_text(counts: tuple[int, ...]) -> str:
    """The histogram in words, for screen readers."""
    if not counts:
        return "not known yet"
    return ", ".join(f"{accepted} accepted: {rounds} rounds" for accepted, rounds in enumerate(counts))


_WAITING_CAPTIONS = {
    None: "tok/s",
    TurnState.WAITING: "tok/s · waiting",
    TurnState.PREFILLING: "tok/s · reading the prompt",
}


def rate_caption(figures: Figures, state: TurnState | None) -> str:
    """What the large speed figure is; `state` None stands for no answer at all."""
    if state is TurnState.STREAMING:
        return f"tok/s now · mean {rate_text(figures.tok_per_s)}"
    return _WAITING_CAPTIONS.get(state, "tok/s, mean of the answer")
