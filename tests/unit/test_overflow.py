"""Which turns a conversation that outgrows the context loses, and how seldom."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import accumulate

import pytest

from desktop_app.core.overflow import turns_to_leave_out

N_CTX = 8192
MAX_TOKENS = 2048
LEAST = N_CTX // 8
STEP = N_CTX // 4


def counting(turns: Sequence[int], system: int = 0) -> Callable[[int], int]:
    """Sizes of the prompt without its k oldest turns; the last of `turns` is the newest message."""
    behind = [0, *accumulate(turns)]
    return lambda oldest: system + behind[-1] - behind[oldest]


def left_out(turns: Sequence[int], *, system: int = 0, n_ctx: int = N_CTX, max_tokens: int = MAX_TOKENS) -> int:
    return turns_to_leave_out(len(turns) - 1, counting(turns, system), n_ctx=n_ctx, max_tokens=max_tokens)


@pytest.mark.parametrize("newest", [1, LEAST, N_CTX - LEAST, N_CTX, 10 * N_CTX])
def test_a_single_message_has_nothing_to_leave_out(newest: int) -> None:
    assert left_out([newest]) == 0


def test_everything_stays_while_the_answer_has_room() -> None:
    full = N_CTX - LEAST
    assert left_out([full - 100, 100]) == 0
    assert left_out([full - 100, 101]) == 1


def test_a_short_answer_needs_less_room() -> None:
    assert left_out([N_CTX - 110, 100], max_tokens=10) == 0
    assert left_out([N_CTX - 109, 100], max_tokens=10) == 1


def test_a_step_frees_a_quarter_of_the_context() -> None:
    turns = [200] * 37
    dropped = left_out(turns)
    assert sum(turns) - N_CTX + LEAST > 0
    assert 200 * (dropped - 1) < STEP <= 200 * dropped


def test_a_large_newest_message_keeps_what_fits_beside_it() -> None:
    """A whole step would take the 90 tokens too, which leave room enough."""
    assert left_out([1400, 90, 6900]) == 1


def test_everything_goes_where_nothing_else_fits() -> None:
    assert left_out([1000, 90, N_CTX - 50]) == 2
    assert left_out([1000, 90, 2 * N_CTX]) == 2


def test_the_system_prompt_counts_but_stays() -> None:
    assert left_out([3000, 3000, 100], system=1000) == 0
    assert left_out([3000, 3000, 100], system=1100) == 1


@pytest.mark.parametrize("n_ctx", [2, 7, 64])
def test_tiny_contexts(n_ctx: int) -> None:
    assert left_out([n_ctx, n_ctx, 1], n_ctx=n_ctx) == 2


@pytest.mark.parametrize("seed", range(20))
def test_a_long_chat_moves_its_beginning_seldom_and_always_fits(seed: int) -> None:
    """As it grows turn by turn, the prompt's beginning stays put for a quarter of the context's worth of tokens."""
    rng = random.Random(seed)
    turns: list[int] = []
    beginnings: list[int] = []
    while sum(turns) < 10 * N_CTX:
        turns.append(rng.randint(20, 120))
        dropped = left_out(turns, system=50)
        beginnings.append(dropped)
        assert 50 + sum(turns[dropped:]) <= N_CTX - LEAST
        turns[-1] += rng.randint(50, 900)
    assert beginnings == sorted(beginnings), "what was left out stays out"
    moves = len(set(beginnings)) - 1
    assert moves <= sum(turns) / STEP
    assert moves < len(turns) / 3


def test_counting_a_long_chat_takes_a_handful_of_looks() -> None:
    turns = [100] * 1000
    counted: list[int] = []
    count = counting(turns)

    def watched(oldest: int) -> int:
        counted.append(oldest)
        return count(oldest)

    assert turns_to_leave_out(999, watched, n_ctx=N_CTX, max_tokens=MAX_TOKENS) > 900
    assert len(counted) <= 12
