"""llama.cpp's complaints about memory, told from others."""

from __future__ import annotations

import pytest

from desktop_app.engine.llama.shortage import lacks_memory, out_of_memory

KV = (
    "ggml_aligned_malloc: insufficient memory (attempted to allocate 180.00 MB); failed to allocate buffer for kv cache"
)
CUDA = "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 900.50 MiB on device 0: cudaMalloc failed: out of memory"


@pytest.mark.parametrize("cause", [KV, CUDA, "mmap failed: Cannot allocate memory", "std::bad_alloc"])
def test_a_lack_of_memory(cause: str) -> None:
    assert lacks_memory(cause)


@pytest.mark.parametrize("cause", ["", "unknown model architecture: 'new'", "quantized V cache requires flash_attn"])
def test_another_complaint(cause: str) -> None:
    assert not lacks_memory(cause)


@pytest.mark.parametrize(
    ("cause", "amount"),
    [(KV, ": 180 MB at once were not to be had"), (CUDA, ": 900 MB at once were not to be had"), ("mmap failed", "")],
)
def test_the_amount_is_told_where_it_is_known(cause: str, amount: str) -> None:
    assert out_of_memory("a context", cause, "").message == f"There is not enough memory for a context{amount}."
