"""How many layers "auto" puts on the GPU: as many as its memory holds, found by trying."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from desktop_app.core.errors import DraftglassError, Fault
from desktop_app.core.settings import AUTO_LAYERS

_STEPS = 8

Loaded = TypeVar("Loaded")


def fewer_and_fewer(count_offloadable: Callable[[], int]) -> Iterator[int]:
    """All layers, then fewer by an eighth each time, down to none. They are counted only if all don't fit."""
    yield AUTO_LAYERS
    offloadable = count_offloadable()
    for step in range(1, _STEPS + 1):
        yield offloadable * (_STEPS - step) // _STEPS


def first_that_fits(counts: Iterable[int], load: Callable[[int], Loaded]) -> Loaded:
    """What `load` makes of the first of these numbers of layers for which there is memory.

    Where there is none for any, raises the DraftglassError (OUT_OF_MEMORY) of the last; any other error at once.
    """
    last: DraftglassError | None = None
    for count in counts:
        try:
            return load(count)
        except DraftglassError as error:
            if error.problem.fault is not Fault.OUT_OF_MEMORY:
                raise
            last = error
    assert last is not None, "there is at least one number to try"
    raise last
