"""What is compared, what came of it, and the figures of both sides. Values and arithmetic; no Qt.

Machines drift: they heat up, other programs come and go. So every run of one side stands next to one of the other side,
its partner, which of them goes first alternates, and only partners are compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from statistics import median

from desktop_app.core.difference import Difference, TextPair, first_difference
from desktop_app.core.errors import Problem
from desktop_app.core.facts import ModelFacts
from desktop_app.core.metrics import ratio
from desktop_app.core.rounds import Kind, emitted_ids
from desktop_app.core.settings import AnswerSettings, DraftSource, Rule, Speculation
from desktop_app.protocol.messages import ChatMessage, Ready
from desktop_app.services.turn import Turn, TurnState

REPEATS_MAX = 20


class Side(StrEnum):
    A = "a"
    B = "b"


@dataclass(frozen=True, slots=True)
class Plan:
    """One prompt under two settings, which differ in how they speculate."""

    messages: tuple[ChatMessage, ...]
    """The last one is the user's message that is answered."""
    answer: AnswerSettings
    """Common to both sides, with a seed; its speculation doesn't matter."""
    a: Speculation
    b: Speculation
    repeats: int
    """Pairs of runs, 1 … REPEATS_MAX."""

    @property
    def prompt(self) -> str:
        return self.messages[-1].content

    @property
    def comparable(self) -> bool:
        """Whether both sides should write the same text, not only text of the same distribution."""
        return self.answer.sampling.greedy or self.a.rule is self.b.rule is Rule.SHARED_NOISE

    def settings(self, side: Side) -> AnswerSettings:
        return replace(self.answer, speculation=self.a if side is Side.A else self.b)

    def order(self) -> Iterator[tuple[Side, int]]:
        """Side and repeat of every run, in the order they are made."""
        for repeat in range(self.repeats):
            first, second = (Side.A, Side.B) if repeat % 2 == 0 else (Side.B, Side.A)
            yield from ((first, repeat), (second, repeat))


def drafts(speculation: Speculation) -> bool:
    """Whether these settings ask for drafted tokens."""
    return speculation.enabled and speculation.source is not DraftSource.NONE


def with_common_rule(a: Speculation, b: Speculation) -> tuple[Speculation, Speculation]:
    """A side that drafts nothing samples by the rule of the other: only so can their texts be the same."""
    if drafts(a) and not drafts(b):
        return a, replace(b, rule=a.rule)
    return (replace(a, rule=b.rule), b) if drafts(b) and not drafts(a) else (a, b)


@dataclass(slots=True, eq=False)
class Run:
    """One answer of one side."""

    side: Side
    repeat: int | None
    """From 0; None for the run that only reads the prompt and warms the caches up, which counts for nothing."""
    turn: Turn
    """Belongs to no chat."""

    @property
    def complete(self) -> bool:
        return self.repeat is not None and self.turn.state is TurnState.FINISHED

    @property
    def token_ids(self) -> tuple[int, ...]:
        return tuple(emitted_ids(self.turn.answer.rounds))


@dataclass(frozen=True, slots=True)
class RunPair:
    """Two complete runs, made one right after the other."""

    a: Run
    b: Run

    @property
    def speedup(self) -> float | None:
        """Of B over A; None where one of them wrote nothing."""
        fast, slow = self.b.turn.tok_per_s, self.a.turn.tok_per_s
        return None if fast is None or slow is None else ratio(fast, slow)

    @property
    def parting(self) -> int | None:
        """The first token, from 0, at which the texts differ; None where they are the same."""
        return first_difference(self.a.token_ids, self.b.token_ids)

    def texts(self, plan: Plan) -> TextPair:
        rounds = (*self.a.turn.answer.rounds, *self.b.turn.answer.rounds)
        largest = 1 + max((round_.gamma for round_ in rounds), default=0)
        return TextPair(self.a.token_ids, self.b.token_ids, plan.answer.sampling, plan.a.rule, largest)


@dataclass(frozen=True, slots=True)
class Spread:
    """A figure over the repeats."""

    median: float
    low: float
    high: float
    count: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread | None:
        return cls(median(values), min(values), max(values), len(values)) if values else None


@dataclass(frozen=True, slots=True)
class SideFigures:
    """Over the complete runs of a side; None where a figure can't be known."""

    tok_per_s: Spread | None
    acceptance_rate: float | None
    tokens_per_pass: float | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the two sides wrote the same text."""

    pair: RunPair
    """That shows it: one whose texts part, if there is any."""
    expected: bool
    """Whether the texts should be the same."""
    parting: int | None
    """The first token, from 0, at which the texts of `pair` differ."""
    difference: Difference | None = None
    """None where the texts are the same, need not be, or were not examined."""

    @property
    def same(self) -> bool:
        return self.parting is None


class ComparisonState(StrEnum):
    WARMING_UP = "warming-up"
    """The prompt is read for both sides."""
    RUNNING = "running"
    EXAMINING = "examining"
    """The engine looks into where texts part."""
    DONE = "done"
    STOPPED = "stopped"
    """By the user; what was measured until then stays."""
    FAILED = "failed"

    @property
    def ended(self) -> bool:
        return self in {ComparisonState.DONE, ComparisonState.STOPPED, ComparisonState.FAILED}


@dataclass(slots=True, eq=False)
class ComparisonRecord:
    """Grows while it runs. Only `Comparison` mutates."""

    plan: Plan
    state: ComparisonState = ComparisonState.WARMING_UP
    runs: list[Run] = field(default_factory=list)
    """Without those that warm up; the last one may be incomplete."""
    target: ModelFacts | None = None
    draft: ModelFacts | None = None
    """In memory while it ran."""
    engine: Ready | None = None
    """What the engine said of itself."""
    verdict: Verdict | None = None
    problem: Problem | None = None
    """Why it failed, or why a parting could not be examined."""

    def of(self, side: Side) -> list[Run]:
        """The complete runs of a side."""
        return [run for run in self.runs if run.complete and run.side is side]

    @property
    def pairs(self) -> list[RunPair]:
        return [RunPair(a, b) for a in self.of(Side.A) for b in self.of(Side.B) if a.repeat == b.repeat]

    @property
    def speedup(self) -> Spread | None:
        """Of B over A, over the pairs."""
        return Spread.of([pair.speedup for pair in self.pairs if pair.speedup is not None])

    def figures(self, side: Side) -> SideFigures:
        return figures_of(run.turn for run in self.of(side))

    def partings(self) -> list[RunPair]:
        """Pairs whose texts part, each kind once: greedy repeats part at the same place."""
        different = {(pair.a.token_ids, pair.b.token_ids): pair for pair in self.pairs if pair.parting is not None}
        return list(different.values())


def figures_of(turns: Iterable[Turn]) -> SideFigures:
    """Of runs of one side."""
    tallies = [turn.answer.tally for turn in turns]
    accepted, rejected = (sum(tally.counts[kind] for tally in tallies) for kind in (Kind.ACCEPTED, Kind.REJECTED))
    return SideFigures(
        tok_per_s=Spread.of([tally.tok_per_s for tally in tallies if tally.tok_per_s is not None]),
        acceptance_rate=ratio(accepted, accepted + rejected),
        tokens_per_pass=ratio(sum(tally.tokens for tally in tallies), sum(tally.rounds for tally in tallies)),
    )
