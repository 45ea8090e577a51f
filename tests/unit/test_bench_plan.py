"""Every speculative run has a plain neighbour, and no γ always has the better place."""

from __future__ import annotations

from desktop_app.bench.plan import Gamma, Planned, plan, run_count


def gammas_of(repeat: int, gammas: tuple[int, ...] = (2, 4, 8), repeats: int = 4) -> list[Gamma]:
    return [planned.gamma for planned in plan(gammas, repeats) if planned.repeat == repeat]


def test_plain_and_speculative_alternate() -> None:
    assert gammas_of(0) == [0, 2, 0, 4, 0, 8]


def test_over_the_repeats_order_rotates_and_flips() -> None:
    assert gammas_of(1) == [4, 0, 8, 0, 2, 0]
    assert gammas_of(2) == [0, 8, 0, 2, 0, 4]
    assert gammas_of(3) == [2, 0, 4, 0, 8, 0]


def test_neighbours_make_pairs_of_one_repeat() -> None:
    planned = list(plan((1, 3), 3))

    for first, second in zip(planned[::2], planned[1::2], strict=True):
        assert first.repeat == second.repeat
        assert sorted([first.gamma == 0, second.gamma == 0]) == [False, True]


def test_without_a_gamma_only_plain_runs() -> None:
    assert list(plan((), 2)) == [Planned(0, 0), Planned(0, 1)]


def test_the_count_is_known_before() -> None:
    for gammas in ((), (4,), (2, 4, 8)):
        assert run_count(gammas, 3) == len(list(plan(gammas, 3)))
