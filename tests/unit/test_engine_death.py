"""Exit codes, signals and log lines in words."""

from __future__ import annotations

import signal

import pytest

from desktop_app.core.errors import Fault
from desktop_app.services.engine_death import explain_exit, find_cause
from desktop_app.services.engine_log import TAIL_LINES, EngineLog

LOADING = ["llama_model_loader: loaded meta data", "load_tensors: offloaded 29/29 layers to GPU"]


@pytest.mark.parametrize(
    "line",
    [
        "/src/ggml.c:123: GGML_ASSERT(a == b) failed",
        "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 900 MiB on device 0: cudaMalloc failed: out of memory",
        "CUDA error: an illegal memory access was encountered",
        "alloc_tensor_range: failed to allocate Vulkan0 buffer of size 123",
        "terminate called after throwing an instance of 'std::bad_alloc'",
        "/src/ggml.c:1644: GGML_ASSERT(ctx->mem_buffer != NULL) failed",
        "MemoryError",
        "ValueError: bad shape",
        "Fatal Python error: Segmentation fault",
    ],
)
def test_a_cause_is_found_between_other_lines(line: str) -> None:
    assert find_cause([*LOADING, line, "  #3 libggml.so(+0x123)"]) == line


def test_the_last_cause_counts_and_long_ones_are_cut() -> None:
    assert find_cause(["CUDA error: first", "GGML_ASSERT(" + "x" * 1000]) == "GGML_ASSERT(" + "x" * 188


def test_there_may_be_no_cause() -> None:
    assert find_cause(LOADING) is None
    assert explain_exit(0, crashed=False, log=LOADING).message == "Engine stopped: no cause given (exit code 0)"


def test_running_out_of_memory_has_its_own_hint() -> None:
    problem = explain_exit(signal.SIGABRT, crashed=True, log=["cudaMalloc failed: out of memory"])
    assert problem.fault is Fault.OUT_OF_MEMORY
    assert "smaller model" in problem.hint
    assert problem.message == "Engine stopped: it ran out of memory, cudaMalloc failed: out of memory (signal SIGABRT)"


def test_a_graph_that_found_no_memory_is_a_shortage_too() -> None:
    log = ["/src/ggml.c:1644: GGML_ASSERT(ctx->mem_buffer != NULL) failed"]
    assert explain_exit(signal.SIGABRT, crashed=True, log=log).fault is Fault.OUT_OF_MEMORY


def test_a_silent_kill_is_probably_the_system_short_of_memory() -> None:
    problem = explain_exit(signal.SIGKILL, crashed=True, log=[])
    assert problem.fault is Fault.OUT_OF_MEMORY
    assert "for want of memory" in problem.message


def test_an_unknown_crash_code_is_told_as_a_number() -> None:
    assert "0xc0000005" in explain_exit(0xC0000005, crashed=True, log=[]).message


def test_the_log_puts_chunks_together() -> None:
    log = EngineLog(None)
    for byte in "eins\nzwei…\ndr".encode():
        log.feed(bytes([byte]))
    assert log.lines == ("eins", "zwei…", "dr")


def test_the_log_keeps_the_last_lines_only_and_forgets_an_earlier_process() -> None:
    log = EngineLog(None)
    log.feed(b"".join(b"%d\n" % i for i in range(TAIL_LINES + 5)))
    assert log.lines[0] == "5"
    assert len(log.lines) == TAIL_LINES
    log.begin()
    assert log.lines == ()
