"""Every number of the speed panel, computed from values. No widgets, no Qt."""

from __future__ import annotations

from dataclasses import dataclass

from desktop_app.core.baseline import Baseline, BaselineSource
from desktop_app.core.facts import Costs
from desktop_app.core.metrics import Tally, ratio
from desktop_app.core.rounds import Kind
from desktop_app.core.settings import DraftSource, Speculation


@dataclass(frozen=True, slots=True)
class Shares:
    """Fractions of the decoding time; they add up to 1."""

    draft: float
    verify: float
    sample: float
    rest: float


@dataclass(frozen=True, slots=True)
class Figures:
    """What the panel shows. None is a figure that can't be known."""

    now_tok_per_s: float | None = None
    tok_per_s: float | None = None
    """Mean over the answer."""
    baseline: Baseline | None = None
    speedup: float | None = None
    """`tok_per_s` / the baseline; None for an answer without a drafted token."""
    acceptance_rate: float | None = None
    accepted: int = 0
    judged: int = 0
    """Accepted and rejected tokens: those that α is taken over."""
    tokens_per_pass: float | None = None
    draft_cost: float | None = None
    """c: draft step / plain target pass."""
    draft_cost_at_load: bool = False
    """Whether c comes from the calibration instead of this answer."""
    gamma: float | None = None
    """Drafted tokens per drafting round: the mean of this answer, before it the setting."""
    gamma_setting: int | None = None
    """None while nothing is meant to be drafted, and where γ is chosen anew in every round."""
    gamma_auto: bool = False
    """Whether γ is chosen anew in every round."""
    shares: Shares | None = None
    accepted_per_round: tuple[int, ...] = ()
    """Drafting rounds that accepted 0, 1, 2 … tokens; empty before the first."""
    predicted_speedup: float | None = None


def compute_figures(
    tally: Tally,
    *,
    now_tok_per_s: float | None,
    baseline: Baseline | None,
    costs: Costs | None,
    speculation: Speculation,
) -> Figures:
    """The figures of one answer, finished or growing; an empty tally gives what is known before it."""
    baseline = baseline or _calibrated(costs)
    setting = _gamma_setting(speculation)
    measured_cost = _measured_draft_cost(tally, baseline)
    return Figures(
        now_tok_per_s=now_tok_per_s,
        tok_per_s=tally.tok_per_s,
        baseline=baseline,
        speedup=_speedup(tally, baseline),
        acceptance_rate=tally.acceptance_rate,
        accepted=tally.counts[Kind.ACCEPTED],
        judged=tally.counts[Kind.ACCEPTED] + tally.counts[Kind.REJECTED],
        tokens_per_pass=tally.tokens_per_pass,
        draft_cost=_draft_cost_at_load(costs, speculation) if measured_cost is None else measured_cost,
        draft_cost_at_load=measured_cost is None,
        gamma=setting if tally.rounds == 0 else tally.mean_gamma,
        gamma_setting=setting,
        gamma_auto=_drafts(speculation) and speculation.gamma is None,
        shares=_shares(tally),
        accepted_per_round=_accepted_per_round(tally, setting),
        predicted_speedup=_predicted_speedup(tally, baseline),
    )


def _calibrated(costs: Costs | None) -> Baseline | None:
    return Baseline(costs.plain_tok_per_s, BaselineSource.CALIBRATION, costs.depth) if costs else None


def _drafts(speculation: Speculation) -> bool:
    return speculation.enabled and speculation.source is not DraftSource.NONE


def _gamma_setting(speculation: Speculation) -> int | None:
    return speculation.gamma if _drafts(speculation) else None


def _speedup(tally: Tally, baseline: Baseline | None) -> float | None:
    return baseline.speedup(tally.tok_per_s) if baseline and tally.drafted else None


def _measured_draft_cost(tally: Tally, baseline: Baseline | None) -> float | None:
    step_s = ratio(tally.seconds.draft, tally.drafted)
    return None if baseline is None or step_s is None else step_s * baseline.tok_per_s


def _draft_cost_at_load(costs: Costs | None, speculation: Speculation) -> float | None:
    """The calibration times a draft model's step, so it says nothing about prompt lookup."""
    if costs is None or costs.draft_step is None or not speculation.source.uses_model:
        return None
    return costs.draft_step * costs.plain_tok_per_s


def _shares(tally: Tally) -> Shares | None:
    seconds, total = tally.seconds, tally.seconds.total
    if not total:
        return None
    return Shares(seconds.draft / total, seconds.verify / total, seconds.sample / total, seconds.rest / total)


def _accepted_per_round(tally: Tally, setting: int | None) -> tuple[int, ...]:
    if not tally.accepted_per_round:
        return ()
    most = max(*tally.accepted_per_round, setting or 0)
    return tuple(tally.accepted_per_round.get(accepted, 0) for accepted in range(most + 1))


def _predicted_speedup(tally: Tally, baseline: Baseline | None) -> float | None:
    """(Σ E(γ) + P)·C(1) / T: the drafting rounds, each with its γ, and P plain passes in T seconds of decoding.

    Where every round drafted the same γ, this is `core.speedup.predicted_speedup` at the measured costs. It differs
    from the measured speedup by what the model assumes: that in rounds of one γ every drafted token is kept with the
    same chance α.
    """
    if tally.acceptance_rate is None or baseline is None:
        return None
    plain_passes = tally.rounds - tally.speculative_rounds
    drafting = sum(outcome.expected_tokens for outcome in tally.outcomes.values())
    return baseline.speedup(ratio(drafting + plain_passes, tally.seconds.total))
