"""What the user can set about an answer. Frozen values; their defaults are the app's defaults."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

GAMMA_MAX = 16


class Rule(StrEnum):
    """How a drafted token is judged at temperature > 0. At temperature 0 every rule is equality with the argmax."""

    REJECTION = "rejection"
    """Keep with min(1, p/q), else sample the residual (Leviathan et al. 2022, Chen et al. 2023)."""
    SHARED_NOISE = "shared-noise"
    """Draft and target pick with the same Gumbel noise; keep if equal (Daliri et al. 2024)."""


class DraftSource(StrEnum):
    """What proposes tokens."""

    MODEL = "model"
    LOOKUP = "lookup"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Sampling:
    """Filters in the order llama.cpp applies them: penalty, top-k, top-p, min-p, temperature."""

    temperature: float = 0.8
    """0 takes the most probable token."""
    top_k: int = 40
    """Keep the k most probable tokens; 0 keeps all."""
    top_p: float = 0.95
    """Keep the smallest set whose probability reaches this; 1 keeps all."""
    min_p: float = 0.05
    """Keep tokens at least this probable relative to the most probable one; 0 keeps all."""
    repeat_penalty: float = 1.0
    """Divide positive and multiply negative logits of recent tokens by this; 1 changes nothing."""
    repeat_last_n: int = 64
    """How many tokens back the penalty looks."""
    seed: int | None = None
    """None draws a new seed for every answer."""

    @property
    def greedy(self) -> bool:
        return self.temperature <= 0


@dataclass(frozen=True, slots=True)
class Speculation:
    """How to draft."""

    enabled: bool = True
    source: DraftSource = DraftSource.MODEL
    gamma: int = 4
    """Tokens drafted in a round, 1 … GAMMA_MAX."""
    rule: Rule = Rule.REJECTION
    lookup_max_n: int = 4
    """Longest n-gram that prompt lookup tries first."""
    lookup_min_n: int = 2
    """Shortest n-gram that prompt lookup accepts as a match."""


@dataclass(frozen=True, slots=True)
class AnswerSettings:
    """Everything about one answer except its prompt."""

    sampling: Sampling = field(default_factory=Sampling)
    speculation: Speculation = field(default_factory=Speculation)
    max_tokens: int = 2048
    stop: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """How to load one model."""

    path: str
    n_ctx: int = 8192
    """Tokens of context asked for; never more than the model was trained for."""
    gpu_layers: int = -1
    """Layers to offload; -1 is all of them, where the installed llama.cpp supports a GPU."""
    threads: int = 0
    """0 takes the number of physical cores."""
