"""A comparison as a JSON file: settings, every run with its rounds, figures, verdict, machine, versions. No Qt."""

from __future__ import annotations

import platform
from dataclasses import asdict

import msgspec
import psutil

from desktop_app import __version__
from desktop_app.core.difference import Difference
from desktop_app.core.errors import Problem
from desktop_app.core.facts import Device, ModelFacts
from desktop_app.core.rounds import Kind, Round
from desktop_app.core.settings import Sampling, Speculation
from desktop_app.protocol.messages import ChatMessage, Stop
from desktop_app.services.comparison_record import (
    ComparisonRecord,
    ComparisonState,
    Run,
    Side,
    SideFigures,
    Spread,
    Verdict,
)


class RunReport(msgspec.Struct, frozen=True):
    """One run, complete or not. `seconds` is decoding alone, the sum of the four parts, and leaves `prefill_s` out."""

    side: Side
    repeat: int
    """From 0; runs of one repeat are partners."""
    state: str
    stop: Stop | None
    """Why it ended; None where it did not finish."""
    tokens: int
    seconds: float
    tok_per_s: float | None
    prefill_s: float | None
    reused: int | None
    """Tokens of the prompt that the cache held already."""
    draft_s: float
    verify_s: float
    sample_s: float
    rest_s: float
    counts: dict[Kind, int]
    text: str
    token_ids: tuple[int, ...]
    rounds: tuple[Round, ...]


class SideReport(msgspec.Struct, frozen=True):
    """Settings of a side and its figures over the complete runs."""

    speculation: Speculation
    tok_per_s: Spread | None
    acceptance_rate: float | None
    tokens_per_pass: float | None


class SpeedupReport(msgspec.Struct, frozen=True):
    """B's speed over A's: of each pair of neighbouring runs, and over all pairs."""

    pairs: tuple[float | None, ...]
    spread: Spread | None


class VerdictReport(msgspec.Struct, frozen=True):
    expected_same: bool
    """Whether the settings make the texts the same, or only their distribution."""
    same: bool
    repeat: int | None
    """Of the pair that was judged."""
    first_difference: int | None
    """Index of the first token that differs, from 0."""
    difference: Difference | None
    """Its examination; its first text is A's."""


class Machine(msgspec.Struct, frozen=True):
    system: str
    architecture: str
    cores: int | None
    """Physical cores."""
    devices: tuple[Device, ...]
    """What llama.cpp can compute on."""


class Versions(msgspec.Struct, frozen=True):
    draftglass: str
    python: str
    llama_cpp_python: str | None


class ComparisonReport(msgspec.Struct, frozen=True):
    state: ComparisonState
    problem: Problem | None
    messages: tuple[ChatMessage, ...]
    sampling: Sampling
    max_tokens: int
    stop: tuple[str, ...]
    repeats: int
    sides: dict[Side, SideReport]
    speedup: SpeedupReport
    verdict: VerdictReport | None
    target: ModelFacts | None
    draft: ModelFacts | None
    machine: Machine
    versions: Versions
    runs: tuple[RunReport, ...]


def json_of(record: ComparisonRecord) -> bytes:
    """The file's content, laid out for human readers; takes a while for long answers."""
    return msgspec.json.format(msgspec.json.encode(report_of(record)))


def report_of(record: ComparisonRecord) -> ComparisonReport:
    plan, engine = record.plan, record.engine
    return ComparisonReport(
        state=record.state,
        problem=record.problem,
        messages=plan.messages,
        sampling=plan.answer.sampling,
        max_tokens=plan.answer.max_tokens,
        stop=plan.answer.stop,
        repeats=plan.repeats,
        sides={side: _side(plan.settings(side).speculation, record.figures(side)) for side in Side},
        speedup=SpeedupReport(tuple(pair.speedup for pair in record.pairs), record.speedup),
        verdict=_verdict(record.verdict) if record.verdict else None,
        target=record.target,
        draft=record.draft,
        machine=Machine(
            platform.system(), platform.machine(), psutil.cpu_count(logical=False), engine.devices if engine else ()
        ),
        versions=Versions(__version__, platform.python_version(), engine.llama_cpp_python if engine else None),
        runs=tuple(_run(run, run.repeat) for run in record.runs if run.repeat is not None),
    )


def _side(speculation: Speculation, figures: SideFigures) -> SideReport:
    return SideReport(speculation, figures.tok_per_s, figures.acceptance_rate, figures.tokens_per_pass)


def _verdict(verdict: Verdict) -> VerdictReport:
    return VerdictReport(verdict.expected, verdict.same, verdict.pair.a.repeat, verdict.parting, verdict.difference)


def _run(run: Run, repeat: int) -> RunReport:
    turn, tally = run.turn, run.turn.answer.tally
    parts = {f"{part}_s": seconds for part, seconds in asdict(tally.seconds).items()}
    return RunReport(
        side=run.side,
        repeat=repeat,
        state=turn.state,
        stop=turn.ending.stop if turn.ending else None,
        tokens=tally.tokens,
        seconds=tally.seconds.total,
        tok_per_s=tally.tok_per_s,
        prefill_s=turn.ending.prefill_s if turn.ending else None,
        reused=turn.prefill.reused if turn.prefill else None,
        counts=dict(tally.counts),
        text=turn.answer.shown,
        token_ids=run.token_ids,
        rounds=tuple(turn.answer.rounds),
        **parts,
    )
