"""`draftglass bench`: loads the pair, runs the deck, prints what came out. Headless; never imports Qt."""

from __future__ import annotations

import logging
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from desktop_app.bench import report
from desktop_app.bench.deck import load_deck
from desktop_app.bench.measure import Measurer, Prepared
from desktop_app.bench.options import Options, parse
from desktop_app.bench.plan import run_count
from desktop_app.bench.results import Results
from desktop_app.bench.runner import RunDone, RunStarting, TextsCompared, run_deck
from desktop_app.core.errors import DraftglassError
from desktop_app.engine.llama.abort import AbortFlag
from desktop_app.engine.llama.context import Aborted
from desktop_app.engine.llama.model import LoadAborted
from desktop_app.engine.pair import Pair
from desktop_app.protocol.messages import Part

DONE, BAD_INPUT, TEXT_BUG, INTERRUPTED = 0, 2, 3, 130


def main(argv: Sequence[str]) -> int:
    """Returns the exit code; see `--help`."""
    options = parse(argv)
    # llama.cpp's errors reach the user as the text of a problem; its log would only repeat them.
    logging.basicConfig(handlers=[logging.NullHandler()])
    abort = AbortFlag()
    pair = Pair(abort)
    try:
        with _interrupt_sets(abort):
            return _bench(pair, options, argv)
    except DraftglassError as error:
        print(f"draftglass bench: {error}", file=sys.stderr)
        return BAD_INPUT
    except (Aborted, LoadAborted, KeyboardInterrupt):
        return INTERRUPTED
    finally:
        pair.unload()


def _bench(pair: Pair, options: Options, argv: Sequence[str]) -> int:
    deck = load_deck(options.deck)
    if options.only:
        deck = deck.only(options.only)
    with _progress() as progress:
        _load(pair, options, progress)
        measurer = Measurer(pair, options.settings)
        prompts = [measurer.prepare(prompt) for prompt in deck.prompts]
        results = Results({prompt.id: prompt.category for prompt in prompts})
        interrupted = _run(measurer, prompts, options, results, progress)
    if results.records:
        report.print_results(report.console(), results)
    if options.json is not None:
        facts = [loaded.facts if loaded else None for loaded in (pair.target, pair.draft)]
        assert facts[0] is not None
        where, what = report.machine(facts[0].threads), report.versions(facts[0], facts[1], argv)
        report.write_json(options.json, report.report(results, where, what))
    if interrupted:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    return TEXT_BUG if results.has_bug else DONE


def _load(pair: Pair, options: Options, progress: Progress) -> None:
    bars = {part: progress.add_task(f"loading {part}", total=100) for part in _parts(options)}

    def report_fraction(part: Part, fraction: float) -> None:
        progress.update(bars[part], completed=int(100 * fraction), refresh=True)

    pair.load(options.target, options.draft, report_fraction)
    if pair.draft_problem is not None:
        raise DraftglassError(pair.draft_problem)
    for bar in bars.values():
        progress.remove_task(bar)


def _parts(options: Options) -> Sequence[Part]:
    return (Part.TARGET,) if options.draft is None else (Part.TARGET, Part.DRAFT)


def _run(
    measurer: Measurer, prompts: Sequence[Prepared], options: Options, results: Results, progress: Progress
) -> bool:
    """Fill the results; True where it was interrupted.

    The bar is drawn between runs only, so that drawing costs no time that is measured.
    """
    bar = progress.add_task("warming up", total=len(prompts) * run_count(options.gammas, options.repeats))
    progress.refresh()
    try:
        for event in run_deck(measurer, prompts, options.gammas, options.repeats):
            match event:
                case RunStarting(prompt, planned):
                    what = f"γ {planned.gamma}" if planned.gamma else "plain"
                    progress.update(bar, description=f"{prompt} {what}", refresh=True)
                case RunDone(record):
                    results.add(record)
                    progress.update(bar, advance=1)
                case TextsCompared(prompt, gamma, verdict):
                    results.judge(prompt, gamma, verdict)
    except Aborted:
        return True
    return False


def _progress() -> Progress:
    """On standard error, and only where somebody watches."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=console, auto_refresh=False, transient=True, disable=not console.is_terminal)


@contextmanager
def _interrupt_sets(abort: AbortFlag) -> Iterator[None]:
    """Ctrl+C stops the pass that runs, so that the engine ends in order; a second one ends the program at once."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        abort.set()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
