"""How results look: the table on the screen and the JSON file. Decides nothing."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
import numpy as np
import psutil
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from desktop_app import __version__
from desktop_app.bench.record import RunRecord
from desktop_app.bench.results import Results, Row
from desktop_app.bench.summary import Figures, Shares, SummaryRow, TextVerdict
from desktop_app.core.difference import Difference
from desktop_app.core.errors import Blame, DraftglassError, Problem
from desktop_app.core.facts import Device, ModelFacts
from desktop_app.engine.llama import backend

UNKNOWN = "–"

TABLE_WIDTH = 132
"""Columns the table needs; a narrower terminal folds its lines rather than lose figures."""

_COLUMNS = ("γ", "tok/s", "speedup (min–max)", "α", "tok/pass", "draft verify sample other", "predicted")

_LEGEND = (
    "speedup: median of the pairs of neighbouring runs; α: accepted / (accepted + rejected);",
    "tok/pass: tokens a target pass; draft … other: % of the decoding time; predicted: speedup by the cost model;",
    "text: compared with the plain runs",
)


class Machine(msgspec.Struct, frozen=True):
    """Where the runs were made."""

    system: str
    architecture: str
    cores: int
    """Physical cores."""
    threads: int
    """Threads that a target pass used."""
    devices: tuple[Device, ...]
    """What llama.cpp can compute on."""


class Versions(msgspec.Struct, frozen=True):
    """What was run."""

    draftglass: str
    python: str
    llama_cpp_python: str
    numpy: str
    target: ModelFacts
    draft: ModelFacts | None
    arguments: tuple[str, ...]
    """The command line."""


class Report(msgspec.Struct, frozen=True):
    """The JSON file.

    `runs` stand in the order they were made. A prompt's runs come in pairs, plain and speculative side by side in
    either order; plain ones alone where nothing drafts. `summary` has a row a prompt and γ.
    """

    runs: Sequence[RunRecord]
    summary: Sequence[SummaryRow]
    machine: Machine
    versions: Versions


def machine(threads: int) -> Machine:
    return Machine(
        system=platform.platform(),
        architecture=platform.machine(),
        cores=psutil.cpu_count(logical=False) or psutil.cpu_count() or 1,
        threads=threads,
        devices=backend.devices(),
    )


def versions(target: ModelFacts, draft: ModelFacts | None, arguments: Sequence[str]) -> Versions:
    return Versions(
        draftglass=__version__,
        python=platform.python_version(),
        llama_cpp_python=backend.VERSION,
        numpy=np.__version__,
        target=target,
        draft=draft,
        arguments=tuple(arguments),
    )


def write_json(path: Path, report: Report) -> None:
    """Raises DraftglassError where the file can't be written."""
    try:
        path.write_bytes(msgspec.json.encode(report))
    except OSError as error:
        raise DraftglassError(
            Problem(f"{path} can't be written: {error.strerror}.", "Check the path and the space left.", Blame.USER)
        ) from error


def console() -> Console:
    """Standard output."""
    output = Console(highlight=False)
    return output if output.width >= TABLE_WIDTH else Console(highlight=False, width=TABLE_WIDTH)


def print_results(output: Console, results: Results) -> None:
    output.print(_table("prompt", results.prompt_rows()))
    output.print(_table("category", results.category_rows()))
    for line in _LEGEND:
        output.print(line, style="dim")
    for prompt, gamma, verdict in results.differences:
        assert verdict.difference is not None
        output.print(Text(f"{prompt}, γ {gamma}: {describe(verdict.difference)}"), soft_wrap=True)


def describe(difference: Difference) -> str:
    """A parting in a sentence."""
    ours = _token(difference.first_id, difference.first_text)
    theirs = _token(difference.second_id, difference.second_text)
    verdict = "a near-tie" if difference.near_tie else "BUG: rounding does not explain it"
    return (
        f"texts part at token {difference.index}: plain {ours}, speculative {theirs}; margin "
        f"{_number(difference.margin, '.2g')}, rounding difference {_number(difference.rounding, '.2g')}: {verdict}"
    )


def _table(what: str, rows: Iterable[Row]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column(what, no_wrap=True)
    for column in _COLUMNS:
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("text", no_wrap=True)
    last = None
    for row in rows:
        if last not in (None, row.name):
            table.add_section()
        table.add_row("" if row.name == last else row.name, *_cells(row), _verdict(row.verdicts))
        last = row.name
    return table


def _cells(row: Row) -> list[str]:
    figures = row.figures
    return [
        str(row.gamma) if row.gamma else "plain",
        _number(figures.tok_per_s, ".1f"),
        _speedup(figures),
        _number(figures.acceptance_rate, ".2f"),
        _number(figures.tokens_per_pass, ".2f"),
        _percentages(figures.shares),
        _number(figures.predicted_speedup, ".2f", "×"),
    ]


def _speedup(figures: Figures) -> str:
    speedups = figures.speedups
    return f"{figures.speedup_median:.2f}× ({speedups[0]:.2f}–{speedups[-1]:.2f})" if speedups else UNKNOWN


def _percentages(shares: Shares | None) -> str:
    """Set under the words of their column's head."""
    if shares is None:
        return UNKNOWN
    draft, verify, sample, other = (
        f"{100 * share:.1f}" for share in (shares.draft, shares.verify, shares.sample, shares.other)
    )
    return f"{draft:>5} {verify:>6} {sample:>6} {other:>5}"


def _verdict(verdicts: Sequence[TextVerdict]) -> str:
    """One prompt's verdict, or how many of a category's prompts part."""
    judged = [verdict for verdict in verdicts if verdict.same is not None]
    parted = [verdict.difference for verdict in judged if verdict.difference is not None]
    if not judged:
        return UNKNOWN
    if not parted:
        return "same"
    worst = "near-tie" if all(difference.near_tie for difference in parted) else "BUG"
    return f"{worst} at {parted[0].index}" if len(verdicts) == 1 else f"{len(parted)} of {len(judged)}: {worst}"


def _number(value: float | None, spec: str, unit: str = "") -> str:
    return UNKNOWN if value is None else f"{value:{spec}}{unit}"


def _token(token: int | None, text: str) -> str:
    return "ended" if token is None else f"{text!r} ({token})"


def report(results: Results, where: Machine, what: Versions) -> Report:
    return Report(results.records, results.summary(), where, what)
