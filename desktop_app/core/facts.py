"""What is known about a loaded model, its pair and the machine. Values that cross the pipe and reach the screen."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Device:
    """A place where layers can run."""

    name: str
    description: str
    memory_bytes: int
    free_bytes: int
    is_gpu: bool


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
    """Layers on a GPU; 0 where there is none."""
    threads: int
    template: str
    """Where its chat template comes from: "model" or the name of a fallback."""
    rollback: bool
    """Whether tokens can be removed from its memory, as speculation needs."""


@dataclass(frozen=True, slots=True)
class Costs:
    """Measured seconds, at load, at a shallow depth."""

    depth: int
    """Tokens in the context while measuring."""
    passes: tuple[tuple[int, float], ...]
    """(n, C(n)): seconds of a target pass over n tokens, n ascending, the first n = 1."""
    draft_step: float | None
    """Seconds of one draft step; None without a draft model."""

    @property
    def plain_tok_per_s(self) -> float:
        return 1.0 / self.passes[0][1]
