"""The engine process: reads commands, does them one at a time, reports events.

Two threads only move bytes; everything else happens on the main thread. The engine never waits for the window, and ends
itself when the window is gone.
"""

from __future__ import annotations

import logging
import os
import queue
import secrets
import sys
import threading
from collections.abc import Callable

from desktop_app.core.errors import Blame, DraftglassError, Fault, Problem
from desktop_app.engine.calibration import calibrate
from desktop_app.engine.divergence import explain
from desktop_app.engine.llama import backend
from desktop_app.engine.llama.abort import AbortFlag
from desktop_app.engine.llama.context import Aborted
from desktop_app.engine.llama.model import LoadAborted
from desktop_app.engine.pair import LoadedModel, Pair
from desktop_app.engine.pipe import EventPipe, read_commands
from desktop_app.engine.prompt import fit_prompt
from desktop_app.protocol.messages import (
    PROTOCOL_VERSION,
    AnyCommand,
    Calibrated,
    Cancel,
    Cancelled,
    Count,
    Counted,
    Explain,
    Explained,
    Failed,
    Generate,
    Load,
    Loaded,
    LoadProgress,
    Part,
    Ready,
    Shutdown,
    TurnsLeftOut,
    Unload,
    Unloaded,
)

logger = logging.getLogger(__name__)

_PROGRESS_STEP = 0.01
"""Load progress is reported in steps of this fraction; llama.cpp calls once per tensor."""

_EXIT_GRACE_S = 3.0
"""How long a pass may go on after the window is gone."""


def main() -> int:
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    # Frames own the real standard output; whatever else prints there goes to the log.
    output = os.dup(1)
    os.dup2(2, 1)
    worker = Worker(EventPipe(output))
    worker.run(input_fd=0)
    return 0


class Cancellation:
    """Which request runs, and which were cancelled before they began. Shared by the reading and the working thread."""

    def __init__(self, abort: AbortFlag) -> None:
        self._abort = abort
        self._lock = threading.Lock()
        self._running: int | None = None
        self._early: set[int] = set()
        self._last = 0
        self._all = False

    def cancel(self, request: int) -> None:
        with self._lock:
            if request == self._running:
                self._abort.set()
            elif request > self._last:
                self._early.add(request)

    def cancel_all(self) -> None:
        """For good: what runs, what waits, and what is yet to come."""
        with self._lock:
            self._all = True
            self._abort.set()

    def begin(self, request: int) -> None:
        """Raises Aborted where the request was cancelled while it waited."""
        with self._lock:
            self._running, self._last = request, request
            if self._all or request in self._early:
                self._early.discard(request)
                raise Aborted

    def end(self) -> None:
        with self._lock:
            self._running = None
            if not self._all:
                self._abort.clear()


class Worker:
    def __init__(self, pipe: EventPipe) -> None:
        self._pipe = pipe
        self._abort = AbortFlag()
        self._cancellation = Cancellation(self._abort)
        self._commands: queue.SimpleQueue[AnyCommand] = queue.SimpleQueue()
        self._pair = Pair(self._abort)
        self._next: AnyCommand | None = None
        """Taken from the queue already."""
        self._calibration_due = False

    def run(self, *, input_fd: int) -> None:
        """Work until Shutdown or end-of-file."""
        reader = threading.Thread(target=self._read, args=(input_fd,), name="commands", daemon=True)
        reader.start()
        self._pipe.send(Ready(PROTOCOL_VERSION, backend.VERSION, backend.supports_gpu(), backend.devices()))
        while not isinstance(command := self._take(), Shutdown):
            self._do(command)
            if self._calibration_due and not self._wanted():
                self._calibrate()
        self._pair.unload()
        self._pipe.close()

    def _read(self, input_fd: int) -> None:
        """The reading thread: Cancel acts at once, everything else waits for its turn."""
        for command in read_commands(input_fd):
            if isinstance(command, Cancel):
                self._cancellation.cancel(command.request)
            else:
                self._commands.put(command)
        # The window is gone: stop what runs, and don't let a stuck driver keep the process.
        self._cancellation.cancel_all()
        self._commands.put(Shutdown())
        last_resort = threading.Timer(_EXIT_GRACE_S, os._exit, (1,))
        last_resort.daemon = True
        last_resort.start()

    def _take(self) -> AnyCommand:
        """The next command; waits for one."""
        command, self._next = self._next, None
        return self._commands.get() if command is None else command

    def _wanted(self) -> bool:
        """Whether a command waits that needs the models to itself. Counts are answered right here."""
        while self._next is None:
            try:
                self._next = self._commands.get_nowait()
            except queue.Empty:
                return False
            if isinstance(self._next, Count):
                count, self._next = self._next, None
                self._count(count)
        return True

    def _do(self, command: AnyCommand) -> None:
        match command:
            case Load():
                self._calibration_due = self._answer(command.request, lambda: self._load(command))
            case Generate():
                self._answer(command.request, lambda: self._generate(command))
            case Explain():
                self._answer(command.request, lambda: self._explain(command))
            case Count():
                self._count(command)
            case Unload():
                self._calibration_due = False
                self._pair.unload()
                self._pipe.send(Unloaded())

    def _answer(self, request: int, work: Callable[[], None]) -> bool:
        """Do the work of a request; end it with exactly one event. True where it succeeded."""
        try:
            self._cancellation.begin(request)
            work()
        except (Aborted, LoadAborted):
            self._pipe.send(Cancelled(request))
            return False
        except DraftglassError as error:
            self._pipe.send(Failed(request, error.problem))
            return False
        except MemoryError:
            self._pipe.send(Failed(request, _OUT_OF_MEMORY))
            return False
        except Exception as error:
            logger.exception("request %d failed", request)
            self._pipe.send(
                Failed(request, Problem(f"The engine failed: {error!r}.", "Please report it with the log."))
            )
            return False
        finally:
            self._cancellation.end()
        return True

    def _load(self, command: Load) -> None:
        reported: dict[Part, float] = {}

        def report(part: Part, fraction: float) -> None:
            if fraction - reported.get(part, -1.0) >= _PROGRESS_STEP or fraction >= 1:
                reported[part] = fraction
                self._pipe.send(LoadProgress(command.request, part, fraction))

        self._pair.load(command.target, command.draft, report)
        target, draft = self._pair.target, self._pair.draft
        assert target is not None
        self._pipe.send(Loaded(command.request, target.facts, draft.facts if draft else None, self._pair.draft_problem))

    def _calibrate(self) -> None:
        try:
            costs = calibrate(self._pair, interrupted=self._wanted)
        except Aborted:
            costs = None
        except DraftglassError as error:
            logger.warning("the passes could not be timed: %s", error)
            costs = None
        self._calibration_due = costs is None
        if costs is not None:
            self._pair.experience.calibrate(costs)
        self._pipe.send(Calibrated(costs))

    def _generate(self, command: Generate) -> None:
        target = self._loaded_target()
        prompt = fit_prompt(target, command.messages, command.settings)
        if prompt.problem is not None:
            raise DraftglassError(prompt.problem)
        if prompt.left_out:
            self._pipe.send(TurnsLeftOut(command.request, prompt.left_out))
        seed = command.settings.sampling.seed
        seed = secrets.randbits(32) if seed is None else seed
        generation = self._pair.generation(command.request, prompt.tokens, command.settings, seed=seed)
        for event in generation.events():
            self._pipe.send(event)

    def _explain(self, command: Explain) -> None:
        target = self._loaded_target()
        prompt = fit_prompt(target, command.messages, command.settings)
        self._pipe.send(Explained(command.request, explain(target, prompt.tokens, command.texts)))

    def _loaded_target(self) -> LoadedModel:
        if self._pair.target is None:
            raise DraftglassError(_NO_MODEL)
        return self._pair.target

    def _count(self, command: Count) -> None:
        """Say how long a prompt would be, unless something newer is asked for or it can't be said."""
        target = self._pair.target
        if target is None or not self._commands.empty():
            return
        try:
            prompt = fit_prompt(target, command.messages, command.settings)
        except DraftglassError as error:
            logger.info("a prompt could not be counted: %s", error)
            return
        newest = target.model.vocabulary.tokenize(command.messages[-1].content, add_special=False)
        self._pipe.send(
            Counted(command.request, len(newest), len(prompt.tokens), prompt.left_out, problem=prompt.problem)
        )


_NO_MODEL = Problem("No model is loaded.", "Choose a target model first.", Blame.USER, Fault.NO_MODEL)

_OUT_OF_MEMORY = Problem(
    "The machine is out of memory.",
    "Set a smaller context in the model settings, or choose a smaller model.",
    Blame.ENVIRONMENT,
    Fault.OUT_OF_MEMORY,
)
