"""What the user can set about an answer. Frozen values; their defaults are the app's defaults."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import StrEnum

GAMMA_MAX = 16

BATCH = 512
"""Tokens that llama.cpp computes at once, at most."""


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
    BOTH = "both"
    """Prompt lookup where it has a long match, the draft model otherwise."""
    NONE = "none"

    @property
    def uses_model(self) -> bool:
        return self in {DraftSource.MODEL, DraftSource.BOTH}

    @property
    def uses_lookup(self) -> bool:
        return self in {DraftSource.LOOKUP, DraftSource.BOTH}


class Overflow(StrEnum):
    """What happens to a conversation that outgrows the context."""

    DROP_OLDEST = "drop-oldest"
    """Leave its oldest turns out of the prompt; the system prompt and the newest message stay."""
    STOP = "stop"
    """Refuse the message."""


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
    gamma: int | None = None
    """Tokens drafted in a round, 1 … GAMMA_MAX; None chooses anew in every round, and may choose none."""
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
    overflow: Overflow = Overflow.DROP_OLDEST


AUTO_LAYERS = -1
"""As many layers on the GPU as fit."""


class CacheType(StrEnum):
    """How the KV cache stores its numbers, by ggml's names; those that the attention of every backend computes fast."""

    F16 = "f16"
    Q8_0 = "q8_0"
    Q4_0 = "q4_0"

    @property
    def quantised(self) -> bool:
        return self is not CacheType.F16


class FlashAttention(StrEnum):
    """Whether attention is computed in one fused step, without its matrix of scores in memory."""

    AUTO = "auto"
    """Where the device that holds the layer has it."""
    ON = "on"
    OFF = "off"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadSettings:
    """How to load a model, whichever it is."""

    n_ctx: int = 8192
    """Tokens of context asked for; never more than the model was trained for."""
    gpu_layers: int = AUTO_LAYERS
    """Layers to offload, the output layer counted as one; AUTO_LAYERS takes as many as fit. 0 where there is no GPU."""
    threads: int = 0
    """For passes over one token; 0 takes the physical cores this process may use."""
    batch_threads: int = 0
    """For passes over several tokens, a prompt or a verification; 0 as for `threads`."""
    cache_k: CacheType = CacheType.F16
    cache_v: CacheType = CacheType.F16
    """A quantised one needs flash attention."""
    flash_attention: FlashAttention = FlashAttention.AUTO

    def of(self, path: str) -> ModelSettings:
        """These, for one file."""
        return ModelSettings(path, **{each.name: getattr(self, each.name) for each in fields(LoadSettings)})


@dataclass(frozen=True, slots=True)
class ModelSettings(LoadSettings):
    """How to load one model."""

    path: str
