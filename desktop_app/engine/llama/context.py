"""A model's working memory (KV cache) and the passes over it.

The one place that calls `llama_decode`. It knows which tokens the cache holds, and keeps that true through failures.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import takewhile

import llama_cpp.llama_cpp as api
import numpy as np

from desktop_app.core.errors import Blame, DraftglassError, Problem
from desktop_app.core.facts import MemoryKind, Rollback
from desktop_app.core.sampling import Logits
from desktop_app.core.settings import BATCH, GAMMA_MAX, ModelSettings
from desktop_app.engine.llama import backend, cache_options
from desktop_app.engine.llama.abort import AbortFlag
from desktop_app.engine.llama.buffers import Use, allocated_bytes
from desktop_app.engine.llama.memory import SEQUENCE, Memory
from desktop_app.engine.llama.model import Model

logger = logging.getLogger(__name__)

PREFILL_CHUNK = 128
"""Tokens of a prompt between two progress reports and, on a GPU, two looks at the abort flag."""

PROMPT_TAIL = 16
"""Tokens at the end of a prompt that a follow-up may not repeat: templates end it with the start of an answer, which
need not be how they write a finished one."""

_NO_ROOM, _ABORTED = 1, 2


class Aborted(Exception):
    """The abort flag stopped a pass."""


class Context:
    """One sequence of tokens in one model's cache.

    `held` are the tokens the cache holds, by position. `busy_s` sums the seconds spent inside `llama_decode`, and on
    checkpoints.
    """

    def __init__(self, model: Model, settings: ModelSettings, abort: AbortFlag, *, snapshots: int = 0) -> None:
        """Allocate the cache; `settings` leave nothing automatic but flash attention.

        `snapshots`: tokens of one pass that a running state should be able to take back, where the model supports that.
        Each takes the memory of one more state.

        Raises DraftglassError: OUT_OF_MEMORY where there is no room, else where the model can't have such a cache.
        """
        self.model = model
        self.settings = settings
        self.held: list[int] = []
        self.busy_s = 0.0
        self._abort = abort
        self._handle, log = _create(model, settings, abort, snapshots)
        self.flash_attention = cache_options.has_flash_attention(settings, log)
        self.cache_bytes = allocated_bytes(log, Use.CACHE, Use.STATE)
        self.compute_bytes = allocated_bytes(log, Use.COMPUTE, Use.LOGITS)
        self._memory = Memory(self._handle)
        self._batch = api.llama_batch_init(BATCH, 0, 1)
        self._token, self._position, self._wants_logits = _views(self._batch)
        self.n_ctx = int(api.llama_n_ctx(self._handle))
        self.threads = int(api.llama_n_threads(self._handle))
        self.batch_threads = int(api.llama_n_threads_batch(self._handle))
        try:
            self._probe()
        except BaseException:
            self.close()
            raise

    @property
    def rollback(self) -> Rollback:
        return self._memory.rollback

    def close(self) -> None:
        api.llama_batch_free(self._batch)
        api.llama_free(self._handle)

    def decode(self, tokens: Sequence[int], *, rows: int) -> Logits:
        """Append 1 … BATCH tokens and return the logits of the last `rows` of them, shape (rows, n_vocab), float32.

        The array is llama.cpp's own memory, valid until the next call. Raises Aborted, or DraftglassError where the
        cache is full or the backend fails; `held` is right in every case.
        """
        if self._abort.is_set():
            raise Aborted
        count, start = len(tokens), len(self.held)
        self._token[:count] = tokens
        self._position[:count] = np.arange(start, start + count)
        self._wants_logits[:count] = 0
        self._wants_logits[count - rows : count] = 1
        self._batch.n_tokens = count
        with self._busy():
            code = api.llama_decode(self._handle, self._batch)
            if code == 0:
                api.llama_synchronize(self._handle)
        if code != 0:
            self.held = [*self.held, *tokens][: self._memory.failed(start)]
            raise _decode_failure(code)
        self._memory.passed(start)
        self.held.extend(tokens)
        return self._logits(rows)

    def prefill(self, tokens: Sequence[int]) -> Iterator[int]:
        """Make the cache hold exactly `tokens`, keeping what it has of them; yield the count held, as it grows."""
        self.rewind(_common_prefix(self.held, tokens))
        yield len(self.held)
        tail = len(tokens) - PROMPT_TAIL if self._memory.needs_checkpoints else 0
        while (at := len(self.held)) < len(tokens):
            stop = tail if at < tail else len(tokens)
            self.decode(tokens[at : min(at + PREFILL_CHUNK, stop)], rows=0)
            if len(self.held) == tail:
                self.keep()
            yield len(self.held)

    def mark(self) -> None:
        """What the next passes append may be taken back, in part: prepare for it.

        The first of these tokens must stay, since some memories don't go back to the mark itself.
        """
        with self._busy():
            self._memory.mark(len(self.held))

    def keep(self) -> None:
        """Stay able to come back here, at any time that the memory for checkpoints allows."""
        with self._busy():
            self._memory.keep(len(self.held))

    def truncate(self, count: int) -> None:
        """Hold `count` tokens at most, without what follows them.

        Where the memory goes back further than that, the tokens between are decoded again. Raises as `decode`.
        """
        stay = self.held[:count]
        self.rewind(count)
        while (at := len(self.held)) < len(stay):
            self.decode(stay[at : at + BATCH], rows=0)

    def rewind(self, count: int) -> None:
        """Hold `count` tokens at most, and fewer where the memory doesn't go back to just there."""
        if count < len(self.held):
            with self._busy():
                del self.held[self._memory.rewind(count) :]

    def clear(self) -> None:
        self._memory.clear()
        self.held.clear()

    @contextmanager
    def _busy(self) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self.busy_s += time.perf_counter() - began

    def _logits(self, rows: int) -> Logits:
        shape = (rows, self.model.vocabulary.size)
        if rows == 0:
            return np.empty(shape, dtype=np.float32)
        return np.ctypeslib.as_array(api.llama_get_logits(self._handle), shape)

    def _probe(self) -> None:
        filler = max(self.model.vocabulary.bos, 0)

        def append(count: int) -> None:
            self.held = [filler] * self._memory.end
            self.decode([filler] * count, rows=0)

        self._memory.probe(append)
        self.held.clear()
        self.busy_s = 0.0


def _common_prefix(first: Sequence[int], second: Sequence[int]) -> int:
    """How many tokens both begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))


def _create(model: Model, settings: ModelSettings, abort: AbortFlag, snapshots: int) -> tuple[int, list[str]]:
    """The handle, and what llama.cpp logged while it made the context."""
    params = api.llama_context_default_params()
    params.n_ctx = settings.n_ctx
    params.n_batch = params.n_ubatch = BATCH
    params.n_seq_max = 1
    params.n_outputs_max = params.n_outputs_max_per_seq = GAMMA_MAX + 1
    params.n_threads, params.n_threads_batch = settings.threads, settings.batch_threads
    cache_options.apply(settings, params)
    params.abort_callback, params.abort_callback_data = abort.callback, abort.data
    params.no_perf = True
    # A full-size cache for sliding windows, so that any number of tokens can be rolled back.
    params.swa_full = True
    params.n_rs_seq = snapshots
    log: list[str] = []
    backend.take_errors()
    with backend.listening(log.append):
        handle = api.llama_init_from_model(model.handle, params)
    if not handle and snapshots and model.memory in {MemoryKind.RECURRENT, MemoryKind.HYBRID}:
        logger.info("no context with %d snapshots, trying without: %s", snapshots, backend.take_errors())
        return _create(model, settings, abort, snapshots=0)
    if not handle:
        raise DraftglassError(cache_options.refusal(settings, backend.take_errors()))
    return int(handle), log


def _views(batch: api.llama_batch) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The batch's arrays as numpy views; the sequence of every token is set once, since it never changes."""
    for i in range(BATCH):
        batch.n_seq_id[i] = 1
        batch.seq_id[i][0] = SEQUENCE
    as_array = np.ctypeslib.as_array
    return as_array(batch.token, (BATCH,)), as_array(batch.pos, (BATCH,)), as_array(batch.logits, (BATCH,))


def _decode_failure(code: int) -> Exception:
    cause = backend.take_errors()
    if code == _ABORTED:
        return Aborted()
    if code == _NO_ROOM:
        return DraftglassError(Problem("The context is full.", "Start a new chat or load a larger context."))
    return DraftglassError(
        Problem(
            f"llama.cpp could not compute the next tokens (code {code}): {cause}",
            "Load the model again; if it happens again, use fewer GPU layers.",
            Blame.ENVIRONMENT,
        )
    )
