"""`draftglass bench` on the starter pair: its figures, its verdicts, its exit codes."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from desktop_app.bench import cli
from desktop_app.bench.deck import Prompt
from desktop_app.bench.measure import Measurer, Prepared
from desktop_app.bench.plan import Planned
from desktop_app.bench.record import RunRecord
from desktop_app.core.difference import Difference, TextPair
from desktop_app.core.settings import AnswerSettings, Rule, Sampling
from desktop_app.engine.divergence import explain
from desktop_app.engine.pair import Pair
from tests.fakes.tiny_models import TOKENS, write_llama
from tests.helpers.log_watch import LogWatch
from tests.model.helpers import run_answer, speculating, user

pytestmark = pytest.mark.model

EDIT = (
    "Rewrite this text, with the name Anna replaced by Bob. Change nothing else.\n\n"
    "Anna went to the market on Monday morning. Anna bought six red apples and a loaf of fresh bread. "
    "Then Anna walked home along the river and put the apples into a big wooden bowl."
)
GREEDY = Sampling(temperature=0.0, seed=1)
PROMPTS = {"reverse": "Write a Python function that reverses a string.", "edit": EDIT}

Bench = Callable[..., tuple[int, dict[str, Any]]]
"""Takes options; returns the exit code and the JSON file."""


@pytest.fixture
def deck(tmp_path: Path) -> Path:
    prompts = [
        {"id": id_, "category": id_, "messages": [{"role": "user", "content": text}]} for id_, text in PROMPTS.items()
    ]
    path = tmp_path / "deck.json"
    path.write_text(json.dumps({"prompts": prompts}), encoding="utf-8")
    return path


@pytest.fixture
def bench(deck: Path, tmp_path: Path, starter_target: Path) -> Bench:
    """Runs the benchmark with the starter target and a deck of two short prompts."""

    def run(*options: str) -> tuple[int, dict[str, Any]]:
        out = tmp_path / "out.json"
        line = ["--target", str(starter_target), "--deck", str(deck), "--ctx", "1024", "--json", str(out), *options]
        code = cli.main(line)
        return code, json.loads(out.read_bytes())

    return run


def rebuilt(run: dict[str, Any]) -> list[int]:
    """The answer's tokens, from the log of its rounds."""
    ids: list[int] = []
    for entry in run["round_log"]:
        ids += entry["drafted"][: entry["accepted"]]
        ids += [] if entry["own"] is None else [entry["own"]]
    return ids


def check_run(run: dict[str, Any], max_tokens: int) -> None:
    drafted = sum(len(entry["drafted"]) for entry in run["round_log"])
    assert run["tokens"] == len(run["token_ids"]) == max_tokens
    assert rebuilt(run) == run["token_ids"]
    assert run["tokens"] == run["accepted"] + run["corrected"] + run["bonus"] + run["plain"]
    assert run["accepted"] + run["rejected"] + run["discarded"] == drafted
    assert run["rounds"] == len(run["round_log"])
    parts = run["draft_s"] + run["verify_s"] + run["sample_s"] + run["other_s"]
    assert run["seconds"] == pytest.approx(parts)
    assert run["stop"] == "limit"


def test_greedy_with_a_draft_model(bench: Bench, starter_draft: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = bench("--draft", str(starter_draft), "--gamma", "0,2,5", "--max-tokens", "16", "--repeat", "2")

    assert code == cli.DONE
    assert [(run["prompt"], run["gamma"], run["repeat"]) for run in found["runs"][:8]] == [
        ("reverse", gamma, repeat) for repeat, gammas in ((0, (0, 2, 0, 5)), (1, (5, 0, 2, 0))) for gamma in gammas
    ]
    assert len(found["runs"]) == 16
    for run in found["runs"]:
        check_run(run, 16)
        assert run["draft"] == (starter_draft.name if run["gamma"] else None)
        assert run["rule"] == "greedy"
    assert all(row["same_text"] for row in found["summary"] if row["gamma"])
    assert all(0 < row["overhead_share"] < 1 for row in found["summary"])
    printed = capsys.readouterr()
    assert "same" in printed.out
    assert printed.err == "", "no bar and no log where nobody watches"


def test_a_prompt_is_read_once_and_kept_for_its_other_runs(bench: Bench, starter_draft: Path) -> None:
    _, found = bench(
        "--draft", str(starter_draft), "--gamma", "2", "--max-tokens", "4", "--only", "edit", "--repeat", "2"
    )

    plain = [run["prefill_s"] for run in found["runs"] if run["gamma"] == 0]
    assert plain[1] < plain[0] / 2


def test_prompt_lookup_on_an_edit(bench: Bench) -> None:
    code, found = bench("--lookup", "--gamma", "6", "--max-tokens", "48", "--repeat", "1", "--only", "edit")

    plain, speculative = found["runs"]
    assert code == cli.DONE
    assert speculative["draft"] == "lookup"
    assert speculative["token_ids"] == plain["token_ids"]
    assert speculative["accepted"] >= 10
    assert {len(entry["drafted"]) for entry in speculative["round_log"]} >= {0, 6}
    assert found["summary"][1]["tokens_per_pass"] > 1.2


def test_shared_noise_compares_texts_and_rejection_sampling_does_not(bench: Bench) -> None:
    options = (
        "--lookup",
        "--gamma",
        "4",
        "--max-tokens",
        "16",
        "--repeat",
        "2",
        "--only",
        "edit",
        "--temperature",
        "0.8",
    )

    _, shared = bench(*options, "--rule", "shared-noise")
    _, rejection = bench(*options, "--rule", "rejection")

    assert shared["summary"][1]["same_text"] is True
    assert rejection["summary"][1]["same_text"] is None
    texts = {tuple(run["token_ids"]) for run in shared["runs"]}
    assert len(texts) == 2, "each repeat has a seed of its own"


def test_without_a_drafter_plain_runs_alone(bench: Bench) -> None:
    code, found = bench("--max-tokens", "4", "--repeat", "2", "--only", "reverse")

    assert code == cli.DONE
    assert [run["gamma"] for run in found["runs"]] == [0, 0]
    assert found["summary"][0]["speedup_median"] is None


def test_the_bench_measures_what_the_engine_writes(starter: Pair) -> None:
    settings = AnswerSettings(GREEDY, speculating(3), 24)
    measurer = Measurer(starter, settings)

    record = measurer.run(measurer.prepare(Prompt("edit", "edit", user(EDIT))), Planned(3, 0))

    assert list(record.token_ids) == run_answer(starter, EDIT, settings).ids


class TestDifference:
    """On a short prompt this model's logits are the same at every batch size, so no difference is a near-tie."""

    def explained(self, pair: Pair, change: Callable[[list[int]], list[int]]) -> Difference | None:
        settings = AnswerSettings(GREEDY, speculating(4), 16)
        reply = run_answer(pair, PROMPTS["reverse"], settings)
        assert pair.target is not None
        texts = TextPair(tuple(reply.ids), tuple(change(reply.ids)), GREEDY, Rule.REJECTION, pass_size=5)
        return explain(pair.target, reply.prompt, texts)

    def test_equal_texts_have_none(self, starter: Pair) -> None:
        assert self.explained(starter, lambda ids: ids) is None

    def test_a_wrong_token_is_a_bug(self, starter: Pair) -> None:
        found = self.explained(starter, lambda ids: [*ids[:9], ids[9] + 1, *ids[10:]])

        assert found is not None
        assert (found.index, found.rounding) == (9, 0.0)
        assert found.margin is not None
        assert found.margin > 0
        assert not found.near_tie

    def test_a_text_that_ends_early_is_a_bug(self, starter: Pair) -> None:
        found = self.explained(starter, lambda ids: ids[:12])

        assert found is not None
        assert (found.index, found.second_id, found.margin, found.near_tie) == (12, None, None, False)


def test_a_bug_sets_the_exit_code(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A decode loop that writes another token: the benchmark must not call it rounding."""
    honest = Measurer.run

    def wrong(measurer: Measurer, prompt: Prepared, planned: Planned) -> RunRecord:
        record = honest(measurer, prompt, planned)
        ids = record.token_ids
        wrong_ids = (*ids[:3], ids[3] + 1, *ids[4:])
        return msgspec.structs.replace(record, token_ids=wrong_ids) if planned.gamma else record

    monkeypatch.setattr(Measurer, "run", wrong)

    code, found = bench("--lookup", "--gamma", "4", "--max-tokens", "8", "--repeat", "1", "--only", "reverse")

    assert code == cli.TEXT_BUG
    assert found["summary"][1]["first_difference"]["index"] == 3
    assert "BUG at 3" in capsys.readouterr().out


def test_interrupting_shows_what_there_is(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    honest = Measurer.run
    runs = 0

    def interrupted_on_the_third(measurer: Measurer, prompt: Prepared, planned: Planned) -> RunRecord:
        nonlocal runs
        runs += 1
        if runs == 3:
            signal.raise_signal(signal.SIGINT)
        return honest(measurer, prompt, planned)

    monkeypatch.setattr(Measurer, "run", interrupted_on_the_third)

    code, found = bench("--lookup", "--gamma", "4", "--max-tokens", "8", "--repeat", "5")

    assert code == cli.INTERRUPTED
    assert [run["gamma"] for run in found["runs"]] == [0, 4]
    assert found["summary"][1]["speedup_median"] > 0
    printed = capsys.readouterr()
    assert "reverse" in printed.out
    assert "interrupted" in printed.err
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


class TestBadInput:
    def refusal(self, capsys: pytest.CaptureFixture[str], *options: str) -> str:
        assert cli.main(options) == cli.BAD_INPUT
        printed = capsys.readouterr()
        assert printed.out == ""
        assert printed.err.count("\n") == 1
        return printed.err

    def test_an_absent_target(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert "no file none.gguf" in self.refusal(capsys, "--target", "none.gguf")

    def test_a_file_that_is_no_model(
        self, capsys: pytest.CaptureFixture[str], tmp_path: Path, expect_log: LogWatch
    ) -> None:
        expect_log(r".")
        path = tmp_path / "broken.gguf"
        path.write_bytes(b"GGUF but not really")

        assert "broken.gguf can't be loaded" in self.refusal(capsys, "--target", str(path))

    def test_a_draft_with_another_vocabulary(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        target = write_llama(tmp_path / "target.gguf")
        draft = write_llama(tmp_path / "draft.gguf", tokens=[*TOKENS[:-1], "other"])

        message = self.refusal(capsys, "--target", str(target), "--draft", str(draft))
        assert f"token {len(TOKENS) - 1} differs" in message

    def test_an_absent_draft(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        target = write_llama(tmp_path / "target.gguf")

        assert "no file none.gguf" in self.refusal(capsys, "--target", str(target), "--draft", "none.gguf")

    def test_a_prompt_longer_than_the_context(self, capsys: pytest.CaptureFixture[str], starter_target: Path) -> None:
        options = ("--target", str(starter_target), "--ctx", "256", "--only", "summarise")

        assert "the context holds 256" in self.refusal(capsys, *options)

    def test_a_deck_that_is_not_there(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        target = write_llama(tmp_path / "target.gguf")

        assert "none.json can't be read" in self.refusal(capsys, "--target", str(target), "--deck", "none.json")
