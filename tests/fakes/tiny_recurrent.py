"""Tiny GGUF models that keep a running state: recurrent ones, and hybrids of recurrent and attention layers.

`noise` gives a draft for the model without: the same weights, a little off.
"""

from __future__ import annotations

from pathlib import Path

import gguf

from tests.fakes.tiny_models import EMBEDDING, FEED_FORWARD, HEADS, TEMPLATE, TOKENS, Weights, finish, writer_for

_INNER, _STATE, _CONVOLUTION, _RANK = 2 * EMBEDDING, 8, 4, 4
_CONTEXT = 4096


def write_mamba(path: Path, *, noise: float = 0.0) -> Path:
    """Recurrent only."""
    writer = _writer(path, "mamba", layers=2)
    writer.add_feed_forward_length(0)
    writer.add_head_count(0)
    _add_mamba_sizes(writer)
    weights = Weights(writer, noise=noise)
    weights.add_frame(len(TOKENS))
    for block in ("blk.0", "blk.1"):
        weights.add_ones(f"{block}.attn_norm", EMBEDDING)
        _add_mamba(weights, block)
    return finish(writer, path)


def write_jamba(path: Path, *, noise: float = 0.0) -> Path:
    """A hybrid whose running state can only be copied and restored: Mamba layers around an attention layer."""
    heads_kv = (0, HEADS, 0)
    writer = _writer(path, "jamba", layers=len(heads_kv))
    writer.add_feed_forward_length(FEED_FORWARD)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(heads_kv)
    _add_mamba_sizes(writer)
    weights = Weights(writer, noise=noise)
    weights.add_frame(len(TOKENS))
    for layer, attention in enumerate(heads_kv):
        block = f"blk.{layer}"
        weights.add_ones(f"{block}.attn_norm", EMBEDDING)
        if attention:
            weights.add_attention(block, EMBEDDING)
        else:
            _add_mamba(weights, block)
            weights.add_ones(f"{block}.ssm_dt_norm", _RANK)
            weights.add_ones(f"{block}.ssm_b_norm", _STATE)
            weights.add_ones(f"{block}.ssm_c_norm", _STATE)
        weights.add_ones(f"{block}.ffn_norm", EMBEDDING)
        weights.add_feed_forward(block)
    return finish(writer, path)


def write_lfm2(path: Path, *, noise: float = 0.0) -> Path:
    """A hybrid that can keep snapshots: short convolutions around an attention layer."""
    heads_kv = (0, HEADS, 0)
    writer = _writer(path, "lfm2", layers=len(heads_kv))
    writer.add_feed_forward_length(FEED_FORWARD)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(heads_kv)
    writer.add_shortconv_l_cache(_CONVOLUTION)
    weights = Weights(writer, noise=noise)
    weights.add("token_embd", len(TOKENS), EMBEDDING)
    weights.add_ones("token_embd_norm", EMBEDDING)
    weights.add("output", len(TOKENS), EMBEDDING)
    for layer, attention in enumerate(heads_kv):
        block = f"blk.{layer}"
        weights.add_ones(f"{block}.attn_norm", EMBEDDING)
        if attention:
            weights.add_attention(block, EMBEDDING)
            weights.add_ones(f"{block}.attn_q_norm", EMBEDDING // HEADS)
            weights.add_ones(f"{block}.attn_k_norm", EMBEDDING // HEADS)
        else:
            weights.add(f"{block}.shortconv.conv", EMBEDDING, _CONVOLUTION)
            weights.add(f"{block}.shortconv.in_proj", 3 * EMBEDDING, EMBEDDING)
            weights.add(f"{block}.shortconv.out_proj", EMBEDDING, EMBEDDING)
        weights.add_ones(f"{block}.ffn_norm", EMBEDDING)
        weights.add_feed_forward(block)
    return finish(writer, path)


def write_qwen35(path: Path, *, noise: float = 0.0) -> Path:
    """A hybrid that can keep snapshots: gated delta nets around an attention layer with gated output."""
    head, value_heads, key_heads, layers = 16, 4, 2, 3
    values, channels = value_heads * head, (value_heads + 2 * key_heads) * head
    writer = _writer(path, "qwen35", layers=layers)
    writer.add_feed_forward_length(FEED_FORWARD)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_key_length(head)
    writer.add_value_length(head)
    writer.add_rope_dimension_count(head)
    writer.add_rope_dimension_sections((2, 3, 3, 0))
    writer.add_ssm_conv_kernel(_CONVOLUTION)
    writer.add_ssm_inner_size(values)
    writer.add_ssm_state_size(head)
    writer.add_ssm_time_step_rank(value_heads)
    writer.add_ssm_group_count(key_heads)
    writer.add_full_attention_interval(2)
    weights = Weights(writer, noise=noise)
    weights.add_frame(len(TOKENS))
    for layer in range(layers):
        block = f"blk.{layer}"
        weights.add_ones(f"{block}.attn_norm", EMBEDDING)
        weights.add_ones(f"{block}.post_attention_norm", EMBEDDING)
        if layer == 1:
            weights.add(f"{block}.attn_q", 2 * HEADS * head, EMBEDDING)
            weights.add(f"{block}.attn_k", HEADS * head, EMBEDDING)
            weights.add(f"{block}.attn_v", HEADS * head, EMBEDDING)
            weights.add(f"{block}.attn_output", EMBEDDING, HEADS * head)
            weights.add_ones(f"{block}.attn_q_norm", head)
            weights.add_ones(f"{block}.attn_k_norm", head)
        else:
            weights.add(f"{block}.attn_qkv", channels, EMBEDDING)
            weights.add(f"{block}.attn_gate", values, EMBEDDING)
            weights.add(f"{block}.ssm_conv1d", channels, _CONVOLUTION)
            weights.add(f"{block}.ssm_dt", value_heads, part="bias")
            weights.add_constant(f"{block}.ssm_a", -0.5, value_heads)
            weights.add(f"{block}.ssm_beta", value_heads, EMBEDDING)
            weights.add(f"{block}.ssm_alpha", value_heads, EMBEDDING)
            weights.add_ones(f"{block}.ssm_norm", head)
            weights.add(f"{block}.ssm_out", EMBEDDING, values)
        weights.add_feed_forward(block)
    return finish(writer, path)


def _writer(path: Path, architecture: str, *, layers: int) -> gguf.GGUFWriter:
    return writer_for(path, architecture, TOKENS, TEMPLATE, n_ctx=_CONTEXT, layers=layers, bos_id=1, add_bos=True)


def _add_mamba_sizes(writer: gguf.GGUFWriter) -> None:
    writer.add_ssm_conv_kernel(_CONVOLUTION)
    writer.add_ssm_inner_size(_INNER)
    writer.add_ssm_state_size(_STATE)
    writer.add_ssm_time_step_rank(_RANK)


def _add_mamba(weights: Weights, block: str) -> None:
    weights.add(f"{block}.ssm_in", 2 * _INNER, EMBEDDING)
    weights.add(f"{block}.ssm_conv1d", _INNER, _CONVOLUTION)
    weights.add(f"{block}.ssm_conv1d", _INNER, part="bias")
    weights.add(f"{block}.ssm_x", _RANK + 2 * _STATE, _INNER)
    weights.add(f"{block}.ssm_dt", _INNER, _RANK)
    weights.add(f"{block}.ssm_dt", _INNER, part="bias")
    # Decay rates: below zero, or the state would explode.
    weights.add_constant(f"{block}.ssm_a", -1.0, _INNER, _STATE)
    weights.add_constant(f"{block}.ssm_d", 1.0, _INNER)
    weights.add(f"{block}.ssm_out", EMBEDDING, _INNER)
