"""A real engine process and the window's end of its pipe."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from typing import TypeVar

from desktop_app.protocol.framing import encode, event_reader
from desktop_app.protocol.messages import AnyCommand, AnyEvent

ARGV = (sys.executable, "-m", "desktop_app", "--engine")
PATIENCE_S = 60.0

Wanted = TypeVar("Wanted", bound=AnyEvent)


class EngineEnded(AssertionError):
    """The pipe ended before the event that was waited for."""


class Engine:
    """`events` holds everything the engine said so far."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            ARGV, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
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

    def until(self, wanted: type[Wanted]) -> Wanted:
        """The next event of this kind; what came before it is passed over."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            while self._seen < len(self.events):
                event = self.events[self._seen]
                self._seen += 1
                if isinstance(event, wanted):
                    return event
            self._receive(deadline)

    def of(self, kind: type[Wanted], request: int) -> list[Wanted]:
        """Everything of this kind said so far about a request."""
        return [event for event in self.events if isinstance(event, kind) and getattr(event, "request", 0) == request]

    def _receive(self, deadline: float) -> None:
        assert self.process.stdout is not None
        fd = self.process.stdout.fileno()
        ready, _, _ = select.select([fd], [], [], max(0.0, deadline - time.monotonic()))
        assert ready, f"nothing came for {PATIENCE_S} s after {self.events[-1:]}"
        chunk = os.read(fd, 65536)
        if not chunk:
            raise EngineEnded
        self.events += self._reader.feed(chunk)

    def close(self) -> None:
        """Kill it if it still runs, and free the pipes."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()
