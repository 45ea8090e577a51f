"""The number of layers that "auto" puts on a GPU, found by trying."""

from __future__ import annotations

import pytest

from desktop_app.core.errors import Blame, DraftglassError, Fault, Problem
from desktop_app.core.settings import AUTO_LAYERS
from desktop_app.engine.placement import fewer_and_fewer, first_that_fits

OFFLOADABLE = 29


class Gpu:
    """Has room for some layers."""

    def __init__(self, room: int, fault: Fault = Fault.OUT_OF_MEMORY) -> None:
        self.room = room
        self.fault = fault
        self.tried: list[int] = []

    def load(self, count: int) -> int:
        self.tried.append(count)
        layers = OFFLOADABLE if count == AUTO_LAYERS else count
        if layers > self.room:
            raise DraftglassError(Problem(f"no room for {layers}", blame=Blame.ENVIRONMENT, fault=self.fault))
        return layers


def counts() -> list[int]:
    return list(fewer_and_fewer(lambda: OFFLOADABLE))


def test_all_are_tried_first_and_none_last() -> None:
    assert counts() == [AUTO_LAYERS, 25, 21, 18, 14, 10, 7, 3, 0]


def test_what_fits_whole_is_not_even_counted() -> None:
    def unreadable() -> int:
        raise AssertionError

    assert first_that_fits(fewer_and_fewer(unreadable), Gpu(OFFLOADABLE).load) == OFFLOADABLE


@pytest.mark.parametrize(("room", "layers"), [(28, 25), (20, 18), (2, 0), (0, 0)])
def test_otherwise_the_most_that_fit_are_taken(room: int, layers: int) -> None:
    assert first_that_fits(counts(), Gpu(room).load) == layers


def test_without_room_for_any_the_last_reason_stands() -> None:
    with pytest.raises(DraftglassError, match="no room for 0"):
        first_that_fits(counts(), Gpu(-1).load)


def test_another_fault_is_no_reason_to_try_again() -> None:
    gpu = Gpu(3, Fault.BAD_MODEL)
    with pytest.raises(DraftglassError, match="no room for 29"):
        first_that_fits(counts(), gpu.load)
    assert gpu.tried == [AUTO_LAYERS]
