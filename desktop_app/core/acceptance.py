"""Who decides about a drafted token: the acceptance rules.

Each rule says how the draft picks, how the target judges a drafted token, and how the target picks a token of its own.
All three look at raw logits of one row, shape (n_vocab,), float32, and at the tokens before that row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from desktop_app.core import noise
from desktop_app.core.sampling import Distribution, Logits, filtered, penalised, residual
from desktop_app.core.settings import Rule, Sampling


@dataclass(frozen=True, slots=True)
class Pick:
    """A token and its probability under the distribution it was picked from."""

    id: int
    p: float


@dataclass(frozen=True, slots=True)
class Drafted:
    """A drafted token. `q` is its probability for the draft; `distribution` is what it was drawn from."""

    id: int
    q: float
    distribution: Distribution
    confidence: float = 1.0
    """The draft's highest probability: how sure it was, whichever token was drawn.

    Whether a token gets verified may depend on this, but not on `q`: under rejection sampling, choosing by the token
    that was drawn would change the distribution of the text.
    """
    match: int = 0
    """Tokens before it that equal those before the place it was copied from; 0 for a model's own proposal."""

    @classmethod
    def copied(cls, token: int, match: int) -> Drafted:
        """From prompt lookup, which proposes without probabilities."""
        return cls(token, 1.0, Distribution.point(token), match=match)


@dataclass(frozen=True, slots=True)
class Kept:
    """The target keeps a drafted token."""

    p: float
    """The target's probability of the drafted token."""
    chance: float
    """The chance that the rule keeps the token, given p and q."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The target refuses a drafted token and writes its own instead."""

    p: float
    chance: float
    instead: Pick


Judgement = Kept | Refused


class AcceptanceRule(Protocol):
    """`history` holds every token before the row, drafted ones included; its length is the row's position."""

    def draft(self, logits: Logits, history: Sequence[int]) -> Drafted: ...

    def judge(self, drafted: Drafted, logits: Logits, history: Sequence[int]) -> Judgement: ...

    def pick(self, logits: Logits, history: Sequence[int]) -> Pick: ...


def rule_for(sampling: Sampling, rule: Rule, seed: int) -> AcceptanceRule:
    """The rule that these settings name; at temperature 0 every rule is equality with the argmax."""
    if sampling.greedy:
        return GreedyRule(sampling)
    if rule is Rule.SHARED_NOISE:
        return SharedNoiseRule(sampling, seed)
    return RejectionRule(sampling, seed)


class GreedyRule:
    """Temperature 0: keep the token that equals the target's argmax; the lowest id wins a tie.

    Probabilities shown are the softmax of the penalised logits: at temperature 0 nothing is filtered.
    """

    def __init__(self, sampling: Sampling) -> None:
        self._sampling = sampling

    def draft(self, logits: Logits, history: Sequence[int]) -> Drafted:
        best = self.pick(logits, history)
        return Drafted(best.id, best.p, Distribution.point(best.id), confidence=best.p)

    def judge(self, drafted: Drafted, logits: Logits, history: Sequence[int]) -> Judgement:
        best = self.pick(logits, history)
        if best.id == drafted.id:
            return Kept(best.p, 1.0)
        values = _penalised(logits, history, self._sampling)
        p = best.p * float(np.exp(values[drafted.id] - values[best.id]))
        return Refused(p, 0.0, best)

    def pick(self, logits: Logits, history: Sequence[int]) -> Pick:
        values = _penalised(logits, history, self._sampling)
        best = int(np.argmax(values))
        return Pick(best, 1.0 / float(np.exp(values - values[best]).sum()))


class RejectionRule:
    """Keep x with min(1, p(x)/q(x)), else sample the residual: the target's distribution exactly.

    Leviathan et al. 2022, algorithm 1; Chen et al. 2023, algorithm 2. Holds only for drafts sampled from q.
    """

    def __init__(self, sampling: Sampling, seed: int) -> None:
        self._sampling = sampling
        self._random = np.random.default_rng(seed)

    def draft(self, logits: Logits, history: Sequence[int]) -> Drafted:
        q = _distribution(logits, history, self._sampling)
        token = q.sample(self._random.random())
        return Drafted(token, q.prob(token), q, confidence=float(q.probs.max()))

    def judge(self, drafted: Drafted, logits: Logits, history: Sequence[int]) -> Judgement:
        p = _distribution(logits, history, self._sampling)
        p_x = p.prob(drafted.id)
        chance = min(1.0, p_x / drafted.q)
        if self._random.random() < chance:
            return Kept(p_x, chance)
        own = residual(p, drafted.distribution).sample(self._random.random())
        return Refused(p_x, chance, Pick(own, p.prob(own)))

    def pick(self, logits: Logits, history: Sequence[int]) -> Pick:
        p = _distribution(logits, history, self._sampling)
        token = p.sample(self._random.random())
        return Pick(token, p.prob(token))


class SharedNoiseRule:
    """Draft and target pick with the same noise; keep if they pick the same (Daliri et al. 2024)."""

    def __init__(self, sampling: Sampling, seed: int) -> None:
        self._sampling = sampling
        self._seed = seed

    def draft(self, logits: Logits, history: Sequence[int]) -> Drafted:
        q = _distribution(logits, history, self._sampling)
        token = noise.pick(q, self._seed, len(history))
        return Drafted(token, q.prob(token), q, confidence=float(q.probs.max()))

    def judge(self, drafted: Drafted, logits: Logits, history: Sequence[int]) -> Judgement:
        p = _distribution(logits, history, self._sampling)
        own = noise.pick(p, self._seed, len(history))
        chance = noise.agreement(p, drafted.distribution, drafted.id)
        if own == drafted.id:
            return Kept(p.prob(own), chance)
        return Refused(p.prob(drafted.id), chance, Pick(own, p.prob(own)))

    def pick(self, logits: Logits, history: Sequence[int]) -> Pick:
        p = _distribution(logits, history, self._sampling)
        token = noise.pick(p, self._seed, len(history))
        return Pick(token, p.prob(token))


def _distribution(logits: Logits, history: Sequence[int], sampling: Sampling) -> Distribution:
    return filtered(_penalised(logits, history, sampling), sampling)


def _penalised(logits: Logits, history: Sequence[int], sampling: Sampling) -> Logits:
    if sampling.repeat_penalty == 1.0 or sampling.repeat_last_n <= 0:
        return logits
    return penalised(logits, history[-sampling.repeat_last_n :], sampling.repeat_penalty)
