"""Compares with llama.cpp's own `llama-speculative-simple`: same pair, prompts, γ and threads, alternating.

`python -m desktop_app.bench.rival PATH` and the options of `draftglass bench`; the first γ counts. Greedy, as the rival
drafts greedily at every temperature.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from desktop_app.bench.deck import Prompt, load_deck
from desktop_app.bench.measure import Measurer
from desktop_app.bench.options import Options, parse
from desktop_app.bench.plan import AUTO, Planned
from desktop_app.core.errors import DraftglassError, Problem
from desktop_app.engine.llama.abort import AbortFlag
from desktop_app.engine.pair import LoadedModel, Pair

_ENCODED = re.compile(r"encoded\s+(\d+) tokens")
_DECODED = re.compile(r"decoded\s+(\d+) tokens in\s+([\d.]+) seconds")
_TIMEOUT_S = 1800


@dataclass(frozen=True, slots=True)
class RivalRun:
    """What the rival said of one answer."""

    prompt_tokens: int
    tokens: int
    seconds: float

    @property
    def tok_per_s(self) -> float:
        return self.tokens / self.seconds


def main(argv: Sequence[str]) -> int:
    """Print a line for each prompt and the median; returns the exit code."""
    if not argv or not Path(argv[0]).is_file():
        print(f"Usage: {Path(__file__).stem} PATH_TO_llama-speculative-simple [options of draftglass bench]")
        return 2
    options = parse(argv[1:])
    pair = Pair(AbortFlag())
    try:
        ratios = _compare(argv[0], pair, options)
    except DraftglassError as error:
        print(error, file=sys.stderr)
        return 2
    finally:
        pair.unload()
    print(f"{'median':24} {median(ratios):44.2f}×  ({min(ratios):.2f}–{max(ratios):.2f})")
    return 0


def parse_output(text: str) -> RivalRun:
    """The rival's own figures, of decoding alone. Raises DraftglassError where they are missing."""
    encoded, decoded = _ENCODED.search(text), _DECODED.search(text)
    if encoded is None or decoded is None:
        last = text.strip().splitlines()[-1:] or ["nothing"]
        raise DraftglassError(Problem(f"llama-speculative-simple gave no figures; it said last: {last[0]}"))
    return RivalRun(int(encoded[1]), int(decoded[1]), float(decoded[2]))


def _compare(program: str, pair: Pair, options: Options) -> list[float]:
    """Ours over theirs, a ratio for each pair of runs."""
    gamma = next((gamma for gamma in options.gammas if gamma != AUTO), None)
    if options.draft is None or gamma is None or not options.settings.sampling.greedy:
        raise DraftglassError(Problem("The rival needs a draft, a fixed γ and temperature 0."))
    pair.load(options.target, options.draft, lambda _part, _fraction: None)
    if pair.draft_problem is not None:
        raise DraftglassError(pair.draft_problem)
    measurer = Measurer(pair, options.settings)
    deck = load_deck(options.deck)
    prompts = (deck.only(options.only) if options.only else deck).prompts
    measurer.warm_up(measurer.prepare(prompts[0]), [gamma])
    ratios = []
    for prompt in prompts:
        prepared = measurer.prepare(prompt)
        command = _command(program, options, gamma, measurer.target, prompt)
        for repeat in range(options.repeats):
            ours = measurer.run(prepared, Planned(gamma, repeat)).tok_per_s
            theirs = _run(command, len(prepared.tokens))
            ratios.append(ours / theirs.tok_per_s)
            print(f"{prompt.id:24} γ {gamma}: {ours:6.1f} tok/s, rival {theirs.tok_per_s:6.1f}: {ratios[-1]:.2f}×")
    return ratios


def _command(program: str, options: Options, gamma: int, target: LoadedModel, prompt: Prompt) -> list[str]:
    assert options.draft is not None
    return [
        program,
        *("--model", options.target.path, "--model-draft", options.draft.path),
        *("--prompt", target.template.render(prompt.messages)),
        *("--predict", str(options.settings.max_tokens), "--temp", "0"),
        *("--draft-max", str(gamma), "--draft-min", "0", "--draft-p-min", "0"),
        *("--ctx-size", str(target.context.n_ctx)),
        *("--threads", str(target.context.threads), "--threads-batch", str(target.context.batch_threads)),
    ]


def _run(command: Sequence[str], prompt_tokens: int) -> RivalRun:
    """Raises DraftglassError where it fails or read another prompt."""
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=_TIMEOUT_S, check=False)  # noqa: S603 - named by the user
    run = parse_output(done.stdout + done.stderr)
    # It keeps the last token of the prompt for its first round, as we do.
    if run.prompt_tokens not in {prompt_tokens, prompt_tokens - 1}:
        raise DraftglassError(Problem(f"The rival read {run.prompt_tokens} tokens of prompt, we {prompt_tokens}."))
    return run


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
