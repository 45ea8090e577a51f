"""Round numbers for a chart's axis. Arithmetic only."""

from __future__ import annotations

import math

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


def nice_step(top: float, intervals: int) -> float:
    """The smallest step of 1, 2, 2.5 or 5 times a power of ten that covers 0 … `top` in at most `intervals`."""
    if top <= 0:
        return 1.0
    raw = top / intervals
    power = 10.0 ** math.floor(math.log10(raw))
    # The tolerance lets 10 / 2 be 5 steps even where the division leaves a trace.
    return next(step * power for step in _STEPS if step * power >= raw * (1 - 1e-9))


def ticks(top: float, intervals: int) -> tuple[float, ...]:
    """0 and the round numbers up to the first at or above `top`."""
    step = nice_step(top, intervals)
    count = max(1, math.ceil(top / step - 1e-9))
    return tuple(step * index for index in range(count + 1))
