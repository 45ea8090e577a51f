"""Gumbel noise that depends on nothing but (seed, position, token id).

Target and draft that pick with the same noise pick the same token whenever their distributions agree, and the text
depends on the seed alone: the same with speculation on and off (Daliri, Musco, Suresh 2024).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from desktop_app.core.sampling import Distribution, Floats, Ids

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def uniform(seed: int, position: int, ids: Ids) -> Floats:
    """Numbers strictly between 0 and 1, one per id: splitmix64 (Steele, Lea, Flood 2014), chained over the key."""
    key = _mix(_mix(np.uint64(seed % 2**64)) ^ np.uint64(position))
    bits = _mix(key ^ ids.astype(np.uint64))
    return ((bits >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52


def pick(distribution: Distribution, seed: int, position: int) -> int:
    """argmax of log p − log(−log u): a sample of the distribution (Gumbel-max)."""
    with np.errstate(divide="ignore"):
        scores = np.log(distribution.probs) - np.log(-np.log(uniform(seed, position, distribution.ids)))
    return int(distribution.ids[int(np.argmax(scores))])


def agreement(p: Distribution, q: Distribution, token: int) -> float:
    """Chance that the target picks `token` given that the draft, with the same noise, picked it.

    P(both pick x) = 1 / Σ_y max(p(y)/p(x), q(y)/q(x)); divided by q(x).
    """
    p_x, q_x = p.prob(token), q.prob(token)
    if p_x == 0 or q_x == 0:
        return 0.0
    over_p = np.maximum(p.probs / p_x, q.probs_of(p.ids) / q_x).sum()
    only_q = q.probs[p.probs_of(q.ids) == 0].sum() / q_x
    return float(1.0 / ((over_p + only_q) * q_x))


def _mix(value: npt.NDArray[np.uint64] | np.uint64) -> npt.NDArray[np.uint64]:
    with np.errstate(over="ignore"):
        z = np.asarray(value, dtype=np.uint64) + _GOLDEN
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))
