"""The real pair: Qwen2.5-Coder 1.5B with 0.5B, end to end."""

from __future__ import annotations

from pathlib import Path

import pytest

from desktop_app.core.settings import AnswerSettings
from tests.helpers.log_watch import LogWatch
from tests.model.helpers import GREEDY, PLAIN, check_same_text, loaded, run_answer, speculating

pytestmark = pytest.mark.model

SPECULATING = AnswerSettings(GREEDY, speculating(4), 32)
PROMPT = "Write a Python function that returns the n-th Fibonacci number."


def test_greedy_code_is_the_same_or_parts_at_a_near_tie(
    qwen_target: Path, qwen_draft: Path, expect_log: LogWatch
) -> None:
    expect_log("control-looking token")
    with loaded(qwen_target, qwen_draft, n_ctx=512) as pair:
        assert pair.draft_problem is None
        plain = run_answer(pair, PROMPT, AnswerSettings(GREEDY, PLAIN, 32))

        reply = run_answer(pair, PROMPT, SPECULATING)

        assert reply.tally.acceptance_rate is not None
        assert reply.tally.acceptance_rate > 0.6
        assert len(reply.rounds) < 20
        assert "fib" in reply.text
        check_same_text(pair, plain, reply, SPECULATING)
