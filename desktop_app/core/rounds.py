"""What one draft-and-verify round did, token by token.

The one record that the engine, the window, the store and the benchmark share. It holds values only: nothing here
decides anything.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What happened to a token."""

    ACCEPTED = "accepted"
    """Drafted, judged and kept."""
    REJECTED = "rejected"
    """Drafted and refused: the first of its round."""
    DISCARDED = "discarded"
    """Drafted, but never judged or never emitted: it stood behind a rejected token or behind the end of the answer."""
    CORRECTED = "corrected"
    """The target's own token in place of a rejected one."""
    BONUS = "bonus"
    """The target's own token after a round whose drafts were all accepted."""
    PLAIN = "plain"
    """Decoded without a draft."""


DRAFTED = frozenset({Kind.ACCEPTED, Kind.REJECTED, Kind.DISCARDED})
OWN = frozenset({Kind.CORRECTED, Kind.BONUS, Kind.PLAIN})
EMITTED = OWN | {Kind.ACCEPTED}


@dataclass(frozen=True, slots=True)
class Token:
    """One token of a round. Probabilities are those after all sampling filters, from 0 to 1; None where unknown.

    `text` is what an emitted token adds to the answer (a character whose bytes span several tokens belongs to the
    last of them); for a token that was not emitted it is what the token would have added.
    """

    id: int
    text: str
    kind: Kind
    p: float | None = None
    """The target's probability of this token."""
    q: float | None = None
    """The draft's probability of this token; 1 for prompt lookup, None for a token that was not drafted."""
    chance: float | None = None
    """The chance that the acceptance rule keeps this drafted token, given p and q."""


@dataclass(frozen=True, slots=True)
class Seconds:
    """Where the time of a round went, in seconds; the four parts add up to its wall time."""

    draft: float = 0.0
    """Inside the draft's `llama_decode`, or searching for prompt lookup."""
    verify: float = 0.0
    """Inside the target's `llama_decode`."""
    sample: float = 0.0
    """Turning logits into tokens, for draft and target."""
    rest: float = 0.0
    """Everything else, since the end of the round before."""

    @property
    def total(self) -> float:
        return self.draft + self.verify + self.sample + self.rest

    def __add__(self, other: Seconds) -> Seconds:
        return Seconds(
            self.draft + other.draft,
            self.verify + other.verify,
            self.sample + other.sample,
            self.rest + other.rest,
        )


@dataclass(frozen=True, slots=True)
class Round:
    """One round: drafted tokens in the order drafted, then the target's own token.

    `cut` says that the answer ended inside the round, so that the target's own token may be missing.
    """

    index: int
    position: int
    """Tokens in the context before the first token of this round."""
    gamma: int
    """Tokens drafted; 0 for a plain step."""
    tokens: tuple[Token, ...]
    seconds: Seconds
    cut: bool = False

    @property
    def emitted(self) -> tuple[Token, ...]:
        return tuple(token for token in self.tokens if token.kind in EMITTED)

    def count(self, kind: Kind) -> int:
        return sum(token.kind is kind for token in self.tokens)

    def broken_rule(self) -> str | None:
        """Name the invariant this record breaks, or None. Tests assert None on every real run."""
        kinds = [token.kind for token in self.tokens]
        accepted, rejected = self.count(Kind.ACCEPTED), self.count(Kind.REJECTED)
        own = [kind for kind in kinds if kind in OWN]
        discarded = self.count(Kind.DISCARDED)
        rules = (
            (accepted + rejected + discarded == self.gamma, "accepted + rejected + discarded = gamma"),
            (rejected <= 1, "at most one rejected"),
            (len(own) == 1 or (not own and self.cut), "exactly one token of the target's own"),
            (bool(own) or accepted > 0, "every round emits a token"),
            (bool(own) or not rejected, "a rejected token is corrected"),
            (
                not (own and discarded) or rejected > 0,
                "discarded only behind a rejected token or the end of the answer",
            ),
            (
                not own or own[0] is _own_kind(self.gamma, rejected),
                "own token is plain without a draft, corrected after a rejection, else bonus",
            ),
            (kinds == sorted(kinds, key=_ORDER.__getitem__), "order: accepted, rejected, discarded, own"),
        )
        return next((rule for holds, rule in rules if not holds), None)


_ORDER = {
    Kind.ACCEPTED: 0,
    Kind.REJECTED: 1,
    Kind.DISCARDED: 2,
    Kind.CORRECTED: 3,
    Kind.BONUS: 3,
    Kind.PLAIN: 3,
}


def _own_kind(gamma: int, rejected: int) -> Kind:
    if gamma == 0:
        return Kind.PLAIN
    return Kind.CORRECTED if rejected else Kind.BONUS


def emitted_ids(rounds: Iterable[Round]) -> list[int]:
    """The token ids of the answer, in order."""
    return [token.id for round_ in rounds for token in round_.emitted]
