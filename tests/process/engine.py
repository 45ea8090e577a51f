"""A real engine process and the window's end of its pipe."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import TypeVar

import psutil

from desktop_app.core.rounds import emitted_ids
from desktop_app.core.settings import AnswerSettings, ModelSettings, Sampling, Speculation
from desktop_app.protocol.framing import encode, event_reader
from desktop_app.protocol.messages import (
    AnyCommand,
    AnyEvent,
    Cancel,
    Cancelled,
    ChatMessage,
    Explained,
    Failed,
    Finished,
    Generate,
    Loaded,
    Role,
    RoundDone,
)

ROOT = Path(__file__).parents[2]
PATIENCE_S = 30.0
N_CTX = 2048

CANCELLED_WITHIN_S = 2.0
"""The goal is 1 s; the rest is for a machine that does something else as well."""

QUESTION = "Why is the sky blue?"
STORY = "Write a long story about a dragon."
"""Its answer is longer than 200 tokens."""

LONG = "The quick brown fox jumps over the lazy dog. " * 150
"""About 1,500 tokens."""

_CHUNK_BYTES = 65536
_REST_S = 0.5
_REST_CPU_S = 0.05

Wanted = TypeVar("Wanted", bound=AnyEvent)


class EngineEnded(AssertionError):
    """The pipe ended before the event that was waited for."""


class Engine:
    """`events` holds everything that was read so far. What the engine logs goes to this process's standard error."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            (sys.executable, "-m", "desktop_app", "--engine"),
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
        )
        self.events: list[AnyEvent] = []
        self._seen = 0
        self._reader = event_reader()

    def send(self, command: AnyCommand) -> None:
        self.write(encode(command))

    def write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)

    def hang_up(self) -> None:
        """As if the window were gone."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    def until(self, wanted: type[Wanted], timeout_s: float = PATIENCE_S) -> Wanted:
        """The next event of this kind; what came before it is passed over.

        Raises EngineEnded at the end of the pipe.
        """
        deadline = time.monotonic() + timeout_s
        while True:
            while self._seen < len(self.events):
                event = self.events[self._seen]
                self._seen += 1
                if isinstance(event, wanted):
                    return event
            self._receive(wanted, deadline)

    def of(self, kind: type[Wanted], request: int) -> list[Wanted]:
        """Everything of this kind read so far about a request."""
        return [
            event for event in self.events if isinstance(event, kind) and getattr(event, "request", None) == request
        ]

    def endings(self, request: int) -> list[AnyEvent]:
        return [
            event
            for event in self.events
            if isinstance(event, Loaded | Finished | Explained | Cancelled | Failed) and event.request == request
        ]

    def answer(self, request: int, text: str = QUESTION) -> list[int]:
        """The ids of an answer that is asked for now."""
        self.send(ask(request, text))
        assert self.until(Finished).request == request
        return self.ids(request)

    def ids(self, request: int) -> list[int]:
        rounds = [event.round for event in self.of(RoundDone, request)]
        assert [round_.broken_rule() for round_ in rounds] == [None] * len(rounds)
        return emitted_ids(rounds)

    def text(self, request: int) -> str:
        """What a finished answer says."""
        [finished] = self.of(Finished, request)
        rounds = [event.round for event in self.of(RoundDone, request)]
        return "".join(token.text for round_ in rounds for token in round_.emitted)[: finished.visible]

    def cancel(self, request: int) -> None:
        """Cancel, and see it cancelled in time."""
        asked_at = time.monotonic()
        self.send(Cancel(request))
        assert self.until(Cancelled).request == request
        assert time.monotonic() - asked_at < CANCELLED_WITHIN_S

    def narrow_output(self) -> None:
        """Let the pipe hold one page of memory, so that a handful of rounds fills it."""
        assert self.process.stdout is not None
        fcntl.fcntl(self.process.stdout.fileno(), fcntl.F_SETPIPE_SZ, os.sysconf("SC_PAGE_SIZE"))

    def come_to_rest(self) -> None:
        """Read nothing until the process computes no more: it has no work left, or is stuck."""
        process = psutil.Process(self.process.pid)
        deadline = time.monotonic() + PATIENCE_S
        before, now = -1.0, _cpu_s(process)
        while now - before > _REST_CPU_S:
            assert time.monotonic() < deadline, f"still computing after {PATIENCE_S} s"
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(_REST_S)
            before, now = now, _cpu_s(process)

    def close(self) -> None:
        """Kill it if it still runs, and free the pipes."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()

    def _receive(self, wanted: type[Wanted], deadline: float) -> None:
        assert self.process.stdout is not None
        fd = self.process.stdout.fileno()
        ready, _, _ = select.select([fd], [], [], max(0.0, deadline - time.monotonic()))
        assert ready, f"no {wanted.__name__} in time; the last events were {self.events[-2:]}"
        chunk = os.read(fd, _CHUNK_BYTES)
        if not chunk:
            raise EngineEnded
        self.events += self._reader.feed(chunk)


def settings(path: Path | str, n_ctx: int = N_CTX, threads: int = 0) -> ModelSettings:
    return ModelSettings(str(path), n_ctx=n_ctx, threads=threads)


def ask(request: int, text: str = QUESTION, max_tokens: int = 24) -> Generate:
    """Greedy and speculating."""
    return Generate(
        request,
        (ChatMessage(Role.USER, text),),
        AnswerSettings(Sampling(temperature=0.0), Speculation(gamma=4), max_tokens),
    )


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)
