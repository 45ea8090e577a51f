"""Remembers plain answers, to have something to compare a drafted one with. No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

import msgspec

from desktop_app.core.baseline import Baseline, BaselineSource
from desktop_app.core.facts import Costs, ModelFacts
from desktop_app.core.metrics import Tally
from desktop_app.core.settings import Sampling
from desktop_app.protocol.messages import ChatMessage

MIN_TOKENS = 8
"""A shorter plain answer says too little about speed."""


class Baselines:
    """Plain speeds of this session, by target as it was loaded."""

    def __init__(self) -> None:
        self._by_prompt: dict[tuple[ModelFacts, bytes], float] = {}
        self._last: dict[ModelFacts, float] = {}

    def record(self, target: ModelFacts, messages: Sequence[ChatMessage], sampling: Sampling, tally: Tally) -> None:
        """Remember the speed of a plain answer; anything drafted or too short is ignored."""
        speed = tally.tok_per_s
        if tally.speculative_rounds or tally.tokens < MIN_TOKENS or speed is None:
            return
        self._by_prompt[target, _digest(messages, sampling)] = speed
        self._last[target] = speed

    def find(
        self, target: ModelFacts, messages: Sequence[ChatMessage], sampling: Sampling, costs: Costs | None
    ) -> Baseline | None:
        """The most telling baseline for an answer to this prompt, or None."""
        if (speed := self._by_prompt.get((target, _digest(messages, sampling)))) is not None:
            return Baseline(speed, BaselineSource.THIS_PROMPT)
        if (speed := self._last.get(target)) is not None:
            return Baseline(speed, BaselineSource.LAST_PLAIN)
        if costs is not None:
            return Baseline(costs.plain_tok_per_s, BaselineSource.CALIBRATION, costs.depth)
        return None


def _digest(messages: Sequence[ChatMessage], sampling: Sampling) -> bytes:
    """Stands for a prompt, which may be long, and how it was sampled."""
    return sha256(msgspec.msgpack.encode((list(messages), sampling))).digest()
