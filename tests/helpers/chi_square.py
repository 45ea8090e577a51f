"""Pearson's χ² test of counts against a known distribution, without SciPy."""

from __future__ import annotations

import math
from collections.abc import Sequence

Z_999 = 3.0902
"""99.9th percentile of the standard normal distribution: one good sample in a thousand fails, so seeds are fixed."""

_MIN_EXPECTED = 5.0
"""Below this a cell is pooled with others: the approximation needs it (Cochran 1954)."""


def misfit(counts: Sequence[int], probabilities: Sequence[float]) -> str | None:
    """Why the counts can't have been drawn from `probabilities`, or None where they fit at the 0.1 % level."""
    total = sum(counts)
    impossible = [at for at, (n, p) in enumerate(zip(counts, probabilities, strict=True)) if n and not p]
    if impossible:
        return f"cells {impossible} have probability 0 but were drawn"
    cells = _pooled(counts, [total * p for p in probabilities])
    statistic = sum((seen - expected) ** 2 / expected for seen, expected in cells)
    limit = critical_value(len(cells) - 1)
    if statistic > limit:
        return f"chi-square {statistic:.1f} over {limit:.1f} with {len(cells) - 1} degrees of freedom"
    return None


def critical_value(degrees: int) -> float:
    """99.9th percentile of χ² (Wilson and Hilferty 1931): 3 % too high for one degree of freedom, exact soon after."""
    return degrees * (1 - 2 / (9 * degrees) + Z_999 * math.sqrt(2 / (9 * degrees))) ** 3


def _pooled(counts: Sequence[int], expected: Sequence[float]) -> list[tuple[int, float]]:
    """(seen, expected) by cell, rare cells joined until each expects enough."""
    cells: list[tuple[int, float]] = []
    seen, awaited = 0, 0.0
    for n, e in sorted(zip(counts, expected, strict=True), key=lambda cell: cell[1]):
        seen, awaited = seen + n, awaited + e
        if awaited >= _MIN_EXPECTED:
            cells.append((seen, awaited))
            seen, awaited = 0, 0.0
    if seen or awaited:
        last_seen, last_awaited = cells.pop()
        cells.append((last_seen + seen, last_awaited + awaited))
    return cells
