"""Tiny GGUF models with random weights that llama.cpp really loads and runs, and broken ones that it refuses.

Their text means nothing; their shapes, vocabularies, templates and kinds of memory are what tests are after.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import gguf
import numpy as np

CONTROL_TOKENS = ("<unk>", "<s>", "</s>")
BYTE_TOKENS = tuple(f"<0x{byte:02X}>" for byte in range(256))
WORDS = (*(f"\u2581word{number}" for number in range(36)), "\u2581")
TOKENS = (*CONTROL_TOKENS, *BYTE_TOKENS, *WORDS)
"""SentencePiece style: control tokens, every byte, some words."""

TEMPLATE = "{% for message in messages %}{{ message['content'] }}\n{% endfor %}"

_EMBEDDING, _HEADS, _FEED_FORWARD, _LAYERS = 32, 2, 64, 2


def write_llama(
    path: Path,
    *,
    tokens: Sequence[str] = TOKENS,
    template: str | None = TEMPLATE,
    n_ctx: int = 512,
    layers: int = _LAYERS,
    head_size: int = _EMBEDDING // _HEADS,
    bos_id: int = 1,
    add_bos: bool = True,
    seed: int = 0,
) -> Path:
    """A dense attention model."""
    writer = _writer(path, "llama", tokens, template, n_ctx=n_ctx, layers=layers, bos_id=bos_id, add_bos=add_bos)
    writer.add_feed_forward_length(_FEED_FORWARD)
    writer.add_head_count(_HEADS)
    writer.add_head_count_kv(_HEADS)
    writer.add_key_length(head_size)
    writer.add_value_length(head_size)
    writer.add_rope_dimension_count(head_size)
    weights = _Weights(writer, seed)
    weights.add_frame(len(tokens))
    attention = _HEADS * head_size
    for layer in range(layers):
        block = f"blk.{layer}"
        weights.add_ones(f"{block}.attn_norm", _EMBEDDING)
        for name in ("attn_q", "attn_k", "attn_v"):
            weights.add(f"{block}.{name}", attention, _EMBEDDING)
        weights.add(f"{block}.attn_output", _EMBEDDING, attention)
        weights.add_ones(f"{block}.ffn_norm", _EMBEDDING)
        weights.add(f"{block}.ffn_gate", _FEED_FORWARD, _EMBEDDING)
        weights.add(f"{block}.ffn_up", _FEED_FORWARD, _EMBEDDING)
        weights.add(f"{block}.ffn_down", _EMBEDDING, _FEED_FORWARD)
    return _finish(writer, path)


def write_mamba(path: Path, *, tokens: Sequence[str] = TOKENS, template: str | None = TEMPLATE, seed: int = 0) -> Path:
    """A recurrent model: it keeps a running state from which nothing can be removed."""
    inner, state, convolution, rank = 2 * _EMBEDDING, 8, 4, 4
    writer = _writer(path, "mamba", tokens, template, n_ctx=512, layers=_LAYERS, bos_id=1, add_bos=True)
    writer.add_feed_forward_length(0)
    writer.add_head_count(0)
    writer.add_ssm_conv_kernel(convolution)
    writer.add_ssm_inner_size(inner)
    writer.add_ssm_state_size(state)
    writer.add_ssm_time_step_rank(rank)
    weights = _Weights(writer, seed)
    weights.add_frame(len(tokens))
    for layer in range(_LAYERS):
        block = f"blk.{layer}"
        weights.add_ones(f"{block}.attn_norm", _EMBEDDING)
        weights.add(f"{block}.ssm_in", 2 * inner, _EMBEDDING)
        weights.add(f"{block}.ssm_conv1d", inner, convolution)
        weights.add(f"{block}.ssm_conv1d", inner, part="bias")
        weights.add(f"{block}.ssm_x", rank + 2 * state, inner)
        weights.add(f"{block}.ssm_dt", inner, rank)
        weights.add(f"{block}.ssm_dt", inner, part="bias")
        # Decay rates: below zero, or the state would explode.
        writer.add_tensor(f"{block}.ssm_a", np.full((inner, state), -1.0, np.float32))
        writer.add_tensor(f"{block}.ssm_d", np.ones(inner, np.float32))
        weights.add(f"{block}.ssm_out", _EMBEDDING, inner)
    return _finish(writer, path)


def truncate(source: Path, path: Path, *, keep: float) -> Path:
    """The first part of a file, as a broken download leaves it."""
    data = source.read_bytes()
    path.write_bytes(data[: int(len(data) * keep)])
    return path


class _Weights:
    def __init__(self, writer: gguf.GGUFWriter, seed: int) -> None:
        self._writer = writer
        self._random = np.random.default_rng(seed)

    def add_frame(self, n_vocab: int) -> None:
        """Embedding, last norm and output."""
        self.add("token_embd", n_vocab, _EMBEDDING)
        self.add_ones("output_norm", _EMBEDDING)
        self.add("output", n_vocab, _EMBEDDING)

    def add(self, name: str, *shape: int, part: str = "weight") -> None:
        self._writer.add_tensor(f"{name}.{part}", self._draw(*shape))

    def add_ones(self, name: str, size: int) -> None:
        self._writer.add_tensor(f"{name}.weight", np.ones(size, np.float32))

    def _draw(self, *shape: int) -> np.ndarray:
        return self._random.normal(scale=0.3, size=shape).astype(np.float32)


def _writer(
    path: Path,
    architecture: str,
    tokens: Sequence[str],
    template: str | None,
    *,
    n_ctx: int,
    layers: int,
    bos_id: int,
    add_bos: bool,
) -> gguf.GGUFWriter:
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_name(path.stem)
    writer.add_context_length(n_ctx)
    writer.add_embedding_length(_EMBEDDING)
    writer.add_block_count(layers)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(list(tokens))
    writer.add_token_scores([-float(number) for number in range(len(tokens))])
    writer.add_token_types([_token_type(token) for token in tokens])
    writer.add_bos_token_id(bos_id)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_add_bos_token(add_bos)
    if template is not None:
        writer.add_chat_template(template)
    return writer


def _token_type(token: str) -> gguf.TokenType:
    if token == "<unk>":
        return gguf.TokenType.UNKNOWN
    if token in CONTROL_TOKENS:
        return gguf.TokenType.CONTROL
    if token.startswith("<|"):
        return gguf.TokenType.USER_DEFINED  # found in a text wherever it stands
    return gguf.TokenType.BYTE if token in BYTE_TOKENS else gguf.TokenType.NORMAL


def _finish(writer: gguf.GGUFWriter, path: Path) -> Path:
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
