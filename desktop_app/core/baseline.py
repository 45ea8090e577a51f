"""Plain speed to compare with, and where that figure comes from."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class BaselineSource(StrEnum):
    """Where a baseline was measured, the most telling first."""

    THIS_PROMPT = "this-prompt"
    """The very same prompt, sampling and target, answered plainly."""
    LAST_PLAIN = "last-plain"
    """The last plain answer of this target in this session."""
    CALIBRATION = "calibration"
    """Measured after loading, at a shallow depth."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """Plain tokens per second of a target on this machine."""

    tok_per_s: float
    source: BaselineSource
    depth: int | None = None
    """Tokens in the context while calibrating; None for the other sources."""

    def speedup(self, tok_per_s: float | None) -> float | None:
        """`tok_per_s` relative to this baseline; None where either is unknown."""
        return None if tok_per_s is None or self.tok_per_s <= 0 else tok_per_s / self.tok_per_s
