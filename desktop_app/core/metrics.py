"""Figures of merit from round records. Every figure is None where it cannot be known."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from desktop_app.core.rounds import Kind, Round, Seconds
from desktop_app.core.speedup import Outcome


@dataclass(slots=True)
class Tally:
    """Sums over rounds; only emitted and drafted tokens count. Grown by `add`, read by its properties."""

    counts: dict[Kind, int] = field(default_factory=lambda: dict.fromkeys(Kind, 0))
    rounds: int = 0
    """Target passes, plain steps included."""
    outcomes: dict[int, Outcome] = field(default_factory=dict)
    """Of the speculative rounds, by how many tokens they drafted."""
    seconds: Seconds = Seconds()
    accepted_per_round: dict[int, int] = field(default_factory=dict)
    """Speculative rounds by how many drafted tokens they accepted."""

    @classmethod
    def of(cls, rounds: Iterable[Round]) -> Tally:
        tally = cls()
        for round_ in rounds:
            tally.add(round_)
        return tally

    def add(self, round_: Round) -> None:
        for token in round_.tokens:
            self.counts[token.kind] += 1
        self.rounds += 1
        self.seconds = self.seconds + round_.seconds
        if round_.gamma:
            accepted = round_.count(Kind.ACCEPTED)
            outcome = self.outcomes.get(round_.gamma, Outcome(round_.gamma))
            self.outcomes[round_.gamma] = outcome.plus(accepted, round_.count(Kind.REJECTED))
            self.accepted_per_round[accepted] = self.accepted_per_round.get(accepted, 0) + 1

    @property
    def tokens(self) -> int:
        """Tokens emitted."""
        counts = self.counts
        return counts[Kind.ACCEPTED] + counts[Kind.CORRECTED] + counts[Kind.BONUS] + counts[Kind.PLAIN]

    @property
    def speculative_rounds(self) -> int:
        return sum(outcome.rounds for outcome in self.outcomes.values())

    @property
    def drafted(self) -> int:
        """Tokens drafted."""
        return sum(outcome.gamma * outcome.rounds for outcome in self.outcomes.values())

    @property
    def tok_per_s(self) -> float | None:
        """Emitted tokens per second of decoding, prefill left out."""
        return ratio(self.tokens, self.seconds.total)

    @property
    def acceptance_rate(self) -> float | None:
        """α: accepted / (accepted + rejected)."""
        accepted = self.counts[Kind.ACCEPTED]
        return ratio(accepted, accepted + self.counts[Kind.REJECTED])

    @property
    def tokens_per_pass(self) -> float | None:
        """Emitted tokens per target pass."""
        return ratio(self.tokens, self.rounds)

    @property
    def mean_gamma(self) -> float | None:
        """Drafted tokens per speculative round."""
        return ratio(self.drafted, self.speculative_rounds)

    @property
    def overhead_share(self) -> float | None:
        """Share of the time spent outside `llama_decode`."""
        return ratio(self.seconds.sample + self.seconds.rest, self.seconds.total)


def ratio(numerator: float, denominator: float) -> float | None:
    """numerator / denominator, or None where the denominator is 0."""
    return numerator / denominator if denominator else None
