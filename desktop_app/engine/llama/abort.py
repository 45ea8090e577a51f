"""A flag that any thread can set and that llama.cpp reads while it computes."""

from __future__ import annotations

import ctypes
import sys

import llama_cpp.llama_cpp as api


class AbortFlag:
    """Stops a running `llama_decode` within one graph node.

    llama.cpp asks its abort callback before every node, about a thousand times a pass, so a Python callback would cost
    more than the pass of a small model. libc's `strlen` over our buffer is the callback instead: 0 for an empty string,
    1 once the first byte is set. GPU backends ignore the callback; there the flag is read between passes.
    """

    def __init__(self) -> None:
        self._buffer = ctypes.create_string_buffer(2)
        libc = ctypes.CDLL("msvcrt" if sys.platform == "win32" else None)
        self.callback = ctypes.cast(libc.strlen, api.ggml_abort_callback)
        self.data = ctypes.cast(self._buffer, ctypes.c_void_p)

    def set(self) -> None:
        self._buffer[0] = b"x"

    def clear(self) -> None:
        self._buffer[0] = b"\0"

    def is_set(self) -> bool:
        return self._buffer[0] != b"\0"
