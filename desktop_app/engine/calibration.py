"""Times the passes that the cost model needs, in about a second, on top of whatever the caches hold."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from desktop_app.core.facts import Costs
from desktop_app.engine.llama.context import Context
from desktop_app.engine.pair import Pair

SIZES = (1, 2, 3, 5, 9, 17)
"""Tokens of a timed target pass: plain, and γ + 1 for γ = 1, 2, 4, 8, 16."""

BUDGET_S = 1.5
"""Stop repeating after this long; every size is timed once at least."""

REPEATS = 4


def calibrate(pair: Pair, interrupted: Callable[[], bool]) -> Costs | None:
    """Minimum of a few repeats per size, since noise only ever adds. None where interrupted or out of room."""
    assert pair.target is not None
    target, draft = pair.target.context, pair.draft.context if pair.draft else None
    depth = len(target.held)
    if depth + max(SIZES) > target.n_ctx:
        return None
    best: dict[int, float] = {}
    draft_step: float | None = None
    began = time.perf_counter()
    for repeat in range(REPEATS):
        if repeat and time.perf_counter() - began > BUDGET_S:
            break
        for size, seconds in _timed_passes(target):
            if interrupted():
                return None
            best[size] = min(seconds, best.get(size, seconds))
        if draft is not None:
            seconds = _timed(draft, 1)
            draft_step = seconds if draft_step is None else min(draft_step, seconds)
    return Costs(depth, tuple(sorted(best.items())), draft_step)


def _timed_passes(context: Context) -> Iterator[tuple[int, float]]:
    for size in SIZES:
        yield size, _timed(context, size)


def _timed(context: Context, size: int) -> float:
    """Seconds of a pass over `size` tokens with logits on every row; the cache is as before afterwards."""
    held = len(context.held)
    filler = max(context.model.vocabulary.bos, 0)
    context.keep()
    busy_s = context.busy_s
    context.decode([filler] * size, rows=size)
    seconds = context.busy_s - busy_s
    context.truncate(held)
    return seconds
