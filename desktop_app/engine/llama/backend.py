"""The llama.cpp library in this process: its start, its log and its devices."""

from __future__ import annotations

import ctypes
import logging
import re
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

import llama_cpp
import llama_cpp.llama_cpp as api

from desktop_app.core.facts import Device

logger = logging.getLogger(__name__)

VERSION = str(llama_cpp.__version__)

_LEVELS = {3: logging.WARNING, 4: logging.ERROR}
"""ggml_log_level to ours; all else is debug: llama.cpp's "info" is a page of text per model."""

_ABORT = re.compile(
    r"graph_compute: \S+ failed with error 1$"
    r"|: failed to compute graph, compute status: 1$"
    r"|^llama_decode: failed to decode, ret = 2$"
    r"|: removing memory module entries for "
)
"""What llama.cpp logs from WARN up when the abort flag stops a pass (1 is GGML_STATUS_ABORTED): nothing went wrong.

The last line follows every pass that fails, but another failure is named by the lines around it.
"""

_GPU_TYPES = (1, 2)
"""GGML_BACKEND_DEVICE_TYPE_GPU and _IGPU."""

_errors: deque[str] = deque(maxlen=20)
_listeners: list[Callable[[str], None]] = []


@api.llama_log_callback  # type: ignore[untyped-decorator]  # a ctypes function type
def _on_log(level: int, text: bytes, _data: ctypes.c_void_p) -> None:
    line = text.decode("utf-8", errors="replace").rstrip()
    if not line:
        return
    ours = logging.DEBUG if _ABORT.search(line) else _LEVELS.get(level, logging.DEBUG)
    if ours == logging.ERROR:
        _errors.append(line)
    for listener in _listeners:
        listener(line)
    logger.log(ours, "%s", line)


@cache
def start() -> None:
    """Load the backends and route llama.cpp's log into ours. Safe to call again."""
    api.llama_log_set(_on_log, ctypes.c_void_p(0))
    api.llama_backend_init()


def take_errors() -> str:
    """What llama.cpp complained about since the last call, newest last, in one line."""
    text = "; ".join(dict.fromkeys(_errors))
    _errors.clear()
    return text


@contextmanager
def listening(listener: Callable[[str], None]) -> Iterator[None]:
    """Have every log line heard by `listener` meanwhile."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def supports_gpu() -> bool:
    start()
    return bool(api.llama_supports_gpu_offload())


def devices() -> tuple[Device, ...]:
    """Every device that llama.cpp sees, in its own order."""
    start()
    lib = _ggml()
    return tuple(_device(lib, lib.ggml_backend_dev_get(i)) for i in range(lib.ggml_backend_dev_count()))


def _device(lib: ctypes.CDLL, handle: int) -> Device:
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    lib.ggml_backend_dev_memory(handle, ctypes.byref(free), ctypes.byref(total))
    return Device(
        name=lib.ggml_backend_dev_name(handle).decode(),
        description=lib.ggml_backend_dev_description(handle).decode(),
        memory_bytes=total.value,
        free_bytes=free.value,
        is_gpu=lib.ggml_backend_dev_type(handle) in _GPU_TYPES,
    )


@cache
def _ggml() -> ctypes.CDLL:
    """ggml's functions through libllama's handle; its own handle would be a second copy with its own registry."""
    lib: ctypes.CDLL = api._lib  # noqa: SLF001  the package exports no other way to this handle
    lib.ggml_backend_dev_count.restype = ctypes.c_size_t
    lib.ggml_backend_dev_get.argtypes = [ctypes.c_size_t]
    lib.ggml_backend_dev_get.restype = ctypes.c_void_p
    for name in ("name", "description"):
        function = getattr(lib, f"ggml_backend_dev_{name}")
        function.argtypes, function.restype = [ctypes.c_void_p], ctypes.c_char_p
    lib.ggml_backend_dev_type.argtypes = [ctypes.c_void_p]
    lib.ggml_backend_dev_type.restype = ctypes.c_int
    size = ctypes.POINTER(ctypes.c_size_t)
    lib.ggml_backend_dev_memory.argtypes = [ctypes.c_void_p, size, size]
    lib.ggml_backend_dev_memory.restype = None
    return lib
