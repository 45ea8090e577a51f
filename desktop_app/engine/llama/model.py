"""One GGUF model in memory: weights, vocabulary, facts."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from pathlib import Path

import llama_cpp.llama_cpp as api

from desktop_app.core.errors import Blame, DraftglassError, Fault, Problem
from desktop_app.core.facts import MemoryKind
from desktop_app.engine.llama import backend
from desktop_app.engine.llama.shortage import lacks_memory, out_of_memory
from desktop_app.engine.llama.vocabulary import Vocabulary


class LoadAborted(Exception):
    """The progress callback asked to stop."""


class Model:
    """Owns the weights until `close`."""

    def __init__(self, path: str, *, gpu_layers: int, on_progress: Callable[[float], bool]) -> None:
        """Load the file.

        `on_progress` hears the fraction loaded and returns False to stop, which raises LoadAborted. A file that
        llama.cpp refuses raises DraftglassError.
        """
        backend.start()
        backend.take_errors()
        self.path = path
        self._handle = _load(path, gpu_layers, on_progress)
        self.vocabulary = Vocabulary(self._handle)
        self.size_bytes = int(api.llama_model_size(self._handle))
        self.n_ctx_train = int(api.llama_model_n_ctx_train(self._handle))
        self.n_layers = int(api.llama_model_n_layer(self._handle))
        self.memory = _memory_kind(self._handle)
        self.description = self._text(api.llama_model_desc)
        self.name = self.metadata("general.name") or Path(path).name
        offloadable = self.n_layers + 1  # as `offloadable_layers` counts
        asked = offloadable if gpu_layers < 0 else min(gpu_layers, offloadable)
        self.gpu_layers = asked if backend.supports_gpu() else 0

    @property
    def handle(self) -> int:
        return self._handle

    @property
    def template(self) -> str | None:
        """The chat template in the file."""
        raw = api.llama_model_chat_template(self._handle, None)
        return raw.decode("utf-8", errors="replace") if raw else None

    def metadata(self, key: str) -> str | None:
        return _metadata(self._handle, key)

    def close(self) -> None:
        api.llama_model_free(self._handle)

    def _text(self, read: Callable[[int, ctypes.Array[ctypes.c_char], int], int]) -> str:
        buffer = ctypes.create_string_buffer(256)
        read(self._handle, buffer, len(buffer))
        return buffer.value.decode("utf-8", errors="replace")


def _memory_kind(handle: int) -> MemoryKind:
    if api.llama_model_is_hybrid(handle):
        return MemoryKind.HYBRID
    if api.llama_model_is_recurrent(handle):
        return MemoryKind.RECURRENT
    return MemoryKind.SLIDING_WINDOW if api.llama_model_n_swa(handle) > 0 else MemoryKind.ATTENTION


def offloadable_layers(path: str) -> int:
    """Layers of a model, the output layer counted as one. Reads no weights. Raises DraftglassError as `Model` does."""
    backend.start()
    backend.take_errors()
    params = api.llama_model_default_params()
    params.vocab_only = True
    handle = api.llama_model_load_from_file(os.fsencode(path), params)
    if not handle:
        raise _refusal(path)
    try:
        return int(_metadata(handle, f"{_metadata(handle, 'general.architecture')}.block_count") or 0) + 1
    finally:
        api.llama_model_free(handle)


def _metadata(handle: int, key: str) -> str | None:
    buffer = ctypes.create_string_buffer(512)
    if api.llama_model_meta_val_str(handle, key.encode(), buffer, len(buffer)) < 0:
        return None
    return buffer.value.decode("utf-8", errors="replace")


def _load(path: str, gpu_layers: int, on_progress: Callable[[float], bool]) -> int:
    if not Path(path).is_file():
        raise DraftglassError(
            Problem(f"There is no file {path}.", "Choose another model.", Blame.USER, Fault.BAD_MODEL)
        )
    go_on = True

    def report(fraction: float, _data: ctypes.c_void_p) -> bool:
        nonlocal go_on
        go_on = on_progress(fraction)
        return go_on

    callback = api.llama_progress_callback(report)
    params = api.llama_model_default_params()
    params.n_gpu_layers = gpu_layers
    params.progress_callback = callback
    handle = api.llama_model_load_from_file(os.fsencode(path), params)
    if handle:
        return int(handle)
    if not go_on:
        raise LoadAborted
    raise _refusal(path)


def _refusal(path: str) -> DraftglassError:
    name, cause = Path(path).name, backend.take_errors()
    if lacks_memory(cause):
        fewer_layers = ", put fewer layers on the GPU in the model settings" if backend.supports_gpu() else ""
        remedies = f"Choose a smaller model{fewer_layers}, or close other programs."
        return DraftglassError(out_of_memory(f"the weights of {name}", cause, remedies))
    return DraftglassError(
        Problem(
            f"{name} can't be loaded: {cause or 'llama.cpp gave no reason'}.",
            "The file may be damaged or too new for this version; download it again or choose another.",
            Blame.USER,
            Fault.BAD_MODEL,
        )
    )
