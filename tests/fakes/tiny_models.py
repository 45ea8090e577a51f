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

EMBEDDING, HEADS, FEED_FORWARD = 32, 2, 64
_LAYERS = 2


def write_llama(
    path: Path,
    *,
    tokens: Sequence[str] = TOKENS,
    template: str | None = TEMPLATE,
    n_ctx: int = 512,
    layers: int = _LAYERS,
    head_size: int = EMBEDDING // HEADS,
    bos_id: int = 1,
    add_bos: bool = True,
    seed: int = 0,
) -> Path:
    """A dense attention model."""
    writer = writer_for(path, "llama", tokens, template, n_ctx=n_ctx, layers=layers, bos_id=bos_id, add_bos=add_bos)
    writer.add_feed_forward_length(FEED_FORWARD)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_key_length(head_size)
    writer.add_value_length(head_size)
    writer.add_rope_dimension_count(head_size)
    weights = Weights(writer, seed)
    weights.add_frame(len(tokens))
    attention = HEADS * head_size
    for layer in range(layers):
        block = f"blk.{layer}"
        weights.add_ones(f"{block}.attn_norm", EMBEDDING)
        weights.add_attention(block, attention)
        weights.add_ones(f"{block}.ffn_norm", EMBEDDING)
        weights.add_feed_forward(block)
    return finish(writer, path)


def truncate(source: Path, path: Path, *, keep: float) -> Path:
    """The first part of a file, as a broken download leaves it."""
    data = source.read_bytes()
    path.write_bytes(data[: int(len(data) * keep)])
    return path


class Weights:
    """Random weights. The same seed gives the same weights; `noise` then moves each a little, as quantising would."""

    def __init__(self, writer: gguf.GGUFWriter, seed: int = 0, *, noise: float = 0.0) -> None:
        self._writer = writer
        self._random = np.random.default_rng(seed)
        self._noise = np.random.default_rng(seed + 1)
        self._noise_scale = noise

    def add_frame(self, n_vocab: int) -> None:
        """Embedding, last norm and output."""
        self.add("token_embd", n_vocab, EMBEDDING)
        self.add_ones("output_norm", EMBEDDING)
        self.add("output", n_vocab, EMBEDDING)

    def add(self, name: str, *shape: int, part: str = "weight") -> None:
        self._writer.add_tensor(f"{name}.{part}", self._draw(*shape))

    def add_ones(self, name: str, size: int) -> None:
        self.add_constant(f"{name}.weight", 1.0, size)

    def add_constant(self, name: str, value: float, *shape: int) -> None:
        self._writer.add_tensor(name, np.full(shape, value, np.float32))

    def add_attention(self, block: str, size: int) -> None:
        """Query, key, value and output of `size` inner values."""
        for name in ("attn_q", "attn_k", "attn_v"):
            self.add(f"{block}.{name}", size, EMBEDDING)
        self.add(f"{block}.attn_output", EMBEDDING, size)

    def add_feed_forward(self, block: str) -> None:
        self.add(f"{block}.ffn_gate", FEED_FORWARD, EMBEDDING)
        self.add(f"{block}.ffn_up", FEED_FORWARD, EMBEDDING)
        self.add(f"{block}.ffn_down", EMBEDDING, FEED_FORWARD)

    def _draw(self, *shape: int) -> np.ndarray:
        noise = self._noise.normal(scale=self._noise_scale, size=shape)
        return (self._random.normal(scale=0.3, size=shape) + noise).astype(np.float32)


def writer_for(
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
    writer.add_embedding_length(EMBEDDING)
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


def finish(writer: gguf.GGUFWriter, path: Path) -> Path:
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
