"""A model's working memory (KV cache) and the passes over it.

The one place that calls `llama_decode`. It knows which tokens the cache holds, and keeps that true through failures.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import takewhile

import llama_cpp.llama_cpp as api
import numpy as np

from desktop_app.core.errors import Blame, DraftglassError, Problem
from desktop_app.core.sampling import Logits
from desktop_app.core.settings import GAMMA_MAX, ModelSettings
from desktop_app.engine.llama import backend, cache_options
from desktop_app.engine.llama.abort import AbortFlag
from desktop_app.engine.llama.buffers import Use, allocated_bytes
from desktop_app.engine.llama.model import Model

BATCH = 512
"""Tokens llama.cpp computes at once, at most."""

PREFILL_CHUNK = 128
"""Tokens of a prompt between two progress reports and, on a GPU, two looks at the abort flag."""

_SEQUENCE = 0
_NO_ROOM, _ABORTED = 1, 2


class Aborted(Exception):
    """The abort flag stopped a pass."""


class Context:
    """One sequence of tokens in one model's cache.

    `held` are the tokens the cache holds, by position. `busy_s` sums the seconds spent inside `llama_decode`.
    """

    def __init__(self, model: Model, settings: ModelSettings, abort: AbortFlag) -> None:
        """Allocate the cache; `settings` leave nothing automatic but flash attention.

        Raises DraftglassError: OUT_OF_MEMORY where there is no room, else where the model can't have such a cache.
        """
        self.model = model
        self.settings = settings
        self.held: list[int] = []
        self.busy_s = 0.0
        self._abort = abort
        self._handle, log = _create(model, settings, abort)
        self.flash_attention = cache_options.has_flash_attention(settings, log)
        self.cache_bytes = allocated_bytes(log, Use.CACHE, Use.STATE)
        self.compute_bytes = allocated_bytes(log, Use.COMPUTE, Use.LOGITS)
        self._memory = api.llama_get_memory(self._handle)
        self._batch = api.llama_batch_init(BATCH, 0, 1)
        self._token, self._position, self._wants_logits = _views(self._batch)
        self.n_ctx = int(api.llama_n_ctx(self._handle))
        self.threads = int(api.llama_n_threads(self._handle))
        self.batch_threads = int(api.llama_n_threads_batch(self._handle))
        self.can_roll_back = False
        try:
            self.can_roll_back = self._probe()
        except BaseException:
            self.close()
            raise

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
        began = time.perf_counter()
        code = api.llama_decode(self._handle, self._batch)
        if code == 0:
            api.llama_synchronize(self._handle)
        self.busy_s += time.perf_counter() - began
        if code != 0:
            self._resynchronise(tokens)
            raise _decode_failure(code)
        self.held.extend(tokens)
        return self._logits(rows)

    def prefill(self, tokens: Sequence[int]) -> Iterator[int]:
        """Make the cache hold exactly `tokens`, keeping what it has of them; yield the count held, as it grows."""
        self.truncate(self._reusable(tokens))
        yield len(self.held)
        while len(self.held) < len(tokens):
            at = len(self.held)
            self.decode(tokens[at : at + PREFILL_CHUNK], rows=0)
            yield len(self.held)

    def truncate(self, count: int) -> None:
        """Forget every token from position `count` on."""
        if count >= len(self.held):
            return
        if count == 0 or not api.llama_memory_seq_rm(self._memory, _SEQUENCE, count, -1):
            self.clear()
            return
        del self.held[count:]

    def clear(self) -> None:
        api.llama_memory_clear(self._memory, False)
        self.held.clear()

    def _reusable(self, tokens: Sequence[int]) -> int:
        """Length of the common prefix of what is held and `tokens`, where the cache can be cut back to it."""
        common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(self.held, tokens, strict=False)))
        return common if common == len(self.held) or self.can_roll_back else 0

    def _logits(self, rows: int) -> Logits:
        shape = (rows, self.model.vocabulary.size)
        if rows == 0:
            return np.empty(shape, dtype=np.float32)
        return np.ctypeslib.as_array(api.llama_get_logits(self._handle), shape)

    def _resynchronise(self, tokens: Sequence[int]) -> None:
        """After a failed pass, hold what the cache says it holds: some of the tokens may have gone in.

        A running state may have gone half of the way, and nothing tells how far: it starts over.
        """
        if not self.can_roll_back:
            self.clear()
            return
        held = api.llama_memory_seq_pos_max(self._memory, _SEQUENCE) + 1
        self.held = (self.held + list(tokens))[:held]

    def _probe(self) -> bool:
        """Whether a token can be removed from the end, tried on the empty cache."""
        if api.llama_model_is_recurrent(self.model.handle) or api.llama_model_is_hybrid(self.model.handle):
            return False
        bos = max(self.model.vocabulary.bos, 0)
        self.decode([bos, bos], rows=0)
        removed = bool(api.llama_memory_seq_rm(self._memory, _SEQUENCE, 1, -1))
        self.clear()
        self.busy_s = 0.0
        return removed


def _create(model: Model, settings: ModelSettings, abort: AbortFlag) -> tuple[int, list[str]]:
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
    log: list[str] = []
    backend.take_errors()
    with backend.listening(log.append):
        handle = api.llama_init_from_model(model.handle, params)
    if not handle:
        raise DraftglassError(cache_options.refusal(settings, backend.take_errors()))
    return int(handle), log


def _views(batch: api.llama_batch) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The batch's arrays as numpy views; the sequence of every token is set once, since it never changes."""
    for i in range(BATCH):
        batch.n_seq_id[i] = 1
        batch.seq_id[i][0] = _SEQUENCE
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
