"""Runs a deck: a generator of what happens, run by run. Where it goes is the caller's business."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from desktop_app.bench.measure import Measurer, Prepared
from desktop_app.bench.plan import Gamma, Planned, plan
from desktop_app.bench.record import RunRecord
from desktop_app.bench.summary import RunPair, TextVerdict, paired
from desktop_app.core.difference import Difference, TextPair
from desktop_app.engine.divergence import explain


@dataclass(frozen=True, slots=True)
class RunStarting:
    prompt: str
    planned: Planned


@dataclass(frozen=True, slots=True)
class RunDone:
    record: RunRecord


@dataclass(frozen=True, slots=True)
class TextsCompared:
    """All runs of this prompt with this γ against their plain partners."""

    prompt: str
    gamma: Gamma
    verdict: TextVerdict


BenchEvent = RunStarting | RunDone | TextsCompared


def run_deck(
    measurer: Measurer, prompts: Sequence[Prepared], gammas: Sequence[Gamma], repeats: int
) -> Iterator[BenchEvent]:
    """Warm up, then answer every prompt. Raises Aborted, or DraftglassError where the draft fails."""
    measurer.warm_up(prompts[0], gammas)
    for prompt in prompts:
        measurer.forget()
        records = []
        for planned in plan(gammas, repeats):
            yield RunStarting(prompt.id, planned)
            records.append(measurer.run(prompt, planned))
            yield RunDone(records[-1])
        # Comparing overwrites the caches, so it waits until the prompt's runs are done.
        pairs = paired(records)
        for gamma in gammas:
            yield TextsCompared(prompt.id, gamma, _compare(measurer, prompt, pairs, gamma))


def _compare(measurer: Measurer, prompt: Prepared, pairs: Sequence[RunPair], gamma: Gamma) -> TextVerdict:
    if not measurer.comparable:
        return TextVerdict(None)
    # Greedy repeats part at the same place; each parting is examined once.
    partings = {
        (pair.plain.token_ids, pair.speculative.token_ids): pair
        for pair in pairs
        if pair.speculative.gamma == gamma and pair.plain.token_ids != pair.speculative.token_ids
    }
    differences = [found for pair in partings.values() if (found := _examine(measurer, prompt, pair)) is not None]
    worst = min(differences, key=lambda difference: difference.near_tie, default=None)
    return TextVerdict(worst is None, worst)


def _examine(measurer: Measurer, prompt: Prepared, pair: RunPair) -> Difference | None:
    run = pair.speculative
    settings = measurer.settings(Planned(run.gamma, run.repeat))
    texts = TextPair(
        pair.plain.token_ids,
        run.token_ids,
        settings.sampling,
        settings.speculation.rule,
        pass_size=1 + max(entry.gamma for entry in run.round_log),
    )
    return explain(measurer.target, prompt.tokens, texts)
