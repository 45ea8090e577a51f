"""Drafts with a smaller model of the same vocabulary."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from desktop_app.core.acceptance import AcceptanceRule, Drafted
from desktop_app.core.sampling import Logits
from desktop_app.core.settings import BATCH
from desktop_app.engine.llama.context import Context


class ModelDrafter:
    """Decodes what the draft's cache lacks, then one token at a time.

    While the engine decodes plainly the cache lags; it catches up in the next draft. After γ drafted tokens it holds
    every committed token and every drafted one but the last. After a refusal a running state goes back to before the
    first drafted one; what stays is decoded again with the next committed token. The context is the caller's.

    A target's vocabulary may be a little larger than the draft's. Behind a token that the draft doesn't have it can't
    read on, so it proposes nothing.
    """

    def __init__(self, context: Context, *, n_vocab: int) -> None:
        """`n_vocab` is the target's: tokens beyond it are never proposed."""
        self._context = context
        self._n_vocab = n_vocab
        self._committed = 0
        self._readable = 0
        """Tokens from the start of the history that are known to be in the draft's vocabulary."""
        self.sample_s = 0.0

    free = False

    @property
    def busy_s(self) -> float:
        return self._context.busy_s

    def prefill(self, tokens: Sequence[int]) -> Iterator[int]:
        self._readable = 0
        if self._can_read(tokens):
            yield from self._context.prefill(tokens)

    def lag(self, committed: Sequence[int]) -> int:
        return len(committed) - len(self._context.held)

    def draft(self, committed: Sequence[int], limit: int, rule: AcceptanceRule) -> Iterator[Drafted]:
        if not self._can_read(committed):
            return
        self._committed = len(committed)
        history = list(committed)
        for place in range(limit):
            if place == 1:
                # Everything committed is decoded by now and stays.
                self._context.mark()
            logits = self._next_logits(history)
            began = time.perf_counter()
            drafted = rule.draft(logits[: self._n_vocab], history)
            self.sample_s += time.perf_counter() - began
            yield drafted
            history.append(drafted.id)

    def observe(self, batch: Sequence[int], accepted: int) -> None:
        self._context.rewind(self._committed + accepted)

    def _can_read(self, history: Sequence[int]) -> bool:
        """Looks only at what is new since the last call."""
        n_vocab = self._context.model.vocabulary.size
        while self._readable < len(history) and history[self._readable] < n_vocab:
            self._readable += 1
        return self._readable == len(history)

    def _next_logits(self, history: Sequence[int]) -> Logits:
        """Decode what is missing of `history`; logits behind its last token, shape (n_vocab,)."""
        while len(history) - len(self._context.held) > BATCH:
            at = len(self._context.held)
            self._context.decode(history[at : at + BATCH], rows=0)
        logits: Logits = self._context.decode(history[len(self._context.held) :], rows=1)[0]
        return logits
