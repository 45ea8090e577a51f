"""Examines the place where two answers to one prompt part, on the model itself.

The common text is replayed twice, token by token and in full batches, with nothing drafted and nothing rolled back: the
replay knows nothing of the decode loop that it judges.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from desktop_app.core.difference import Difference, Fork, TextPair
from desktop_app.core.sampling import Logits, penalised
from desktop_app.core.settings import Sampling
from desktop_app.engine.llama.context import Context
from desktop_app.engine.pair import LoadedModel


def explain(target: LoadedModel, prompt: Sequence[int], texts: TextPair) -> Difference | None:
    """Examine where two answers to `prompt` part; None where they don't. Overwrites the target's cache.

    Raises Aborted.
    """
    index = texts.parting
    if index is None:
        return None
    ours, theirs = _at(texts.first, index), _at(texts.second, index)
    margin, rounding, near_tie = None, None, False
    if ours is not None and theirs is not None:
        history = [*prompt, *texts.first[:index]]
        single, batched = (
            _after_penalty(row, history, texts.sampling)
            for row in (
                row_by_single_passes(target.context, history, len(prompt)),
                row_by_batches(target.context, history, len(prompt), texts.pass_size),
            )
        )
        rounding = float(np.abs(single - batched).max())
        fork = Fork(len(history), ours, theirs, texts.sampling, texts.rule)
        margin, near_tie = fork.margin(single), fork.is_near_tie(single, batched, rounding)
    name = target.model.vocabulary.name
    return Difference(
        index=index,
        first_id=ours,
        first_text="" if ours is None else name(ours),
        second_id=theirs,
        second_text="" if theirs is None else name(theirs),
        margin=margin,
        rounding=rounding,
        near_tie=near_tie,
    )


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


def _after_penalty(row: Logits, history: Sequence[int], sampling: Sampling) -> Logits:
    recent = history[-sampling.repeat_last_n :] if sampling.repeat_last_n > 0 else ()
    return penalised(row, recent, sampling.repeat_penalty)


def _at(tokens: Sequence[int], index: int) -> int | None:
    return tokens[index] if index < len(tokens) else None
