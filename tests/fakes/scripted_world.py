"""A machine and a text that never were: every cost and every acceptance by script, time as their sum. No clock."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from desktop_app.core.acceptance import Drafted
from desktop_app.core.facts import Costs
from desktop_app.core.pacing import Pacer
from desktop_app.core.rounds import Kind, Round, Seconds, Token
from desktop_app.core.sampling import Distribution
from desktop_app.core.settings import GAMMA_MAX

Curve = Callable[[int], float]
"""C(n) / C(1)."""

Alpha = Callable[[int], float]
"""The chance that the draft is right about the token at this place of the answer."""

_CATCH_UP = 0.4
"""What a token that the draft only reads costs, relative to a draft step."""

_TOKEN = 7
_SUPPORT = Distribution(np.array([_TOKEN, _TOKEN + 1]), np.array([0.9, 0.1]))


@dataclass(frozen=True, slots=True)
class World:
    """Seconds are in plain passes of the start: C(1) = 1."""

    alpha: Alpha
    draft_cost: float
    """c"""
    curve: Curve
    drift: Alpha = lambda _place: 1.0
    """Factor on every cost at this place of the answer: a machine that heats up."""
    telling: bool = False
    """Whether the draft's own probability tells which of its tokens are right."""

    @property
    def costs(self) -> Costs:
        sizes = range(1, GAMMA_MAX + 2)
        return Costs(0, tuple((n, self.curve(n)) for n in sizes), self.draft_cost or None)

    def plain_seconds(self, tokens: int) -> float:
        return sum(self.drift(place) for place in range(tokens))

    def answer(self, pacer: Pacer, tokens: int, seed: int) -> list[Round]:
        """The rounds of an answer of that many tokens."""
        return list(_Answer(self, pacer, tokens, random.Random(seed)).rounds())


class _Answer:
    def __init__(self, world: World, pacer: Pacer, tokens: int, random_: random.Random) -> None:
        self._world = world
        self._pacer = pacer
        self._tokens = tokens
        self._random = random_
        self._written = 0
        self._lag = 1

    def rounds(self) -> Iterator[Round]:
        index = 0
        while self._written < self._tokens:
            yield self._round(index)
            index += 1

    def _round(self, index: int) -> Round:
        pacer, world, place = self._pacer, self._world, self._written
        pacer.begin(room=min(GAMMA_MAX, self._tokens - place - 1), depth=place)
        limit = pacer.limit(free=False, lag=self._lag)
        drafted: list[Drafted] = []
        right: list[bool] = []
        while len(drafted) < limit and (not drafted or pacer.wants_more(drafted)):
            right.append(self._random.random() < world.alpha(place + len(drafted)))
            drafted.append(Drafted(_TOKEN, 0.9, _SUPPORT, confidence=self._confidence(right[-1])))
        kept = pacer.keep(drafted)
        accepted = next((i for i in range(kept) if not right[i]), kept)
        slow = world.drift(place)
        draft_s = slow * world.draft_cost * (len(drafted) + _CATCH_UP * max(0, self._lag - 2) * bool(drafted))
        seconds = Seconds(draft=draft_s, verify=slow * world.curve(kept + 1))
        kinds = [Kind.ACCEPTED] * accepted
        if accepted < kept:
            kinds += [Kind.REJECTED, *[Kind.DISCARDED] * (kept - accepted - 1), Kind.CORRECTED]
        else:
            kinds.append(Kind.BONUS if kept else Kind.PLAIN)
        round_ = Round(index, place, kept, tuple(Token(_TOKEN, "", kind) for kind in kinds), seconds)
        assert round_.broken_rule() is None
        pacer.learn(round_, drafted)
        self._written += accepted + 1
        self._lag = 1 + (accepted == kept) if drafted else self._lag + 1
        return round_

    def _confidence(self, right: bool) -> float:
        if not self._world.telling:
            return 0.8
        return self._random.choice((0.8, 0.9, 0.97, 0.995) if right else (0.2, 0.4, 0.6, 0.8))
