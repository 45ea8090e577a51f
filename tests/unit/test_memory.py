"""What a model takes of memory, told from its header."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from desktop_app.core.settings import BATCH, GAMMA_MAX, CacheType, FlashAttention, LoadSettings
from desktop_app.library.gguf_header import GgufHeader, TensorInfo
from desktop_app.library.memory import Memory, MemoryShape, gpu_share, memory_needed, memory_shape

SHAPE = MemoryShape(
    layer_bytes=(100, 200, 300, 400),
    input_bytes=1000,
    output_bytes=900,
    n_vocab=32,
    key_width=4 * 64,
    value_width=4 * 128,
    embedding=512,
    feed_forward=1024,
    heads=8,
    masks=1,
)
HOW = LoadSettings(n_ctx=1024)


def header(shapes: Mapping[str, tuple[int, ...]], **metadata: int) -> GgufHeader:
    """F32 tensors of these shapes in a file of the architecture "llama"."""
    tensors = tuple(TensorInfo(name, shape, 0, 0) for name, shape in shapes.items())
    keys = {f"llama.{key.replace('__', '.')}": value for key, value in metadata.items()}
    return GgufHeader(Path("m.gguf"), 0, 3, dict(keys), (b"a", b"b"), tensors, 0)


def layers(count: int, **widths: int) -> dict[str, tuple[int, ...]]:
    return {f"blk.{layer}.{name}.weight": (8, width) for layer in range(count) for name, width in widths.items()}


class TestShape:
    def test_a_dense_model(self) -> None:
        tensors = {
            "token_embd.weight": (8, 2),
            "output.weight": (8, 2),
            "output_norm.weight": (8,),
            **layers(3, attn_k=4, attn_v=2, ffn_up=16),
        }
        shape = memory_shape([header(tensors, embedding_length=8, attention__head_count=2)], "llama")
        assert shape == MemoryShape(
            layer_bytes=(22 * 8 * 4,) * 3,
            input_bytes=64,
            output_bytes=96,
            n_vocab=2,
            key_width=12,
            value_width=6,
            embedding=8,
            feed_forward=16,
            heads=2,
            masks=1,
        )

    def test_layers_may_differ_and_lie_in_several_files(self) -> None:
        first, second = layers(1, attn_k=4, attn_v=4), {"blk.1.attn_k.weight": (8, 2), "blk.1.attn_v.weight": (8, 2)}
        shape = memory_shape([header(first), header(second)], "llama")
        assert (shape.key_width, shape.value_width) == (6, 6)

    def test_a_sliding_window_has_a_mask_of_its_own(self) -> None:
        assert memory_shape([header({}, attention__sliding_window=512)], "llama").masks == 2

    @pytest.mark.parametrize(
        "headers",
        [
            [header(layers(2, attn_qkv=12))],
            [header({**layers(1, attn_k=4, attn_v=4), "blk.1.ssm_in.weight": (8, 8)})],
            [header(layers(2, attn_k=4, attn_v=4), attention__kv_lora_rank=64)],
            [header(layers(2, attn_k=4, attn_v=4), nextn_predict_layers=1)],
        ],
        ids=["fused", "hybrid", "latent", "with layers beside the model"],
    )
    def test_another_cache_is_not_guessed_at(self, headers: list[GgufHeader]) -> None:
        need = memory_needed(memory_shape(headers, "llama"), HOW)
        assert (need.cache, need.compute, need.total) == (None, None, None)


class TestCache:
    @pytest.mark.parametrize(
        ("k", "v", "key_bytes", "value_bytes"),
        [
            (CacheType.F16, CacheType.F16, 512, 1024),
            (CacheType.Q8_0, CacheType.F16, 272, 1024),
            (CacheType.Q4_0, CacheType.Q8_0, 144, 544),
        ],
    )
    def test_a_token_takes_its_keys_and_values(
        self, k: CacheType, v: CacheType, key_bytes: int, value_bytes: int
    ) -> None:
        assert memory_needed(SHAPE, replace(HOW, cache_k=k, cache_v=v)).cache == 1024 * (key_bytes + value_bytes)

    def test_contexts_come_in_steps_of_256_tokens(self) -> None:
        assert memory_needed(SHAPE, replace(HOW, n_ctx=1000)) == replace(
            memory_needed(SHAPE, HOW), compute=memory_needed(SHAPE, replace(HOW, n_ctx=1000)).compute
        )


class TestCompute:
    def test_without_flash_attention_the_scores_count(self) -> None:
        fused = memory_needed(SHAPE, HOW).compute
        plain = memory_needed(SHAPE, replace(HOW, flash_attention=FlashAttention.OFF)).compute
        assert fused == 4 * (BATCH * (3 * 1024 + 4 * 512) + 32) + BATCH * 1024 * 2
        assert plain == 4 * (BATCH * (5 * 512 + 8 * 1024) + 32) + BATCH * 1024 * 4

    def test_a_large_vocabulary_outweighs_the_layers(self) -> None:
        shape = replace(SHAPE, n_vocab=1_000_000)
        assert memory_needed(shape, HOW).compute == 4 * (GAMMA_MAX + 2) * 1_000_000 + BATCH * 1024 * 2


class TestGpu:
    @pytest.mark.parametrize(
        ("asked", "layers", "weights"),
        [(1, 0, 0), (2, 1, 400), (3, 2, 700), (5, 4, 1000), (99, 4, 1000), (-1, 4, 1000)],
    )
    def test_layers_go_there_from_the_last_one(self, asked: int, layers: int, weights: int) -> None:
        need = memory_needed(SHAPE, HOW)
        assert need.cache is not None
        assert need.compute is not None
        expected = weights + 900 + need.cache * layers // 4 + need.compute
        assert gpu_share(SHAPE, replace(HOW, gpu_layers=asked)) == expected

    def test_no_layers_take_nothing(self) -> None:
        assert gpu_share(SHAPE, replace(HOW, gpu_layers=0)) == 0

    def test_shared_embeddings_are_copied(self) -> None:
        shared = replace(SHAPE, output_bytes=2)
        one = replace(HOW, gpu_layers=1)
        assert (gpu_share(shared, one) or 0) - (gpu_share(SHAPE, one) or 0) == 100


def test_together_is_known_only_with_every_part() -> None:
    assert Memory(1, 2, 3).total == 6
    assert Memory(1, None, 3).total is None
