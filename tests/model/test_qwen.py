"""The real pair: Qwen2.5-Coder 1.5B with 0.5B, end to end."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from desktop_app.core.settings import AnswerSettings
from desktop_app.engine.llama.context import Context
from tests.helpers.log_watch import LogWatch
from tests.model.helpers import GREEDY, PLAIN, loaded, run_answer, speculating

pytestmark = pytest.mark.model

GAMMA = 4
PROMPT = "Write a Python function that returns the n-th Fibonacci number."


def test_greedy_code_is_the_same_or_parts_at_a_near_tie(
    qwen_target: Path, qwen_draft: Path, expect_log: LogWatch
) -> None:
    expect_log("control-looking token")
    with loaded(qwen_target, qwen_draft, n_ctx=512) as pair:
        assert pair.draft_problem is None
        assert pair.target is not None
        plain = run_answer(pair, PROMPT, AnswerSettings(GREEDY, PLAIN, 32))

        reply = run_answer(pair, PROMPT, AnswerSettings(GREEDY, speculating(GAMMA), 32))

        assert reply.tally.acceptance_rate is not None
        assert reply.tally.acceptance_rate > 0.6
        assert len(reply.rounds) < 20
        assert "fib" in reply.text
        parted = next(
            (at for at, pair_ in enumerate(zip(plain.ids, reply.ids, strict=True)) if len(set(pair_)) > 1), None
        )
        if parted is not None:
            before = [*plain.prompt, *plain.ids[:parted]]
            gap, rounding = margin(pair.target.context, before, plain.ids[parted], reply.ids[parted])
            assert gap <= 2 * rounding


def margin(context: Context, before: list[int], one: int, other: int) -> tuple[float, float]:
    """How far two tokens' logits are apart, and the largest difference that the size of the batch makes to a logit."""
    depth = len(before) - (GAMMA + 1)
    context.clear()
    list(context.prefill(before[:depth]))
    together = context.decode(before[depth:], rows=GAMMA + 1).copy()
    context.truncate(depth)
    alone = np.stack([context.decode([token], rows=1)[0].copy() for token in before[depth:]])
    return abs(float(alone[-1][one] - alone[-1][other])), float(np.abs(alone - together).max())
