"""An engine process that plays a script: it speaks the protocol on stdin and stdout and loads no model.

`argv(Script(...))` is what `EngineClient` takes. Every command received is appended to the script's journal, one word
and its JSON a line, so that a test can say what the engine was asked for.
"""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from enum import StrEnum
from itertools import count
from pathlib import Path
from typing import BinaryIO, TypeVar

import msgspec

from desktop_app.core.difference import Difference
from desktop_app.core.errors import Problem
from desktop_app.core.facts import Costs, Device, MemoryKind, ModelFacts, Rollback
from desktop_app.core.rounds import EMITTED, Kind, Round, Seconds, Token
from desktop_app.core.settings import AnswerSettings, ModelSettings
from desktop_app.protocol import framing
from desktop_app.protocol.messages import (
    PROTOCOL_VERSION,
    AnyCommand,
    AnyEvent,
    Calibrated,
    Cancel,
    Cancelled,
    Count,
    Counted,
    Explain,
    Explained,
    Failed,
    Finished,
    Generate,
    Load,
    Loaded,
    LoadProgress,
    Part,
    Prefilling,
    Ready,
    RoundDone,
    Shutdown,
    Stop,
    TurnsLeftOut,
    Unload,
    Unloaded,
)

Recorded = TypeVar("Recorded", Load, Generate, Explain, Count)

_AUTO_GAMMA = 4
"""What this engine drafts where γ is left to it."""

ROOT = Path(__file__).parents[2]
LIFETIME_S = 60.0
"""A fake that nobody ends goes by itself, so that a failing test leaks nothing for long."""

STRAY = 999_999

PROCESSOR = Device("CPU", "A processor", 16_000_000_000, 16_000_000_000, is_gpu=False)

WORDS = ("One ", "two ", "three ", "four ", "five ", "six ", "seven ", "eight ", "nine ", "ten.")


class Phase(StrEnum):
    """Where the script may go wrong."""

    START = "start"
    """Before Ready."""
    IDLE = "idle"
    """Right after Ready."""
    LOAD = "load"
    """After the first progress of a load."""
    PREFILL = "prefill"
    """After the first progress through the prompt."""
    STREAM = "stream"
    """After the first `good_rounds` rounds."""
    EXPLAIN = "explain"
    """Before the answer to Explain."""


class Mishap(StrEnum):
    """What goes wrong there."""

    STALL = "stall"
    """Nothing more comes, but Cancel is answered."""
    HANG = "hang"
    """Nothing more comes, whatever is asked."""
    ABORT = "abort"
    """Dies by SIGABRT, as GGML_ASSERT does."""
    EXIT = "exit"
    """Ends with exit code 3."""
    GARBAGE = "garbage"
    """Writes plain text to stdout."""


class Script(msgspec.Struct, frozen=True):
    phase: Phase | None = None
    mishap: Mishap = Mishap.STALL
    misbehaving_runs: int = 1_000
    """How many processes, counted in the journal, go wrong; those after them behave."""
    last_words: str = ""
    """Written to stderr before the mishap."""
    ready_after_s: float = 0.0
    protocol: int = PROTOCOL_VERSION
    load_problem: Problem | None = None
    draft_problem: Problem | None = None
    generate_problem: Problem | None = None
    """Answers every Generate."""
    speculation_problem: Problem | None = None
    difference: Difference | None = None
    """Answers every Explain."""
    parts_at: int | None = None
    """Place of a token that drafted answers write differently."""
    costs: Costs | None = None
    """Sent after Loaded."""
    words: tuple[str, ...] = WORDS
    """The tokens of the answer."""
    rounds: tuple[Round, ...] | None = None
    """Sent as they are; without them `rounds_of` makes rounds from `words`."""
    rounds_per_s: float = 0.0
    """0 sends as fast as the pipe takes them."""
    good_rounds: int = 2
    stray: bool = False
    """Sends events of a request that nobody made before those of the answer."""
    tail: str = ""
    left_out: int = 0
    """Oldest turns said to be left out of every prompt."""
    count_problem: Problem | None = None
    """Comes with every count."""
    ignore_shutdown: bool = False
    journal: str = ""


def argv(script: Script) -> list[str]:
    """The command that starts a process playing `script`."""
    start = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from tests.fakes.scripted_engine import main; main()"
    return [sys.executable, "-c", start, msgspec.json.encode(script).decode()]


def journal(path: Path) -> list[str]:
    """The commands received so far, by name; "Start" for every process."""
    return [line.split(" ", 1)[0] for line in path.read_text().splitlines()] if path.exists() else []


def journal_of(path: Path, kind: type[Recorded]) -> list[Recorded]:
    """The commands of one kind, in full."""
    lines = (line.split(" ", 1) for line in path.read_text().splitlines())
    return [msgspec.json.decode(body, type=kind) for name, body in lines if name == kind.__name__]


def facts(model: ModelSettings) -> ModelFacts:
    return ModelFacts(
        path=model.path,
        name=Path(model.path).stem,
        description="scripted 1M Q8_0",
        size_bytes=1_000_000,
        n_vocab=1000,
        n_ctx=model.n_ctx,
        n_ctx_train=model.n_ctx,
        n_layers=2,
        gpu_layers=0,
        threads=1,
        batch_threads=1,
        cache_k=model.cache_k,
        cache_v=model.cache_v,
        flash_attention=True,
        cache_bytes=20_000_000,
        compute_bytes=10_000_000,
        template="model",
        memory=MemoryKind.ATTENTION,
        rollback=Rollback.REMOVAL,
    )


def rounds_of(words: tuple[str, ...], gamma: int) -> Iterator[Round]:
    """Rounds that write `words`: plain for γ = 0, else by turns all accepted and the first refused."""
    position, index, at = 10, 0, 0
    while at < len(words):
        taken = 1 if gamma == 0 else (gamma + 1 if index % 2 == 0 else 1)
        tokens = tuple(_tokens(words[at : at + taken], gamma, first_id=at))
        seconds = Seconds(draft=0.002 * gamma, verify=0.01, sample=0.001, rest=0.0005)
        drafted = sum(token.kind in {Kind.ACCEPTED, Kind.REJECTED, Kind.DISCARDED} for token in tokens)
        yield Round(index, position, drafted, tokens, seconds)
        position, index, at = position + taken, index + 1, at + taken


def _tokens(words: tuple[str, ...], gamma: int, first_id: int) -> Iterator[Token]:
    *drafted, own = words
    for i, word in enumerate(drafted):
        yield Token(first_id + i, word, Kind.ACCEPTED, p=0.9, q=0.8, chance=1.0)
    if gamma and not drafted:
        yield Token(900, "wrong ", Kind.REJECTED, p=0.1, q=0.6, chance=0.17)
        for i in range(1, gamma):
            yield Token(900 + i, "lost ", Kind.DISCARDED, q=0.5)
    kind = Kind.PLAIN if gamma == 0 else (Kind.BONUS if drafted else Kind.CORRECTED)
    yield Token(first_id + len(drafted), own, kind, p=0.7)


def parted(rounds: Iterable[Round], at: int) -> Iterator[Round]:
    """The same rounds, with another token written at place `at`."""
    places = count()

    def other(token: Token) -> Token:
        wrong = token.kind in EMITTED and next(places) == at
        return replace(token, id=token.id + 500, text="other ") if wrong else token

    for round_ in rounds:
        yield replace(round_, tokens=tuple(map(other, round_.tokens)))


class Ended(Exception):
    """The window closed the pipe or asked for the end."""


class ScriptedEngine:
    """Plays one script over a pair of pipes."""

    def __init__(self, script: Script, source: BinaryIO, sink: BinaryIO) -> None:
        self._script = script
        self._sink = sink
        self._commands: queue.SimpleQueue[AnyCommand | None] = queue.SimpleQueue()
        self._well = script.phase is None or self._runs_before() >= script.misbehaving_runs
        self._pair: Load | None = None
        self._note("Start")
        threading.Thread(target=self._read, args=(source,), daemon=True).start()

    def run(self) -> None:
        try:
            self._start()
            while True:
                self._obey(self._next())
        except Ended:
            pass

    def _start(self) -> None:
        self._wait(self._script.ready_after_s)
        self._mishap(Phase.START, None)
        self._send(Ready(self._script.protocol, "0.3.36", False, (PROCESSOR,)))
        self._mishap(Phase.IDLE, None)

    def _obey(self, command: AnyCommand) -> None:
        match command:
            case Load():
                self._load(command)
            case Generate():
                self._generate(command)
            case Explain():
                if self._mishap(Phase.EXPLAIN, command.request):
                    self._send(Explained(command.request, self._script.difference))
            case Count():
                self._count(command)
            case Unload():
                self._pair = None
                self._send(Unloaded())
            case _:
                pass

    def _load(self, load: Load) -> None:
        self._send(LoadProgress(load.request, Part.TARGET, 0.43))
        if not self._mishap(Phase.LOAD, load.request):
            return
        if self._script.load_problem is not None:
            self._send(Failed(load.request, self._script.load_problem))
            return
        self._pair = load
        refused = self._script.draft_problem if load.draft else None
        draft = facts(load.draft) if load.draft and refused is None else None
        self._send(Loaded(load.request, facts(load.target), draft, refused))
        if self._script.costs is not None:
            self._send(Calibrated(self._script.costs))

    def _generate(self, generate: Generate) -> None:
        request, script = generate.request, self._script
        if script.generate_problem is not None:
            self._send(Failed(request, script.generate_problem))
            return
        if script.stray:
            self._send(RoundDone(STRAY, next(rounds_of(("stray",), 0)), 5, 1))
            self._send(Finished(STRAY, Stop.END, 5, "", 1, None, 0.0))
        if script.left_out:
            self._send(TurnsLeftOut(request, script.left_out))
        self._send(Prefilling(request, 5, 10, 0))
        if not self._mishap(Phase.PREFILL, request):
            return
        self._send(Prefilling(request, 10, 10, 0))
        if self._stream(request, generate.settings):
            self._send(
                Finished(request, Stop.END, self._visible, script.tail, 1, 0.05, 0.04, script.speculation_problem)
            )

    def _count(self, count: Count) -> None:
        """A token a word."""
        if self._pair is not None:
            words = [len(message.content.split()) for message in count.messages]
            script = self._script
            self._send(Counted(count.request, words[-1], sum(words), script.left_out, script.count_problem))

    def _stream(self, request: int, settings: AnswerSettings) -> bool:
        """Send the rounds; False if cancelled on the way."""
        script = self._script
        gamma = self._gamma(settings)
        rounds = script.rounds or tuple(rounds_of(script.words, gamma))
        if gamma and script.parts_at is not None:
            rounds = tuple(parted(rounds, script.parts_at))
        self._visible = 0
        started = time.monotonic()
        for sent, round_ in enumerate(rounds):
            if sent == script.good_rounds and not self._mishap(Phase.STREAM, request):
                return False
            due = started + sent / script.rounds_per_s if script.rounds_per_s else 0.0
            if self._cancelled_before(due, request):
                self._send(Cancelled(request))
                return False
            self._visible += sum(len(token.text) for token in round_.emitted)
            self._send(RoundDone(request, round_, self._visible, round_.position + len(round_.emitted)))
        return True

    def _gamma(self, settings: AnswerSettings) -> int:
        speculation = settings.speculation
        usable = speculation.source.uses_lookup or (
            speculation.source.uses_model and self._pair is not None and self._pair.draft is not None
        )
        gamma = _AUTO_GAMMA if speculation.gamma is None else speculation.gamma
        return gamma if speculation.enabled and usable and not self._script.speculation_problem else 0

    def _mishap(self, phase: Phase, request: int | None) -> bool:
        """Go wrong here if the script says so; True if nothing happened."""
        if self._well or phase is not self._script.phase:
            return True
        print(self._script.last_words, file=sys.stderr, flush=True)
        match self._script.mishap:
            case Mishap.ABORT:
                os.kill(os.getpid(), signal.SIGABRT)
            case Mishap.EXIT:
                os._exit(3)
            case Mishap.GARBAGE:
                self._sink.write(b"llama_model_load: this is no message\n")
                self._sink.flush()
            case Mishap.STALL if request is not None:
                while not self._cancelled_before(time.monotonic() + LIFETIME_S, request):
                    pass
                self._send(Cancelled(request))
                return False
            case _:
                pass
        self._wait(LIFETIME_S)
        return False

    def _cancelled_before(self, due: float, request: int) -> bool:
        """Wait until the monotonic time `due`; True as soon as a Cancel of `request` is there."""
        while True:
            try:
                command = self._next(max(0.0, due - time.monotonic()))
            except queue.Empty:
                return False
            if isinstance(command, Cancel) and command.request == request:
                return True

    def _next(self, timeout_s: float | None = None) -> AnyCommand:
        command = self._commands.get(block=timeout_s != 0, timeout=timeout_s)
        if command is None or (isinstance(command, Shutdown) and not self._script.ignore_shutdown):
            raise Ended
        return command

    def _wait(self, seconds: float) -> None:
        """Deaf for that long, except to the end of the pipe."""
        due = time.monotonic() + seconds
        while (left := due - time.monotonic()) > 0:
            try:
                self._next(left)
            except queue.Empty:
                return

    def _read(self, source: BinaryIO) -> None:
        reader = framing.command_reader()
        while chunk := os.read(source.fileno(), 65536):
            for command in reader.feed(chunk):
                self._note(type(command).__name__, msgspec.json.encode(command).decode())
                self._commands.put(command)
        if self._script.ignore_shutdown:
            return
        self._commands.put(None)

    def _send(self, event: AnyEvent) -> None:
        self._sink.write(framing.encode(event))
        self._sink.flush()

    def _runs_before(self) -> int:
        path = Path(self._script.journal)
        return journal(path).count("Start") if self._script.journal else 0

    def _note(self, name: str, body: str = "{}") -> None:
        if self._script.journal:
            with Path(self._script.journal).open("a") as file:
                file.write(f"{name} {body}\n")


def main() -> None:
    script = msgspec.json.decode(sys.argv[1], type=Script)
    timer = threading.Timer(LIFETIME_S, os._exit, [9])
    timer.daemon = True
    timer.start()
    ScriptedEngine(script, sys.stdin.buffer, sys.stdout.buffer).run()
