"""What llama.cpp's own program says is understood, and its silence too."""

from __future__ import annotations

import pytest

from desktop_app.bench.rival import main, parse_output
from desktop_app.core.errors import DraftglassError

SAID = """
encoded   42 tokens in    0.512 seconds, speed:   82.031 t/s
decoded  129 tokens in    7.740 seconds, speed:   16.667 t/s

n_draft   = 4
n_accept  = 99
"""


def test_figures_are_read() -> None:
    run = parse_output(SAID)

    assert (run.prompt_tokens, run.tokens, run.seconds) == (42, 129, 7.74)
    assert run.tok_per_s == pytest.approx(16.667, rel=1e-3)


def test_a_failure_is_told_in_its_own_last_words() -> None:
    with pytest.raises(DraftglassError, match="it said last: error: unknown argument"):
        parse_output("loading\nerror: unknown argument\n")


def test_without_a_program_it_says_how_to_use_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["/nowhere/llama-speculative-simple"]) == 2
    assert "Usage" in capsys.readouterr().out
