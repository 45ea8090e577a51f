"""What each figure of the speed panel means, in which unit, and where it comes from: the text of its tooltip."""

from __future__ import annotations

from desktop_app.core.live_rate import WINDOW_S
from desktop_app.ui.speed_panel.figures import Figures

RATE = (
    "Speed, in tokens per second (tok/s) of decoding; reading the prompt is left out. Measured by the engine. "
    f"Now: over the last {WINDOW_S:g} seconds of decoding. Mean: all tokens of the answer over all its decoding time."
)
SPEEDUP = (
    "Speedup, a ratio: mean speed of this answer over the speed of plain decoding. "
    "Above 1 drafting pays; below 1 plain decoding would be faster. Only for answers with drafted tokens."
)
BASELINE = (
    "Plain decoding: what the target reaches alone on this machine, without a draft, in tokens per second. "
    "The best source known is taken: this prompt answered plainly, else the last plain answer, "
    "else the calibration after loading (a short context)."
)
CHART = (
    "Speed over the course of the answer: tokens per second (upwards) against seconds of decoding (to the right), "
    f"each point a mean over the last {WINDOW_S:g} seconds. The dashed line is plain decoding."
)
YIELD = (
    "Tokens that this answer gained per pass through the target model; a plain pass gives exactly 1. "
    "All tokens over all target passes, counted in this answer."
)
GAMMA = (
    "Draft length γ, in tokens: how many are drafted before each target pass. "
    "Mean over the drafting rounds of this answer, before it the value that is set. Auto chooses it in every round, by "
    "what drafted tokens cost and how often they are kept. The end of an answer and prompt lookup can draft fewer."
)
PROMPT = (
    "The prompt: the whole conversation as far as it fits, in tokens. Reused: what the cache of the target still held "
    "from before, up to the first token that differs. Read: the rest, with the time that both models took for theirs."
)
SHARES = (
    "Where the decoding time of this answer went, in percent, measured by the engine. "
    "Draft: proposing tokens. Verify: target passes. Sample: choosing tokens from the models' output. "
    "Rest: everything else."
)
HISTOGRAM = (
    "Rounds of this answer by how many drafted tokens were accepted in a row: from 0 (the first was refused) "
    "up to all of them. Each round also adds one token of the target's own."
)
PREDICTED = (
    "Speedup by the cost model, a ratio: E(γ) · plain pass / time of a round, where "
    "E(γ) = (1 − α^(γ+1)) / (1 − α) is how many tokens a round should emit. α, γ and the times of drafting, "
    "verifying and the rest are those measured in this answer; rounds of different γ have an α each. "
    "Where it differs from the measured one, acceptance was not equally likely for every token."
)
MEASURED = "Speedup as measured, a ratio: mean speed of this answer over the speed of plain decoding."


def acceptance(figures: Figures) -> str:
    """α with the counts it is taken over, once there are any."""
    counts = f" Here: {figures.accepted} of {figures.judged}." if figures.judged else ""
    return (
        "Acceptance rate α, from 0 to 1: of the drafted tokens that the target judged, the part it kept. "
        "accepted / (accepted + rejected), counted in this answer. "
        f"Tokens behind a rejected one are never judged.{counts}"
    )


def draft_cost(figures: Figures) -> str:
    """c has two sources, so its text depends on the one in use."""
    if figures.draft_cost is None:
        source = "this answer, or from the calibration after loading"
    else:
        source = "the calibration after loading" if figures.draft_cost_at_load else "this answer"
    return (
        "Draft cost c, a ratio: time to draft one token over the time of one plain target pass. "
        f"The smaller, the cheaper a guess. From {source}."
    )
