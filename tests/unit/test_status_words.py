"""Where the target runs, in words."""

from __future__ import annotations

from dataclasses import replace

from desktop_app.core.facts import Device, MemoryKind, ModelFacts, Rollback
from desktop_app.core.settings import CacheType
from desktop_app.ui.status_line import device_words

TARGET = ModelFacts(
    path="/models/a.gguf",
    name="A",
    description="llama 1B Q8_0",
    size_bytes=1,
    n_vocab=1,
    n_ctx=8192,
    n_ctx_train=8192,
    n_layers=28,
    gpu_layers=0,
    threads=4,
    batch_threads=4,
    cache_k=CacheType.F16,
    cache_v=CacheType.F16,
    flash_attention=True,
    cache_bytes=200_000_000,
    compute_bytes=100_000_000,
    template="model",
    memory=MemoryKind.ATTENTION,
    rollback=Rollback.REMOVAL,
)
CPU = Device("CPU", "Some processor", 32 * 2**30, 16 * 2**30, is_gpu=False)
GPU = Device("Vulkan0", "RTX 4070", 12 * 2**30, 11 * 2**30, is_gpu=True)


def test_a_processor_alone() -> None:
    assert device_words(TARGET, (CPU,))[0] == "CPU, 4 threads"
    assert device_words(replace(TARGET, threads=1), ())[0] == "CPU, 1 thread"


def test_a_gpu_that_holds_no_layer_does_not_count() -> None:
    assert device_words(TARGET, (CPU, GPU))[0] == "CPU, 4 threads"


def test_all_layers_on_a_gpu_with_or_without_the_output_layer() -> None:
    for layers in (28, 29):
        words, explanation = device_words(replace(TARGET, gpu_layers=layers), (CPU, GPU))
        assert words == "RTX 4070 · all layers"
        assert "11.0 of 12.0 GiB" in explanation


def test_some_layers_on_a_gpu() -> None:
    assert device_words(replace(TARGET, gpu_layers=20), (GPU,))[0] == "RTX 4070 · 20 of 28 layers"
