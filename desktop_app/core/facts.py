"""What is known about a loaded model, its pair and the machine. Values that cross the pipe and reach the screen."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from desktop_app.core.settings import CacheType


@dataclass(frozen=True, slots=True)
class Device:
    """A place where layers can run."""

    name: str
    description: str
    memory_bytes: int
    free_bytes: int
    is_gpu: bool


class MemoryKind(StrEnum):
    """What a model keeps of the tokens it has read."""

    ATTENTION = "attention"
    """Something of every token."""
    SLIDING_WINDOW = "sliding window"
    """Attention that in some layers sees only the latest tokens."""
    RECURRENT = "recurrent"
    """One running state, whatever the number of tokens."""
    HYBRID = "hybrid"
    """A running state in some layers, attention in others."""


class Rollback(StrEnum):
    """How a model's memory goes back to before a refused token."""

    REMOVAL = "removal"
    """Tokens are removed from its end."""
    SNAPSHOTS = "snapshots"
    """The running state behind each token of the last pass is still there."""
    CHECKPOINTS = "checkpoints"
    """An earlier running state is restored from a copy; the tokens behind it that stay are decoded again."""
    NONE = "none"
    """Not at all, but to the start."""


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """A model in memory."""

    path: str
    name: str
    description: str
    """Architecture, size and quantisation as llama.cpp words it."""
    size_bytes: int
    n_vocab: int
    n_ctx: int
    """Tokens of context it was loaded with."""
    n_ctx_train: int
    n_layers: int
    gpu_layers: int
    """Layers on a GPU, the output layer counted as one; 0 where there is none."""
    threads: int
    """Of passes over one token."""
    batch_threads: int
    """Of passes over several tokens."""
    cache_k: CacheType
    cache_v: CacheType
    flash_attention: bool
    """Whether attention is computed in one fused step, asked for or not."""
    cache_bytes: int
    """Of the context: keys and values, and the states of recurrent layers."""
    compute_bytes: int
    """Of the buffers for intermediate results and logits."""
    template: str
    """Where its chat template comes from: "model" or the name of a fallback."""
    memory: MemoryKind
    rollback: Rollback
    """Found out at load, by trying."""


@dataclass(frozen=True, slots=True)
class Costs:
    """What passes of a pair cost on a machine, measured. Raises ValueError where that can't be a measurement."""

    depth: int
    """Tokens in the context while measuring."""
    passes: tuple[tuple[int, float], ...]
    """(n, C(n)): seconds of a target pass over n tokens, n ascending from 1; only the n that were measured.

    C need not rise with n: kernels that pad their batches make some sizes dearer than the next one.
    """
    draft_step: float | None
    """Seconds of one draft step; None without a draft model."""
    plain_per_depth: float = 0.0
    """Seconds by which C(1) grows with every token held; 0 where that was not measured."""
    draft_per_depth: float = 0.0
    """Seconds by which a draft step grows with every token held; 0 where that was not measured."""

    def __post_init__(self) -> None:
        sizes = [size for size, _ in self.passes]
        seconds = [seconds for _, seconds in self.passes]
        if self.draft_step is not None:
            seconds.append(self.draft_step)
        if sizes[:1] != [1] or any(after <= before for before, after in pairwise(sizes)):
            raise ValueError(f"the sizes of timed passes ascend from 1, got {sizes}")
        if not all(0 < value < math.inf for value in seconds):
            raise ValueError(f"a pass takes some time, got {seconds}")
        if self.depth < 0 or not all(0 <= slope < math.inf for slope in (self.plain_per_depth, self.draft_per_depth)):
            raise ValueError("a longer context never makes a pass cheaper")

    @property
    def plain_s(self) -> float:
        """C(1): seconds of a plain step at `depth`."""
        return self.passes[0][1]

    @property
    def plain_tok_per_s(self) -> float:
        return 1.0 / self.plain_s
