"""The command line of the benchmark."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from desktop_app.bench.options import parse
from desktop_app.core.settings import AUTO_LAYERS, CacheType, DraftSource, FlashAttention, LoadSettings, Rule

TARGET = ("--target", "t.gguf")


def test_defaults() -> None:
    options = parse([*TARGET, "--draft", "d.gguf"])

    assert (options.target.path, options.draft and options.draft.path) == ("t.gguf", "d.gguf")
    assert options.gammas == (2, 4, 8, "auto")
    assert options.settings.sampling.greedy
    assert options.settings.sampling.seed is not None
    assert options.settings.speculation.rule is Rule.REJECTION
    assert (options.deck, options.only, options.json) == ("builtin", (), None)


def test_every_option_arrives(tmp_path: Path) -> None:
    line = (
        "--lookup --gamma 8,0,2,8 --rule shared-noise --temperature 0.7 --top-k 5 --top-p 0.8 --min-p 0.1 --seed 9 "
        f"--max-tokens 33 --deck d.json --only code,prose --repeat 4 --threads 3 --ctx 512 --json {tmp_path}/out.json"
    )
    options = parse([*TARGET, *line.split()])

    sampling, speculation = options.settings.sampling, options.settings.speculation
    assert options.draft is None
    assert speculation.source is DraftSource.LOOKUP
    assert options.gammas == (2, 8)
    assert speculation.rule is Rule.SHARED_NOISE
    assert (sampling.temperature, sampling.top_k, sampling.top_p, sampling.min_p, sampling.seed) == (
        0.7,
        5,
        0.8,
        0.1,
        9,
    )
    assert options.settings.max_tokens == 33
    assert (options.deck, options.only, options.repeats) == ("d.json", ("code", "prose"), 4)
    assert (options.target.threads, options.target.n_ctx) == (3, 512)
    assert options.json == tmp_path / "out.json"


def test_how_models_are_loaded() -> None:
    line = (
        "--draft d.gguf --threads 3 --batch-threads 4 --ctx 512 --gpu-layers 20 --draft-gpu-layers auto "
        "--cache-type-k q8_0 --cache-type-v q4_0 --flash-attention on"
    )
    options = parse([*TARGET, *line.split()])

    how = LoadSettings(
        n_ctx=512,
        gpu_layers=20,
        threads=3,
        batch_threads=4,
        cache_k=CacheType.Q8_0,
        cache_v=CacheType.Q4_0,
        flash_attention=FlashAttention.ON,
    )
    assert options.target == how.of("t.gguf")
    assert options.draft == replace(how, gpu_layers=AUTO_LAYERS).of("d.gguf")


def test_without_a_drafter_only_plain_runs() -> None:
    assert parse(TARGET).gammas == ()
    assert parse([*TARGET, "--gamma", "0"]).gammas == ()


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("", "--target"),
        ("--target t --gamma 4", "--draft FILE or --lookup"),
        ("--target t --lookup --gamma 4,17", "0 … 16"),
        ("--target t --lookup --gamma four", "no list like"),
        ("--target t --temperature -1", "must be 0 or more"),
        ("--target t --top-p 1.5", "must be 0 … 1"),
        ("--target t --top-p nan", "must be 0 … 1"),
        ("--target t --repeat 0", "must be 1 or more"),
        ("--target t --rule guess", "invalid"),
        ("--target t --json none/out.json", "no folder none"),
    ],
)
def test_nonsense_is_refused_with_the_reason(line: str, reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        parse(line.split())

    assert caught.value.code == 2
    assert reason in capsys.readouterr().err
