"""In which order the runs of one prompt go.

Machines drift: they heat up, other programs come and go. So every speculative run stands next to a plain one, its pair,
and only runs of a pair are compared.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

Gamma = int | Literal["auto"]
"""Tokens drafted in a round: 0 is plain, "auto" the pacer's choice in every round."""

AUTO: Literal["auto"] = "auto"


@dataclass(frozen=True, slots=True)
class Planned:
    """A run to be made."""

    gamma: Gamma
    repeat: int


def in_order(gamma: Gamma) -> float:
    """Sorts numbers ascending, then auto."""
    return math.inf if gamma == AUTO else gamma


def plan(gammas: Sequence[Gamma], repeats: int) -> Iterator[Planned]:
    """Pairs of a plain run and one with γ drafted tokens, for each γ > 0 and repeat; plain runs alone without a γ.

    Over the repeats the γ rotate, and which of the pair comes first alternates, so that neither has the better place.
    """
    for repeat in range(repeats):
        plain = Planned(0, repeat)
        if not gammas:
            yield plain
        for gamma in _rotated(gammas, repeat):
            speculative = Planned(gamma, repeat)
            yield from (plain, speculative) if repeat % 2 == 0 else (speculative, plain)


def run_count(gammas: Sequence[Gamma], repeats: int) -> int:
    return repeats * max(1, 2 * len(gammas))


def _rotated(gammas: Sequence[Gamma], by: int) -> Sequence[Gamma]:
    at = by % len(gammas) if gammas else 0
    return [*gammas[at:], *gammas[:at]]
