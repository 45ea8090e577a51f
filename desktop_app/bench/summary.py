"""Figures of many runs: pure arithmetic on run records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import msgspec

from desktop_app.bench.plan import Gamma
from desktop_app.bench.record import RunRecord
from desktop_app.core.difference import Difference
from desktop_app.core.metrics import ratio
from desktop_app.core.speedup import Outcome


@dataclass(frozen=True, slots=True)
class RunPair:
    """A plain and a speculative run, made one right after the other."""

    plain: RunRecord
    speculative: RunRecord

    @property
    def speedup(self) -> float:
        return self.speculative.tok_per_s / self.plain.tok_per_s

    @property
    def predicted_speedup(self) -> float:
        """What the cost model makes of the measured α and costs: Σ E(γ_r) · C(1) / Σ (draft + verify + overhead)_r.

        This is `core.speedup.predicted_speedup` summed over rounds, each with the number γ_r of tokens drafted in it
        and the α of the rounds that drafted as many: auto drafts on where tokens are likely to be kept, prompt lookup
        drafts nothing in many rounds, and near the token limit every drafter drafts less, so that no single γ and α
        would do. C(1) is the plain run's verify time a token. What is left to differ from the measured speedup is the
        assumption that every drafted token of such rounds is kept with the same chance, and the plain run's own
        overhead.
        """
        outcomes: dict[int, Outcome] = {}
        for entry in self.speculative.round_log:
            outcome = outcomes.get(entry.gamma, Outcome(entry.gamma))
            outcomes[entry.gamma] = outcome.plus(entry.accepted, entry.rejected)
        expected = sum(outcome.expected_tokens for outcome in outcomes.values())
        return expected * self.plain.verify_s / self.plain.tokens / self.speculative.seconds


@dataclass(frozen=True, slots=True)
class TextVerdict:
    """Whether a prompt's speculative texts are those of its plain runs.

    `same` is None where they need not be (rejection sampling) or were not compared.
    """

    same: bool | None
    difference: Difference | None = None
    """Of the worst pair, whose plain text is the first: a bug goes before a near-tie."""


UNCOMPARED = TextVerdict(None)


@dataclass(frozen=True, slots=True)
class Shares:
    """Shares of the decoding time; they add up to 1."""

    draft: float
    verify: float
    sample: float
    other: float

    @property
    def overhead(self) -> float:
        """Outside the models' passes."""
        return self.sample + self.other


@dataclass(frozen=True, slots=True)
class Figures:
    """Of runs with one γ. None where a figure can't be known: the speedup of plain runs, say."""

    tok_per_s: float | None
    speedups: tuple[float, ...]
    """Of each pair, ascending."""
    acceptance_rate: float | None
    tokens_per_pass: float | None
    shares: Shares | None
    predicted_speedup: float | None
    """Median of the pairs."""

    @property
    def speedup_median(self) -> float | None:
        return median(self.speedups) if self.speedups else None


class SummaryRow(msgspec.Struct, frozen=True):
    """One prompt and γ, as the JSON file keeps it."""

    prompt: str
    gamma: Gamma
    tok_per_s: float | None
    speedup_median: float | None
    acceptance_rate: float | None
    tokens_per_pass: float | None
    predicted_speedup: float | None
    overhead_share: float | None
    same_text: bool | None
    first_difference: Difference | None


def paired(records: Sequence[RunRecord]) -> list[RunPair]:
    """The pairs of one prompt's runs, in the order they were made; a run whose partner is missing is left out."""
    pairs = []
    for first, second in zip(records[::2], records[1::2], strict=False):
        if (first.gamma == 0) != (second.gamma == 0):
            plain, speculative = (first, second) if first.gamma == 0 else (second, first)
            pairs.append(RunPair(plain, speculative))
    return pairs


def figures(runs: Sequence[RunRecord], pairs: Sequence[RunPair] = ()) -> Figures:
    """Of runs with one γ and, for speculative ones, the pairs they belong to."""
    seconds, tokens = _sum(runs, "seconds"), _sum(runs, "tokens")
    return Figures(
        tok_per_s=ratio(tokens, seconds),
        speedups=tuple(sorted(pair.speedup for pair in pairs)),
        acceptance_rate=acceptance_rate(runs),
        tokens_per_pass=ratio(tokens, _sum(runs, "rounds")),
        shares=_shares(runs, seconds),
        predicted_speedup=median(pair.predicted_speedup for pair in pairs) if pairs else None,
    )


def acceptance_rate(runs: Sequence[RunRecord]) -> float | None:
    """α of all the runs together; None where no drafted token was judged."""
    accepted = _sum(runs, "accepted")
    return ratio(accepted, accepted + _sum(runs, "rejected"))


def _shares(runs: Sequence[RunRecord], seconds: float) -> Shares | None:
    if not seconds:
        return None
    return Shares(*(_sum(runs, part) / seconds for part in ("draft_s", "verify_s", "sample_s", "other_s")))


def _sum(runs: Sequence[RunRecord], field: str) -> float:
    return float(sum(getattr(run, field) for run in runs))
