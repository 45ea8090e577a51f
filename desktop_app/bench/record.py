"""What one run did, as the JSON file keeps it."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from desktop_app.bench.plan import Gamma
from desktop_app.core.metrics import Tally
from desktop_app.core.rounds import DRAFTED, OWN, Kind, Round, emitted_ids
from desktop_app.protocol.messages import Stop

_SECONDS_DIGITS = 7
"""Tenths of a microsecond, about the clock's resolution."""


class RoundEntry(msgspec.Struct, frozen=True):
    """One round of the log.

    The first `accepted` of the `drafted` ids were kept. With a token of the target's own, the next drafted one was
    rejected and the rest discarded; without one (`own` is null) the answer ended inside the round and the rest was
    discarded. `seconds` are draft, verify, sample, other.
    """

    drafted: tuple[int, ...]
    accepted: int
    own: int | None
    seconds: tuple[float, float, float, float]

    @property
    def gamma(self) -> int:
        return len(self.drafted)

    @property
    def rejected(self) -> int:
        return int(self.own is not None and self.accepted < self.gamma)


class RunRecord(msgspec.Struct, frozen=True):
    """One answer. `seconds` is decoding alone, the sum of the four parts; `prefill_s` is not in it.

    `prefill_s` is small where the caches held the prompt already: for all but the first runs of a prompt. `gamma` is
    what was asked for; `tokens`, `token_ids` are those emitted; `rounds` are target passes.
    """

    prompt: str
    draft: str | None
    rule: str
    gamma: Gamma
    repeat: int
    tokens: int
    seconds: float
    prefill_s: float
    draft_s: float
    verify_s: float
    sample_s: float
    other_s: float
    accepted: int
    rejected: int
    discarded: int
    corrected: int
    bonus: int
    plain: int
    rounds: int
    stop: Stop
    token_ids: tuple[int, ...]
    round_log: tuple[RoundEntry, ...]

    @property
    def tok_per_s(self) -> float:
        return self.tokens / self.seconds


def record(
    rounds: Sequence[Round],
    *,
    prompt: str,
    draft: str | None,
    rule: str,
    gamma: Gamma,
    repeat: int,
    prefill_s: float,
    stop: Stop,
) -> RunRecord:
    """Sum up the rounds of an answer."""
    tally = Tally.of(rounds)
    return RunRecord(
        prompt=prompt,
        draft=draft,
        rule=rule,
        gamma=gamma,
        repeat=repeat,
        tokens=tally.tokens,
        seconds=tally.seconds.total,
        prefill_s=prefill_s,
        draft_s=tally.seconds.draft,
        verify_s=tally.seconds.verify,
        sample_s=tally.seconds.sample,
        other_s=tally.seconds.rest,
        accepted=tally.counts[Kind.ACCEPTED],
        rejected=tally.counts[Kind.REJECTED],
        discarded=tally.counts[Kind.DISCARDED],
        corrected=tally.counts[Kind.CORRECTED],
        bonus=tally.counts[Kind.BONUS],
        plain=tally.counts[Kind.PLAIN],
        rounds=tally.rounds,
        stop=stop,
        token_ids=tuple(emitted_ids(rounds)),
        round_log=tuple(map(_entry, rounds)),
    )


def _entry(round_: Round) -> RoundEntry:
    seconds = round_.seconds
    draft, verify, sample, rest = (
        round(part, _SECONDS_DIGITS) for part in (seconds.draft, seconds.verify, seconds.sample, seconds.rest)
    )
    return RoundEntry(
        drafted=tuple(token.id for token in round_.tokens if token.kind in DRAFTED),
        accepted=round_.count(Kind.ACCEPTED),
        own=next((token.id for token in round_.tokens if token.kind in OWN), None),
        seconds=(draft, verify, sample, rest),
    )
