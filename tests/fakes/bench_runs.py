"""Runs of the benchmark with chosen rounds and round numbers for their times."""

from __future__ import annotations

from collections.abc import Sequence

from desktop_app.bench.record import RunRecord, record
from desktop_app.core.rounds import Round, Seconds
from desktop_app.protocol.messages import Stop
from tests.fakes.timed_rounds import plain_round, timed_round

PLAIN_STEP_S = 0.1
ROUND = Seconds(draft=0.04, verify=0.14, sample=0.015, rest=0.005)
"""0.2 s in all, a tenth of it outside the passes."""


def run_of(rounds: Sequence[Round], *, gamma: int, prompt: str = "a", repeat: int = 0) -> RunRecord:
    return record(
        rounds,
        prompt=prompt,
        draft="draft.gguf" if gamma else None,
        rule="greedy",
        gamma=gamma,
        repeat=repeat,
        prefill_s=1.0,
        stop=Stop.LIMIT,
    )


def plain_run(tokens: int = 10, *, step_s: float = PLAIN_STEP_S, prompt: str = "a", repeat: int = 0) -> RunRecord:
    return run_of([plain_round(step_s)] * tokens, gamma=0, prompt=prompt, repeat=repeat)


def speculative_run(
    accepted: Sequence[int], *, gamma: int = 4, seconds: Seconds = ROUND, prompt: str = "a", repeat: int = 0
) -> RunRecord:
    """One round for each count of accepted tokens."""
    rounds = [timed_round(gamma, count, seconds, index=index) for index, count in enumerate(accepted)]
    return run_of(rounds, gamma=gamma, prompt=prompt, repeat=repeat)
