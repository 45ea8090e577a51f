"""A conversation that outgrows the context: how many of its oldest turns to leave out. Pure arithmetic over counts."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from math import ceil

LEAST_ROOM = 1 / 8
"""Share of the context that is kept free for the answer, unless its token limit needs less."""

STEP = 1 / 4
"""Share of the context that is freed at once."""


def turns_to_leave_out(droppable: int, count: Callable[[int], int], *, n_ctx: int, max_tokens: int) -> int:
    """How many turns to leave out, 0 … `droppable`, so that the prompt leaves room for an answer.

    `count(k)` is the prompt's size in tokens without its k oldest turns; it falls as k grows. `n_ctx` is the size of
    the context and `max_tokens` the longest answer allowed, both in tokens.

    Nothing is left out as long as the prompt leaves min(`max_tokens`, n_ctx / 8) tokens to the answer. From then on
    turns go in steps of at least n_ctx / 4 tokens: an answer finds up to three eighths of the context free, and where
    the kept part begins stays the same for several turns. That matters for speed as much as for reading: as long as
    the prompt begins with the same tokens, both models go on from their caches; each time the beginning moves, they
    read all of it again. The step depends on the whole conversation only, so that regenerating, editing or starting
    the app again leaves out the same turns.

    Where a full step would take all that can go, the least that leaves the room goes, or else everything. Whether the
    rest fits is for the caller to check.
    """
    total = count(0)
    limit = n_ctx - min(max_tokens, int(n_ctx * LEAST_ROOM))
    if total <= limit:
        return 0
    step = max(1, int(n_ctx * STEP))
    stepped = total - ceil((total - limit) / step) * step
    for goal in (stepped, limit):
        if (fewest := _fewest(droppable, count, goal)) <= droppable:
            return fewest
    return droppable


def _fewest(droppable: int, count: Callable[[int], int], goal: int) -> int:
    """The smallest k with count(k) ≤ `goal`; droppable + 1 where there is none."""
    return bisect_left(range(droppable + 1), True, key=lambda k: count(k) <= goal)
