"""Tiny GGUF files, written with the `gguf` package, for tests that read headers. They hold no usable model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import gguf
import numpy as np

Value = TypeVar("Value")

TOKENS = tuple(f"token{number}" for number in range(40))
TEMPLATE = "{% for message in messages %}{{ message['content'] }}{% endfor %}"


def write_gguf(
    path: Path,
    *,
    architecture: str = "llama",
    tokenizer: str | None = "gpt2",
    tokens: Sequence[str | bytes] = TOKENS,
    add_bos: bool | None = None,
    add_eos: bool | None = None,
    bos_id: int | None = 1,
    eos_id: int | None = 2,
    name: str | None = "Tiny",
    file_type: int | None = 1,
    template: str | None = TEMPLATE,
    tensors: int = 2,
    part: tuple[int, int] | None = None,
) -> Path:
    """Write a file with the given header and `tensors` F16 tensors of 4 × 8 zeros; None leaves a key out.

    `part` is (number from 0, count of parts).
    """
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_context_length(512)
    writer.add_block_count(3)
    if tokenizer is not None:
        writer.add_tokenizer_model(tokenizer)
        writer.add_token_list([token.encode() if isinstance(token, str) else token for token in tokens])
        writer.add_token_types([1] * len(tokens))
        writer.add_token_merges(["a b", "c d"])
    if part is not None:
        writer.add_uint16("split.no", part[0])
        writer.add_uint16("split.count", part[1])
    _given(writer.add_name, name)
    _given(writer.add_file_type, file_type)
    _given(writer.add_add_bos_token, add_bos)
    _given(writer.add_add_eos_token, add_eos)
    _given(writer.add_bos_token_id, bos_id)
    _given(writer.add_eos_token_id, eos_id)
    _given(writer.add_chat_template, template)
    for number in range(tensors):
        writer.add_tensor(f"blk.{number}.weight", np.zeros((8, 4), np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def write_split(folder: Path, *, stem: str = "big", count: int = 3) -> list[Path]:
    """A model in `count` parts, named as llama.cpp names them; the first alone holds the vocabulary."""
    return [
        write_gguf(
            folder / f"{stem}-{number + 1:05d}-of-{count:05d}.gguf",
            tokenizer="gpt2" if number == 0 else None,
            part=(number, count),
        )
        for number in range(count)
    ]


def _given(add: Callable[[Value], None], value: Value | None) -> None:
    if value is not None:
        add(value)
