"""Tokens per second now, and its course over the answer, from the rounds' own durations.

Time here is the engine's decoding time; when the window got to see a round plays no part.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from desktop_app.core.metrics import ratio
from desktop_app.core.rounds import Round

WINDOW_S = 1.5
"""Long enough to span a good and a bad round, short enough to follow the text."""
MIN_ROUNDS = 3
"""Fewer rounds say more about luck than about speed: the course starts behind them."""
MAX_POINTS = 240
"""About as many as the panel's chart has columns; painting more costs time and shows nothing."""


@dataclass(frozen=True, slots=True)
class RatePoint:
    """The rate at a moment of the answer."""

    at_s: float
    """Seconds of decoding since the answer's first round began."""
    tok_per_s: float


class LiveRate:
    """Grown by `add`. Memory stays bounded: a long course is thinned evenly, keeping its newest point."""

    def __init__(self, *, window_s: float = WINDOW_S, max_points: int = MAX_POINTS) -> None:
        self._window_s = window_s
        self._max_points = max_points
        self._recent: deque[tuple[int, float]] = deque()
        self._recent_tokens = 0
        self._recent_s = 0.0
        self._rounds = 0
        self._elapsed_s = 0.0
        self._spacing_s = 0.0
        self._kept: list[RatePoint] = []
        self._newest: RatePoint | None = None

    def add(self, round_: Round) -> None:
        tokens, seconds = len(round_.emitted), round_.seconds.total
        self._rounds += 1
        self._elapsed_s += seconds
        self._slide(tokens, seconds)
        now = self.now
        if now is not None and self._rounds >= MIN_ROUNDS:
            self._newest = RatePoint(self._elapsed_s, now)
            self._keep(self._newest)

    @property
    def now(self) -> float | None:
        """Emitted tokens per second over the shortest run of latest rounds that lasted at least the window."""
        return ratio(self._recent_tokens, self._recent_s)

    @property
    def points(self) -> tuple[RatePoint, ...]:
        """The course so far, oldest first, at most `max_points` + 1."""
        if self._newest is None or self._newest is self._kept[-1]:
            return tuple(self._kept)
        return (*self._kept, self._newest)

    def _slide(self, tokens: int, seconds: float) -> None:
        self._recent.append((tokens, seconds))
        self._recent_tokens += tokens
        self._recent_s += seconds
        while len(self._recent) > 1 and self._recent_s - self._recent[0][1] >= self._window_s:
            old_tokens, old_s = self._recent.popleft()
            self._recent_tokens -= old_tokens
            self._recent_s -= old_s

    def _keep(self, point: RatePoint) -> None:
        if self._kept and point.at_s - self._kept[-1].at_s < self._spacing_s:
            return
        self._kept.append(point)
        if len(self._kept) > self._max_points:
            self._kept = self._kept[::2]
            self._spacing_s = 2 * point.at_s / self._max_points
