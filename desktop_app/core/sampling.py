"""From logits to probabilities: the same filters for target and draft.

A `Distribution` keeps only the tokens that survive the filters, so that a vocabulary of 150,000 costs little.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from desktop_app.core.settings import Sampling

Ids = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Logits = npt.NDArray[np.float32]

_TOP_P_FIRST_LOOK = 1024
"""Tokens sorted before giving in and sorting the whole vocabulary; nearly always enough for top-p."""


@dataclass(frozen=True, slots=True, eq=False)
class Distribution:
    """Probabilities over a support: `ids` ascending, shape (k,); `probs` of the same shape, adding up to 1."""

    ids: Ids
    probs: Floats

    @classmethod
    def point(cls, token: int) -> Distribution:
        """All mass on one token."""
        return cls(np.array([token], dtype=np.int64), np.ones(1))

    def prob(self, token: int) -> float:
        """Probability of a token, 0 outside the support."""
        at = int(np.searchsorted(self.ids, token))
        return float(self.probs[at]) if at < len(self.ids) and self.ids[at] == token else 0.0

    def probs_of(self, ids: Ids) -> Floats:
        """Probabilities of many tokens, shape of `ids`, 0 outside the support."""
        at = np.searchsorted(self.ids, ids)
        at[at == len(self.ids)] = 0
        return np.where(self.ids[at] == ids, self.probs[at], 0.0)

    def sample(self, u: float) -> int:
        """The token at quantile u in [0, 1)."""
        cumulated = np.cumsum(self.probs)
        at = int(np.searchsorted(cumulated, u * cumulated[-1], side="right"))
        return int(self.ids[min(at, len(self.ids) - 1)])


def residual(p: Distribution, q: Distribution) -> Distribution:
    """norm(max(0, p − q)): what the target samples from after a refusal (Leviathan et al. 2022, algorithm 1).

    Where rounding leaves nothing, p itself.
    """
    rest = np.maximum(p.probs - q.probs_of(p.ids), 0.0)
    total = rest.sum()
    if total <= 0:
        return p
    return Distribution(p.ids, rest / total)


def total_variation(p: Distribution, q: Distribution) -> float:
    """TV(p, q) = 1 − Σ min(p, q); 1 − TV is the chance that rejection sampling keeps a token drawn from q."""
    return 1.0 - float(np.minimum(p.probs, q.probs_of(p.ids)).sum())


def filtered(logits: Logits, sampling: Sampling) -> Distribution:
    """Top-k, top-p, min-p and temperature, in llama.cpp's order, over penalised logits of shape (n_vocab,).

    The temperature must be above 0; the greedy case never comes here.
    """
    ids = _top_k(logits, sampling.top_k)
    values = logits[ids].astype(np.float64)
    if sampling.top_p < 1:
        kept = _top_p(values, sampling.top_p)
        ids, values = ids[kept], values[kept]
    if sampling.min_p > 0:
        kept = values >= values.max() + np.log(sampling.min_p)
        ids, values = ids[kept], values[kept]
    return Distribution(ids, softmax(values / sampling.temperature))


def softmax(values: Floats) -> Floats:
    weights = np.exp(values - values.max())
    total: Floats = weights / weights.sum()
    return total


def penalised(logits: Logits, recent: Sequence[int], penalty: float) -> Logits:
    """Logits with recent tokens made less likely: positive ones divided, negative ones multiplied by the penalty.

    Keskar et al. 2019, section 4.1, in the form llama.cpp uses. Returns a copy where anything changes.
    """
    if penalty == 1.0 or not recent:
        return logits
    ids = np.unique(np.asarray(recent, dtype=np.int64))
    ids = ids[ids < len(logits)]
    result = logits.copy()
    values = result[ids]
    result[ids] = np.where(values > 0, values / penalty, values * penalty)
    return result


def _top_k(logits: Logits, k: int) -> Ids:
    """Ids of the k largest logits, ascending."""
    if k <= 0 or k >= len(logits):
        return np.arange(len(logits))
    return np.sort(np.argpartition(logits, len(logits) - k)[len(logits) - k :])


def _top_p(values: Floats, top_p: float) -> Ids:
    """Indices, ascending, of the smallest set of largest values whose softmax reaches top_p."""
    probs = softmax(values)
    look = min(_TOP_P_FIRST_LOOK, len(probs))
    head = np.argpartition(probs, len(probs) - look)[len(probs) - look :]
    if look < len(probs) and probs[head].sum() < top_p:
        head = np.arange(len(probs))
    order = head[np.argsort(-probs[head], kind="stable")]
    count = int(np.searchsorted(np.cumsum(probs[order]), top_p)) + 1
    return np.sort(order[:count])
