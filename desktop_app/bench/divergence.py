"""Where two texts that should be the same part, and whether rounding explains it.

A pass over one token and a pass over several may round differently, so greedy texts can part where two tokens are
nearly level. To tell that from a bug, the common text is replayed twice, token by token and in full batches, with
nothing drafted and nothing rolled back: the replay knows nothing of the decode loop that it judges.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

import msgspec
import numpy as np

from desktop_app.core import noise
from desktop_app.core.acceptance import rule_for
from desktop_app.core.sampling import Logits, filtered
from desktop_app.core.settings import AnswerSettings
from desktop_app.engine.llama.context import Context
from desktop_app.engine.pair import LoadedModel


class Difference(msgspec.Struct, frozen=True):
    """The first place where the texts differ. A text that ended before has no token there (null)."""

    index: int
    """Place in the answer, in tokens, from 0."""
    plain_id: int | None
    plain_text: str
    speculative_id: int | None
    speculative_text: str
    margin: float | None
    """By how much a pass over one token prefers the plain token, in units of logits; None where it can't be said.

    Greedy: the gap between the two logits. Shared noise: the gap between the two noisy scores times the temperature,
    None where the filters leave out one of the tokens.
    """
    rounding: float | None
    """Largest difference of any logit there between a pass over one token and a pass over γ + 1."""
    near_tie: bool
    """Whether a change of the logits by no more than `rounding` explains the parting; otherwise it is a bug."""


def first_difference(plain: Sequence[int], speculative: Sequence[int]) -> int | None:
    """The first index at which the token ids differ, or one sequence has ended; None for equal sequences."""
    pairs = enumerate(zip_longest(plain, speculative))
    return next((at for at, (ours, theirs) in pairs if ours != theirs), None)


def explain(
    target: LoadedModel,
    prompt: Sequence[int],
    plain: Sequence[int],
    speculative: Sequence[int],
    settings: AnswerSettings,
) -> Difference | None:
    """Examine where the two answers to `prompt` part; None where they don't. Overwrites the target's cache.

    `settings` are those of the speculative run, seed included, without penalties.
    """
    index = first_difference(plain, speculative)
    if index is None:
        return None
    ours, theirs = _at(plain, index), _at(speculative, index)
    margin, rounding, near_tie = None, None, False
    if ours is not None and theirs is not None:
        history = [*prompt, *plain[:index]]
        single = row_by_single_passes(target.context, history, len(prompt))
        batched = row_by_batches(target.context, history, len(prompt), settings.speculation.gamma + 1)
        rounding = float(np.abs(single - batched).max())
        fork = Fork(len(history), ours, theirs, settings)
        margin, near_tie = fork.margin(single), fork.is_near_tie(single, batched, rounding)
    name = target.model.vocabulary.name
    return Difference(
        index=index,
        plain_id=ours,
        plain_text="" if ours is None else name(ours),
        speculative_id=theirs,
        speculative_text="" if theirs is None else name(theirs),
        margin=margin,
        rounding=rounding,
        near_tie=near_tie,
    )


@dataclass(frozen=True, slots=True)
class Fork:
    """Two tokens that two runs with the same settings put at the same position of the context."""

    position: int
    plain: int
    speculative: int
    settings: AnswerSettings

    def margin(self, row: Logits) -> float | None:
        """`Difference.margin` by a row of logits, shape (n_vocab,)."""
        sampling = self.settings.sampling
        if sampling.greedy:
            return float(row[self.plain] - row[self.speculative])
        ids = np.array([self.plain, self.speculative])
        probs = filtered(row, sampling).probs_of(ids)
        if not probs.all():
            return None
        assert sampling.seed is not None
        scores = np.log(probs) - np.log(-np.log(noise.uniform(sampling.seed, self.position, ids)))
        return sampling.temperature * float(scores[0] - scores[1])

    def is_near_tie(self, single: Logits, batched: Logits, rounding: float) -> bool:
        """Whether rounding explains the fork.

        Greedy: the margin is at most twice the rounding difference. Shared noise: the rule takes the speculative token
        from the batched row, or once both logits are moved by that difference, so that a token at the border of a
        filter is judged too.
        """
        if self.settings.sampling.greedy:
            margin = self.margin(single)
            return margin is not None and margin <= 2 * rounding
        moved = single.copy()
        moved[self.speculative] += rounding
        moved[self.plain] -= rounding
        return self.speculative in (self._pick(moved), self._pick(batched))

    def _pick(self, row: Logits) -> int:
        sampling, rule = self.settings.sampling, self.settings.speculation.rule
        assert sampling.seed is not None
        # Without penalties the rule looks at the length of the history only, which is the key of the noise.
        return rule_for(sampling, rule, sampling.seed).pick(row, range(self.position)).id


def row_by_single_passes(context: Context, history: Sequence[int], prompt_length: int) -> Logits:
    """Logits behind `history`, shape (n_vocab,), reading the prompt as a run does and the answer token by token."""
    return _replayed(context, history, start=prompt_length - 1, size=1)


def row_by_batches(context: Context, history: Sequence[int], prompt_length: int, size: int) -> Logits:
    """The same, reading the answer in full batches of `size` tokens; the first may begin inside the prompt."""
    answered = len(history) - prompt_length + 1
    return _replayed(context, history, start=max(0, len(history) - math.ceil(answered / size) * size), size=size)


def _replayed(context: Context, history: Sequence[int], *, start: int, size: int) -> Logits:
    context.clear()
    for _ in context.prefill(history[:start]):
        pass
    row = np.empty(0, dtype=np.float32)
    for at in range(start, len(history), size):
        batch = history[at : at + size]
        row = context.decode(batch, rows=len(batch))[-1]
    return row.copy()


def _at(tokens: Sequence[int], index: int) -> int | None:
    return tokens[index] if index < len(tokens) else None
