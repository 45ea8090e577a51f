"""Reading llama.cpp's log about its buffers."""

from __future__ import annotations

import pytest

from desktop_app.engine.llama.buffers import Use, allocated_bytes

LOG = (
    "load_tensors:   CPU_Mapped model buffer size =   400.86 MiB",
    "load_tensors:   CPU_REPACK model buffer size =   191.95 MiB",
    "llama_context:  CUDA_Host  output buffer size =     0.58 MiB",
    "llama_kv_cache:        CPU KV buffer size =    12.00 MiB",
    "llama_kv_cache: size =   12.00 MiB (  4096 cells,   3 layers,  1/1 seqs), K (f16):    6.00 MiB",
    "llama_kv_cache:      CUDA0 KV buffer size =    60.00 MiB",
    "llama_memory_recurrent:        CPU RS buffer size =     2.50 MiB",
    "sched_reserve:      CUDA0 compute buffer size =    39.51 MiB",
)


def test_buffers_of_all_devices_are_added_up_by_use() -> None:
    assert allocated_bytes(LOG, Use.CACHE) == 72 * 2**20
    assert allocated_bytes(LOG, Use.CACHE, Use.STATE) == 74.5 * 2**20
    assert allocated_bytes(LOG, Use.WEIGHTS) == pytest.approx(592.81 * 2**20)
    assert allocated_bytes(LOG, Use.COMPUTE, Use.LOGITS) == pytest.approx(40.09 * 2**20)


def test_no_line_no_bytes() -> None:
    assert allocated_bytes(("llama_context: n_ctx = 4096",), Use.CACHE) == 0
