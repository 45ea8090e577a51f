"""What a pacer is, and the one that keeps to the γ chosen by the user."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from desktop_app.core.acceptance import Drafted
from desktop_app.core.rounds import Round

_LONG_MATCH = 4
"""With a draft model at hand, prompt lookup is believed from this length of its match on."""


@dataclass(frozen=True, slots=True)
class Pace:
    """What the pacer makes of the last rounds."""

    speculating: bool
    """False while it has turned speculation off for now."""
    expected_speedup: float | None
    """Of the draft model's best γ > 0 against plain decoding, by what is known now; None before plain decoding was
    timed and without a draft model: what prompt lookup brings depends on the match that is found."""


class Pacer(Protocol):
    """Chooses, round by round, how many tokens to draft. Serves one answer.

    It is asked how many tokens a drafter may propose (`limit`), after each whether to go on (`wants_more`), before the
    target's pass which to verify (`keep`), and is told what became of them (`learn`). A round may ask several drafters,
    those that are free first.
    """

    @property
    def pace(self) -> Pace | None:
        """None where there is nothing to choose."""

    @property
    def hopeless(self) -> bool:
        """Whether no draft model could pay here, however good: then it need not even read the prompt."""

    def begin(self, *, room: int, depth: int) -> None:
        """A round begins: at most `room` tokens may be drafted, `depth` tokens are in the context."""

    def limit(self, *, free: bool, lag: int) -> int:
        """How many tokens this drafter may propose. `free`: it costs nothing; `lag`: tokens it has yet to read."""

    def wants_more(self, drafted: Sequence[Drafted]) -> bool:
        """Whether to draft another token behind these."""

    def keep(self, drafted: Sequence[Drafted]) -> int:
        """How many of a drafter's proposals the target should verify; 0 gives the next drafter its turn.

        Must not depend on which tokens were drawn, only on what they were drawn from; see `Drafted.confidence`.
        """

    def learn(self, round_: Round, drafted: Sequence[Drafted]) -> None:
        """The round is over; `drafted` are the proposals of the last drafter asked, verified or not."""


class FixedPacer:
    """The γ that the user chose."""

    pace: Pace | None = None
    hopeless = False

    def __init__(self, gamma: int, *, has_model: bool) -> None:
        """`has_model`: a draft model takes over where prompt lookup has no long match."""
        self._gamma = gamma
        self._has_model = has_model
        self._room = 0

    def begin(self, *, room: int, depth: int) -> None:
        self._room = room

    def limit(self, *, free: bool, lag: int) -> int:
        return min(self._gamma, self._room)

    def wants_more(self, drafted: Sequence[Drafted]) -> bool:
        return True

    def keep(self, drafted: Sequence[Drafted]) -> int:
        if self._has_model and drafted and 0 < drafted[0].match < _LONG_MATCH:
            return 0
        return len(drafted)

    def learn(self, round_: Round, drafted: Sequence[Drafted]) -> None:
        """A fixed choice learns nothing."""
