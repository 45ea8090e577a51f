"""Rounds with chosen outcome and times, for tests of figures and speed."""

from __future__ import annotations

from dataclasses import replace

from desktop_app.core.rounds import Kind, Round, Seconds, Token


def timed_round(gamma: int, accepted: int, seconds: Seconds, *, index: int = 0) -> Round:
    """A whole round: `accepted` of `gamma` drafted tokens kept, then the target's own token."""
    kinds = [Kind.ACCEPTED] * accepted
    if accepted < gamma:
        kinds += [Kind.REJECTED, *[Kind.DISCARDED] * (gamma - accepted - 1), Kind.CORRECTED]
    else:
        kinds.append(Kind.BONUS if gamma else Kind.PLAIN)
    return Round(index, index, gamma, tuple(Token(1, "a", kind) for kind in kinds), seconds)


def plain_round(seconds: float, *, index: int = 0) -> Round:
    return timed_round(0, 0, Seconds(verify=seconds), index=index)


def slowed(round_: Round, factor: float) -> Round:
    """The same round, every part of it taking `factor` times as long."""
    seconds = round_.seconds
    parts = (factor * part for part in (seconds.draft, seconds.verify, seconds.sample, seconds.rest))
    return replace(round_, seconds=Seconds(*parts))
