"""What a model takes of memory before it is loaded, from its header: weights, KV cache, buffers for computing.

Estimates: the cache is exact for the arrangements known here; the buffers follow llama.cpp's largest intermediate
results (measured with Llama, Qwen2 and Gemma 3: within 10 %). What can't be told from the header is None.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from desktop_app.core.settings import AUTO_LAYERS, BATCH, GAMMA_MAX, CacheType, FlashAttention, LoadSettings
from desktop_app.library.gguf_header import GgufHeader, TensorInfo
from desktop_app.library.gguf_types import TENSOR_TYPES

_LAYER = re.compile(r"blk\.(?P<number>\d+)\.(?P<name>.+)")

_STATE = re.compile(r"blk\.\d+\.(?:ssm_|shortconv|time_mix)")
"""Tensors of recurrent layers, which keep a state."""

_OTHER_CACHES = ("attention.kv_lora_rank", "attention.shared_kv_layers", "nextn_predict_layers")
"""Keys of models whose cache is not one key and one value a layer, whatever their tensors look like."""

_CELLS = 256
"""llama.cpp rounds the tokens of a context up to a multiple of this."""

_FLOAT_BYTES = 4
_CACHE_TYPES = {kind.name.lower(): kind for kind in TENSOR_TYPES.values()}


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes that a model takes; None where they are not known."""

    weights: int
    cache: int | None
    compute: int | None

    @property
    def total(self) -> int | None:
        if self.cache is None or self.compute is None:
            return None
        return self.weights + self.cache + self.compute


@dataclass(frozen=True, slots=True)
class MemoryShape:
    """What of a model decides how much memory it takes."""

    layer_bytes: tuple[int, ...]
    """Weights of each layer."""
    input_bytes: int
    """Weights outside the layers that always stay in the machine's own memory: the embeddings of tokens."""
    output_bytes: int
    """All other weights: what turns the last layer's result into logits."""
    n_vocab: int
    key_width: int | None
    """Numbers that the keys of one token come to, in all layers together."""
    value_width: int | None
    embedding: int | None
    """Numbers of one token between layers."""
    feed_forward: int | None
    """Numbers of one token within the widest feed-forward network."""
    heads: int | None
    masks: int
    """Attention masks: a second one for the layers with a sliding window."""


def memory_shape(headers: Sequence[GgufHeader], architecture: str) -> MemoryShape:
    """From the headers of all parts of a model, the first part first."""
    first, tensors = headers[0], [tensor for header in headers for tensor in header.tensors]
    layers = _layers(tensors)
    plain = not any(first.integer(f"{architecture}.{key}") for key in _OTHER_CACHES)
    plain = plain and not any(_STATE.match(tensor.name) for tensor in tensors)
    outside = {tensor.name: tensor.size_bytes or 0 for tensor in tensors if not _LAYER.fullmatch(tensor.name)}
    return MemoryShape(
        layer_bytes=tuple(sum(tensor.size_bytes or 0 for tensor in layer.values()) for layer in layers),
        input_bytes=outside.pop("token_embd.weight", 0),
        output_bytes=sum(outside.values()),
        n_vocab=len(first.tokens),
        key_width=_sum(_widths(layers, "attn_k.weight")) if plain else None,
        value_width=_sum(_widths(layers, "attn_v.weight")) if plain else None,
        embedding=first.integer(f"{architecture}.embedding_length"),
        feed_forward=max(_widths(layers, "ffn_up.weight") or (), default=None),
        heads=first.integer(f"{architecture}.attention.head_count"),
        masks=2 if first.integer(f"{architecture}.attention.sliding_window") else 1,
    )


def memory_needed(shape: MemoryShape, how: LoadSettings) -> Memory:
    """What the model takes when it is loaded like that. `how.n_ctx` is not more than the model was trained for."""
    weights = sum(shape.layer_bytes) + shape.input_bytes + shape.output_bytes
    return Memory(weights, _cache_bytes(shape, how), _compute_bytes(shape, how))


def gpu_share(shape: MemoryShape, how: LoadSettings) -> int | None:
    """Bytes of `memory_needed` that are the GPU's. Layers go there from the last one on, the output before them."""
    count = len(shape.layer_bytes)
    asked = count + 1 if how.gpu_layers == AUTO_LAYERS else min(how.gpu_layers, count + 1)
    if asked == 0:
        return 0
    need = memory_needed(shape, how)
    if need.cache is None or need.compute is None or count == 0:
        return None
    layers = asked - 1
    # Without an output of its own a model uses the embeddings once more, and the GPU gets a copy.
    output = shape.output_bytes if shape.output_bytes > shape.input_bytes / 2 else shape.input_bytes
    return sum(shape.layer_bytes[count - layers :]) + output + need.cache * layers // count + need.compute


def _cache_bytes(shape: MemoryShape, how: LoadSettings) -> int | None:
    if shape.key_width is None or shape.value_width is None:
        return None
    cells = -(-how.n_ctx // _CELLS) * _CELLS
    return cells * (_stored(shape.key_width, how.cache_k) + _stored(shape.value_width, how.cache_v))


def _compute_bytes(shape: MemoryShape, how: LoadSettings) -> int | None:
    """The largest of what llama.cpp holds at once of a batch: within a layer, or the logits."""
    if shape.embedding is None or shape.feed_forward is None or shape.heads is None:
        return None
    fused = how.flash_attention is not FlashAttention.OFF
    feed_forward = BATCH * (3 * shape.feed_forward + 4 * shape.embedding)
    attention = BATCH * (5 * shape.embedding + (0 if fused else shape.heads * how.n_ctx))
    logits = (GAMMA_MAX + 1) * shape.n_vocab
    masks = shape.masks * BATCH * how.n_ctx * (2 if fused else _FLOAT_BYTES)
    return _FLOAT_BYTES * (max(feed_forward, attention, logits) + shape.n_vocab) + masks


def _stored(numbers: int, kind: CacheType) -> int:
    packing = _CACHE_TYPES[kind]
    return numbers // packing.block * packing.block_bytes


def _layers(tensors: Sequence[TensorInfo]) -> list[dict[str, TensorInfo]]:
    """The tensors of each layer by their names within it."""
    layers: dict[int, dict[str, TensorInfo]] = defaultdict(dict)
    for tensor in tensors:
        if match := _LAYER.fullmatch(tensor.name):
            layers[int(match["number"])][match["name"]] = tensor
    return [layer for _, layer in sorted(layers.items())]


def _widths(layers: Sequence[dict[str, TensorInfo]], name: str) -> tuple[int, ...] | None:
    """Rows of that matrix in each layer; None unless every layer has one."""
    if not layers or any(name not in layer for layer in layers):
        return None
    return tuple(layer[name].shape[-1] for layer in layers)


def _sum(widths: Sequence[int] | None) -> int | None:
    return None if widths is None else sum(widths)
