"""A run's record says what its rounds say."""

from __future__ import annotations

import pytest

from desktop_app.bench.record import RoundEntry
from desktop_app.core.rounds import Kind, Round, Seconds, Token
from tests.fakes.bench_runs import plain_run, run_of, speculative_run

SECONDS = Seconds(0.1, 0.2, 0.03, 0.04)


def test_sums_of_a_run() -> None:
    run = speculative_run([4, 1, 0], gamma=4)

    assert (run.tokens, run.rounds) == (8, 3)
    assert (run.accepted, run.rejected, run.discarded) == (5, 2, 5)
    assert (run.corrected, run.bonus, run.plain) == (2, 1, 0)
    assert run.seconds == pytest.approx(0.6)
    assert run.seconds == pytest.approx(run.draft_s + run.verify_s + run.sample_s + run.other_s)
    assert run.tok_per_s == pytest.approx(8 / 0.6)


def test_decoding_seconds_leave_the_prompt_out() -> None:
    run = plain_run(10, step_s=0.1)

    assert run.seconds == pytest.approx(1.0)
    assert run.prefill_s == 1.0
    assert run.draft is None


def test_the_log_tells_every_round_apart() -> None:
    refused = (Token(5, "a", Kind.ACCEPTED), Token(6, "b", Kind.REJECTED), Token(7, "c", Kind.DISCARDED))
    ended = (Token(2, "", Kind.ACCEPTED), Token(9, "d", Kind.DISCARDED))
    run = run_of(
        [
            Round(0, 3, 3, (*refused, Token(8, "e", Kind.CORRECTED)), SECONDS),
            Round(1, 5, 0, (Token(4, "f", Kind.PLAIN),), SECONDS),
            Round(2, 6, 2, ended, SECONDS, cut=True),
        ],
        gamma=3,
    )

    assert run.token_ids == (5, 8, 4, 2)
    seconds = (0.1, 0.2, 0.03, 0.04)
    assert run.round_log == (
        RoundEntry((5, 6, 7), 1, 8, seconds),
        RoundEntry((), 0, 4, seconds),
        RoundEntry((2, 9), 1, None, seconds),
    )
    assert [entry.gamma for entry in run.round_log] == [3, 0, 2]
