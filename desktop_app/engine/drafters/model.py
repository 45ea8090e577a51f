"""Drafts with a smaller model of the same vocabulary."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from desktop_app.core.acceptance import AcceptanceRule, Drafted
from desktop_app.core.sampling import Logits
from desktop_app.engine.llama.context import BATCH, Context


class ModelDrafter:
    """Decodes what the draft's cache lacks, then one token at a time.

    While the engine decodes plainly the cache lags; it catches up in the next draft. After γ drafted tokens it holds
    every committed token and every drafted one but the last. The context is the caller's.
    """

    def __init__(self, context: Context, *, n_vocab: int) -> None:
        """`n_vocab` is the target's: tokens beyond it are never proposed."""
        self._context = context
        self._n_vocab = n_vocab
        self._committed = 0
        self.sample_s = 0.0

    @property
    def busy_s(self) -> float:
        return self._context.busy_s

    def prefill(self, tokens: Sequence[int]) -> Iterator[int]:
        return self._context.prefill(tokens)

    def draft(self, committed: Sequence[int], limit: int, rule: AcceptanceRule) -> Iterator[Drafted]:
        self._committed = len(committed)
        history = list(committed)
        for _ in range(limit):
            logits = self._next_logits(history)
            began = time.perf_counter()
            drafted = rule.draft(logits[: self._n_vocab], history)
            self.sample_s += time.perf_counter() - began
            yield drafted
            history.append(drafted.id)

    def observe(self, batch: Sequence[int], accepted: int) -> None:
        self._context.truncate(self._committed + accepted)

    def _next_logits(self, history: Sequence[int]) -> Logits:
        """Decode what is missing of `history`; logits behind its last token, shape (n_vocab,)."""
        while len(history) - len(self._context.held) > BATCH:
            at = len(self._context.held)
            self._context.decode(history[at : at + BATCH], rows=0)
        logits: Logits = self._context.decode(history[len(self._context.held) :], rows=1)[0]
        return logits
