"""What the settings say about the KV cache and attention, in llama.cpp's terms, and its answers to it."""

from __future__ import annotations

from collections.abc import Iterable

import llama_cpp.llama_cpp as api

from desktop_app.core.errors import Blame, Problem
from desktop_app.core.settings import CacheType, FlashAttention, ModelSettings
from desktop_app.engine.llama.shortage import lacks_memory, out_of_memory

_CACHE_TYPES = {
    CacheType.F16: api.GGML_TYPE_F16,
    CacheType.Q8_0: api.GGML_TYPE_Q8_0,
    CacheType.Q4_0: api.GGML_TYPE_Q4_0,
}
_FLASH_ATTENTION = {
    FlashAttention.AUTO: api.LLAMA_FLASH_ATTN_TYPE_AUTO,
    FlashAttention.ON: api.LLAMA_FLASH_ATTN_TYPE_ENABLED,
    FlashAttention.OFF: api.LLAMA_FLASH_ATTN_TYPE_DISABLED,
}
_WITHOUT_FLASH_ATTENTION = ("Flash Attention not supported", "flash_attn is not compatible")
_NO_SUCH_CACHE = ("does not divide", "requires", "does not support different")
"""How llama.cpp's refusals of types read."""
_REMEDIES = "Set a smaller context or a cache of q8_0 in the model settings, or choose a smaller model."


def apply(settings: ModelSettings, params: api.llama_context_params) -> None:
    params.type_k, params.type_v = _CACHE_TYPES[settings.cache_k], _CACHE_TYPES[settings.cache_v]
    params.flash_attn_type = _FLASH_ATTENTION[settings.flash_attention]


def has_flash_attention(settings: ModelSettings, log: Iterable[str]) -> bool:
    """Judged by llama.cpp's log while it made the context: no call tells."""
    denied = any(words in line for line in log for words in _WITHOUT_FLASH_ATTENTION)
    return settings.flash_attention is not FlashAttention.OFF and not denied


def refusal(settings: ModelSettings, cause: str) -> Problem:
    """Why there is no context, from what llama.cpp complained about."""
    if settings.cache_v.quantised and settings.flash_attention is FlashAttention.OFF:
        return Problem(
            f"A cache of V in {settings.cache_v} needs flash attention, which is switched off.",
            "Set flash attention to auto, or V to f16.",
            Blame.USER,
        )
    if any(words in cause for words in _NO_SUCH_CACHE):
        return Problem(
            f"This model can't have a cache of K in {settings.cache_k} and V in {settings.cache_v}: {cause}.",
            "Set both to f16.",
            Blame.USER,
        )
    if lacks_memory(cause):
        return out_of_memory(f"a context of {settings.n_ctx:,} tokens", cause, _REMEDIES)
    return Problem(
        f"llama.cpp could not make a context of {settings.n_ctx:,} tokens: {cause or 'it gave no reason'}.",
        "Set everything to its default in the model settings, or choose another model.",
        Blame.ENVIRONMENT,
    )
