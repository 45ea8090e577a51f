"""Rows of table and file, and what they look like."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from desktop_app.bench import report
from desktop_app.bench.report import Machine, Report, Versions, describe, print_results
from desktop_app.bench.results import Results
from desktop_app.bench.summary import TextVerdict
from desktop_app.core.difference import Difference
from desktop_app.core.errors import DraftglassError
from desktop_app.core.settings import ModelSettings
from tests.fakes.bench_runs import plain_run, speculative_run
from tests.fakes.scripted_engine import facts

NEAR_TIE = Difference(31, 262, " the", 247, " a", margin=0.003, rounding=0.005, near_tie=True)
BUG = Difference(7, 262, " the", 247, " a", margin=3.5, rounding=0.005, near_tie=False)
MACHINE = Machine("Linux", "x86_64", 2, 2, ())
VERSIONS = Versions("0", "3", "0.3", "2", facts(ModelSettings("/m/t.gguf")), None, ())

RUN_KEYS = (
    "prompt draft rule gamma repeat tokens seconds prefill_s draft_s verify_s sample_s other_s "
    "accepted rejected discarded corrected bonus plain rounds stop token_ids round_log"
)
SUMMARY_KEYS = (
    "prompt gamma tok_per_s speedup_median acceptance_rate tokens_per_pass predicted_speedup overhead_share "
    "same_text first_difference"
)


def filled() -> Results:
    """Two prompts of one category with γ 2 and 4, one of another with a plain run alone."""
    results = Results({"a": "code", "b": "code", "c": "prose"})
    for prompt in ("a", "b"):
        for gamma in (4, 2):
            results.add(plain_run(prompt=prompt))
            results.add(speculative_run([gamma], gamma=gamma, prompt=prompt))
            results.judge(prompt, gamma, TextVerdict(same=True))
    results.add(plain_run(prompt="c"))
    return results


def printed(results: Results) -> str:
    output = Console(file=io.StringIO(), width=report.TABLE_WIDTH)
    print_results(output, results)
    assert isinstance(output.file, io.StringIO)
    return output.file.getvalue()


def line_of(results: Results, *words: str) -> str:
    return next(line for line in printed(results).splitlines() if all(word in line for word in words))


def test_a_summary_row_for_every_prompt_and_gamma() -> None:
    rows = filled().summary()

    assert [(row.prompt, row.gamma) for row in rows] == [
        ("a", 0),
        ("a", 2),
        ("a", 4),
        ("b", 0),
        ("b", 2),
        ("b", 4),
        ("c", 0),
    ]
    assert rows[0].speedup_median is None
    assert rows[2].speedup_median == pytest.approx(2.5)
    assert [row.same_text for row in rows] == [None, True, True, None, True, True, None]


def test_categories_pool_their_prompts() -> None:
    results = filled()
    results.add(plain_run(prompt="c"))
    rows = {(row.name, row.gamma): row for row in results.category_rows()}

    assert list(rows) == [("code", 0), ("code", 2), ("code", 4), ("prose", 0), ("all", 0), ("all", 2), ("all", 4)]
    assert len(rows["code", 4].figures.speedups) == 2
    assert len(rows["all", 4].verdicts) == 3


def test_an_interrupted_prompt_counts_only_its_whole_pairs() -> None:
    results = Results({"a": "code"})
    results.add(plain_run())
    results.add(speculative_run([4]))
    results.add(plain_run())

    assert [(row.gamma, row.same_text) for row in results.summary()] == [(0, None), (4, None)]


def test_only_a_difference_that_rounding_does_not_explain_is_a_bug() -> None:
    results = filled()
    assert not results.has_bug
    results.judge("a", 2, TextVerdict(same=False, difference=NEAR_TIE))
    assert not results.has_bug
    results.judge("a", 4, TextVerdict(same=False, difference=BUG))
    assert results.has_bug


def test_the_table_shows_the_figures() -> None:
    line = line_of(filled(), "4", "2.50×")

    assert line.split() == [
        "4",
        "25.0",
        "2.50×",
        "(2.50–2.50)",
        "1.00",
        "5.00",
        "20.0",
        "70.0",
        "7.5",
        "2.5",
        "2.50×",
        "same",
    ]


def test_unknown_figures_are_dashes() -> None:
    assert line_of(filled(), "a", "plain").split()[3:5] == ["–", "–"]


def test_nothing_in_the_table_is_cut_off() -> None:
    results = filled()
    results.judge("a", 2, TextVerdict(same=False, difference=BUG))

    assert "…" not in printed(results).replace("draft … other", "")


def test_the_table_says_where_texts_part() -> None:
    results = filled()
    results.judge("a", 2, TextVerdict(same=False, difference=NEAR_TIE))
    results.judge("b", 2, TextVerdict(same=False, difference=BUG))

    text = printed(results)

    assert "near-tie at 31" in text
    assert "BUG at 7" in text
    assert "2 of 2: BUG" in text
    assert f"a, γ 2: {describe(NEAR_TIE)}" in text


def test_a_difference_in_words() -> None:
    assert describe(NEAR_TIE) == (
        "texts part at token 31: plain ' the' (262), speculative ' a' (247); margin 0.003, rounding difference 0.005: "
        "a near-tie"
    )
    assert describe(BUG).endswith("margin 3.5, rounding difference 0.005: BUG: rounding does not explain it")
    ended = Difference(5, 1, "x", None, "", margin=None, rounding=None, near_tie=False)
    assert "plain 'x' (1), speculative ended; margin –, rounding difference –" in describe(ended)


def test_the_file_has_the_agreed_shape(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    results = filled()
    results.judge("a", 2, TextVerdict(same=False, difference=NEAR_TIE))

    report.write_json(path, report.report(results, MACHINE, VERSIONS))
    found = json.loads(path.read_bytes())

    assert list(found) == ["runs", "summary", "machine", "versions"]
    assert " ".join(found["runs"][0]) == RUN_KEYS
    assert " ".join(found["summary"][0]) == SUMMARY_KEYS
    assert found["summary"][1]["first_difference"]["index"] == 31
    assert found["runs"][1]["round_log"][0]["accepted"] == 4


def test_a_file_that_cannot_be_written_is_a_problem(tmp_path: Path) -> None:
    with pytest.raises(DraftglassError, match="can't be written"):
        report.write_json(tmp_path, Report([], [], MACHINE, VERSIONS))
