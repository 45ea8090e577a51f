"""Everything a benchmark found, growing run by run, and the rows that table and file show of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from desktop_app.bench.plan import Gamma, in_order
from desktop_app.bench.record import RunRecord
from desktop_app.bench.summary import (
    UNCOMPARED,
    Figures,
    RunPair,
    SummaryRow,
    TextVerdict,
    figures,
    paired,
)


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table: one prompt, or a category, or everything, with one γ."""

    name: str
    gamma: Gamma
    figures: Figures
    verdicts: tuple[TextVerdict, ...]


class Results:
    """Grown by `add` and `judge`."""

    def __init__(self, categories: Mapping[str, str]) -> None:
        """`categories` names every prompt's category, in the order of the deck."""
        self._categories = categories
        self.records: list[RunRecord] = []
        self._verdicts: dict[tuple[str, Gamma], TextVerdict] = {}

    def add(self, record: RunRecord) -> None:
        self.records.append(record)

    def judge(self, prompt: str, gamma: Gamma, verdict: TextVerdict) -> None:
        self._verdicts[prompt, gamma] = verdict

    def of(self, prompt: str) -> list[RunRecord]:
        """The runs of a prompt, in the order they were made."""
        return [record for record in self.records if record.prompt == prompt]

    @property
    def differences(self) -> list[tuple[str, Gamma, TextVerdict]]:
        """Prompt, γ and verdict wherever texts part."""
        return [(*key, verdict) for key, verdict in self._verdicts.items() if verdict.difference is not None]

    @property
    def has_bug(self) -> bool:
        """Whether texts part where rounding does not explain it."""
        verdicts = self._verdicts.values()
        return any(verdict.difference is not None and not verdict.difference.near_tie for verdict in verdicts)

    def prompt_rows(self) -> Iterator[Row]:
        """Every prompt that ran, plain first, then by γ."""
        for prompt in self._categories:
            yield from self._rows(prompt, [prompt])

    def category_rows(self) -> Iterator[Row]:
        """Every category, then all of them together."""
        for category in dict.fromkeys(self._categories.values()):
            yield from self._rows(category, [p for p, c in self._categories.items() if c == category])
        yield from self._rows("all", self._categories)

    def summary(self) -> list[SummaryRow]:
        return [_summary_row(row) for row in self.prompt_rows()]

    def _rows(self, name: str, prompts: Iterable[str]) -> Iterator[Row]:
        prompts = list(prompts)
        runs = [run for prompt in prompts for run in self.of(prompt)]
        plain = [run for run in runs if run.gamma == 0]
        if plain:
            yield Row(name, 0, figures(plain), ())
        pairs = [pair for prompt in prompts for pair in paired(self.of(prompt))]
        for gamma, members in _by_gamma(pairs).items():
            verdicts = tuple(self._verdicts.get((prompt, gamma), UNCOMPARED) for prompt in prompts)
            yield Row(name, gamma, figures([pair.speculative for pair in members], members), verdicts)


def _by_gamma(pairs: Sequence[RunPair]) -> dict[Gamma, list[RunPair]]:
    gammas = sorted({pair.speculative.gamma for pair in pairs}, key=in_order)
    return {gamma: [pair for pair in pairs if pair.speculative.gamma == gamma] for gamma in gammas}


def _summary_row(row: Row) -> SummaryRow:
    found, shares = row.figures, row.figures.shares
    verdict = row.verdicts[0] if row.verdicts else UNCOMPARED
    return SummaryRow(
        prompt=row.name,
        gamma=row.gamma,
        tok_per_s=found.tok_per_s,
        speedup_median=found.speedup_median,
        acceptance_rate=found.acceptance_rate,
        tokens_per_pass=found.tokens_per_pass,
        predicted_speedup=found.predicted_speedup,
        overhead_share=shares.overhead if shares else None,
        same_text=verdict.same,
        first_difference=verdict.difference,
    )
