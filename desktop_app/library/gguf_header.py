"""Reads what stands before the weights of a GGUF file, and checks it against the file's size. Never reads weights.

The format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md. The `gguf` package reads the same, but takes
seconds for a vocabulary of 152k tokens, where this takes tenths: it reads lengths and bytes, and makes no arrays.
Plain reads and no mmap: a file that shrinks while mapped would kill the process.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import BinaryIO, Final

from desktop_app.core.errors import Blame, DraftglassError, Fault, Problem
from desktop_app.library.gguf_types import TENSOR_TYPES

Scalar = int | float | bool | str

TOKENS_KEY: Final = "tokenizer.ggml.tokens"

_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_MAX_DIMENSIONS = 4
_DEFAULT_ALIGNMENT = 32
_BUFFER_BYTES = 1 << 20
_LEAST_PAIR_BYTES = 13
"""The shortest key-value pair: an empty key, its type and a value of one byte."""
_LEAST_TENSOR_BYTES = 32
"""The shortest tensor description: an empty name, one dimension, type and offset."""

_U32 = struct.Struct("<I")
_U64 = struct.Struct("<Q")
_STRING: Final = 8
_ARRAY: Final = 9
_SCALARS: Final = {
    0: struct.Struct("<B"),
    1: struct.Struct("<b"),
    2: struct.Struct("<H"),
    3: struct.Struct("<h"),
    4: struct.Struct("<I"),
    5: struct.Struct("<i"),
    6: struct.Struct("<f"),
    7: struct.Struct("<?"),
    10: struct.Struct("<Q"),
    11: struct.Struct("<q"),
    12: struct.Struct("<d"),
}


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """A tensor as the header describes it."""

    name: str
    shape: tuple[int, ...]
    type: int
    """ggml's number of the type, see `gguf_types`."""
    offset: int
    """Bytes from the start of the data part."""

    @property
    def size_bytes(self) -> int | None:
        """Bytes it takes, None for a type we do not know."""
        known = TENSOR_TYPES.get(self.type)
        return None if known is None else prod(self.shape) // known.block * known.block_bytes


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """Everything before the weights, without the long arrays, save the vocabulary."""

    path: Path
    size_bytes: int
    version: int
    metadata: dict[str, Scalar]
    """Keys with a single value."""
    tokens: tuple[bytes, ...]
    """Token texts as stored; empty where the file holds no vocabulary."""
    tensors: tuple[TensorInfo, ...]
    data_start: int
    """Byte where the weights begin."""

    def integer(self, key: str) -> int | None:
        value = self.metadata.get(key)
        return value if isinstance(value, int) else None

    def text(self, key: str) -> str | None:
        value = self.metadata.get(key)
        return value if isinstance(value, str) else None

    def flag(self, key: str) -> bool | None:
        value = self.metadata.get(key)
        return value if isinstance(value, bool) else None


class _MalformedError(Exception):
    """Why the bytes are no GGUF header, as a clause with the file as its subject."""


def read_header(path: Path) -> GgufHeader:
    """Read and check a header.

    Raises DraftglassError (BAD_MODEL) where the file is absent, no GGUF file, damaged or shorter than its header
    promises.
    """
    try:
        with path.open("rb", buffering=_BUFFER_BYTES) as file:
            return _HeaderReader(path, file).read()
    except _MalformedError as malformed:
        raise bad_model(path, str(malformed)) from malformed
    except FileNotFoundError as error:
        raise bad_model(path, "is not there", "Check where it was moved, or choose another file.") from error
    except OSError as error:
        raise bad_model(path, f"cannot be read: {error.strerror or error}", "Check its permissions.") from error


def bad_model(
    path: Path, what: str, hint: str = "Download or copy it again, or choose another file."
) -> DraftglassError:
    """The error for a model file the user should replace; `what` continues a sentence that begins with its name."""
    return DraftglassError(Problem(f"{path.name} {what}.", hint, Blame.USER, Fault.BAD_MODEL))


class _HeaderReader:
    """One pass over one open file."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self._path = path
        self._read: Callable[[int], bytes] = file.read
        self._file = file
        self._size = path.stat().st_size
        self._tokens: tuple[bytes, ...] = ()

    def read(self) -> GgufHeader:
        version = self._version()
        n_tensors = self._count(_LEAST_TENSOR_BYTES, "tensors")
        n_pairs = self._count(_LEAST_PAIR_BYTES, "keys")
        metadata = self._metadata(n_pairs)
        tensors = tuple(self._tensor() for _ in range(n_tensors))
        header = GgufHeader(
            path=self._path,
            size_bytes=self._size,
            version=version,
            metadata=metadata,
            tokens=self._tokens,
            tensors=tensors,
            data_start=_aligned(self._file.tell(), _alignment(metadata)),
        )
        _check_extent(header)
        return header

    def _version(self) -> int:
        if self._size == 0:
            raise _MalformedError("is empty")
        if (magic := self._read(len(_MAGIC))) != _MAGIC:
            raise _MalformedError(f"is not a GGUF file: it begins with {magic!r}")
        version = self._u32()
        if version in _VERSIONS:
            return version
        if int.from_bytes(version.to_bytes(4, "little"), "big") in _VERSIONS:
            raise _MalformedError("is written for a big-endian machine, which this one cannot load")
        raise _MalformedError(f"has GGUF version {version}; versions 2 and 3 can be read")

    def _count(self, least_bytes: int, what: str) -> int:
        count = self._u64()
        if count > self._size // least_bytes:
            raise _MalformedError(f"is damaged: its header promises {count:,} {what} in {self._size:,} bytes")
        return count

    def _metadata(self, count: int) -> dict[str, Scalar]:
        metadata: dict[str, Scalar] = {}
        for _ in range(count):
            key = self._text()
            type_ = self._u32()
            if type_ == _ARRAY:
                self._array(key)
            elif type_ == _STRING:
                metadata[key] = self._text()
            else:
                metadata[key] = self._scalar(key, type_)
        return metadata

    def _scalar(self, key: str, type_: int) -> Scalar:
        packing = _SCALARS.get(type_)
        if packing is None:
            raise _MalformedError(f"is damaged: its key {key!r} has the unknown type {type_}")
        value: Scalar = packing.unpack(self._bytes(packing.size))[0]
        return value

    def _array(self, key: str) -> None:
        """Keep the vocabulary, pass over every other array."""
        type_, count = self._u32(), self._u64()
        if type_ == _STRING:
            texts = self._texts(count)
            if key == TOKENS_KEY:
                self._tokens = tuple(texts)
        elif type_ in _SCALARS:
            self._skip(count * _SCALARS[type_].size)
        else:
            raise _MalformedError(f"is damaged: its key {key!r} holds an array of the unknown type {type_}")

    def _texts(self, count: int) -> list[bytes]:
        """The hot loop: hundreds of thousands of short strings, so it keeps its own locals."""
        if count > self._size // _U64.size:
            raise _MalformedError(f"is damaged: one of its lists promises {count:,} texts")
        read, unpack, size = self._read, _U64.unpack, self._size
        texts: list[bytes] = []
        length = 0
        try:
            for _ in range(count):
                (length,) = unpack(read(8))
                if length > size:
                    raise self._cut()
                texts.append(read(length))
        except struct.error as error:
            raise self._cut() from error
        if texts and len(texts[-1]) < length:
            raise self._cut()
        return texts

    def _tensor(self) -> TensorInfo:
        name = self._text()
        n_dimensions = self._u32()
        if not 1 <= n_dimensions <= _MAX_DIMENSIONS:
            raise _MalformedError(f"is damaged: its tensor {name!r} has {n_dimensions} dimensions")
        shape = tuple(self._u64() for _ in range(n_dimensions))
        return TensorInfo(name, shape, self._u32(), self._u64())

    def _text(self) -> str:
        return self._bytes(self._u64()).decode(errors="replace")

    def _u32(self) -> int:
        value: int = _U32.unpack(self._bytes(_U32.size))[0]
        return value

    def _u64(self) -> int:
        value: int = _U64.unpack(self._bytes(_U64.size))[0]
        return value

    def _skip(self, length: int) -> None:
        if self._file.tell() + length > self._size:
            raise self._cut()
        self._file.seek(length, 1)

    def _bytes(self, length: int) -> bytes:
        if length > self._size:
            raise self._cut()
        data = self._read(length)
        if len(data) < length:
            raise self._cut()
        return data

    def _cut(self) -> _MalformedError:
        return _MalformedError(f"is cut off or damaged: it ends at byte {self._size:,}, in the middle of its header")


def _alignment(metadata: dict[str, Scalar]) -> int:
    alignment = metadata.get("general.alignment", _DEFAULT_ALIGNMENT)
    if not isinstance(alignment, int) or alignment <= 0 or alignment & (alignment - 1):
        raise _MalformedError(f"is damaged: its alignment is {alignment!r}")
    return alignment


def _aligned(position: int, alignment: int) -> int:
    return -(-position // alignment) * alignment


def _check_extent(header: GgufHeader) -> None:
    """Every tensor lies inside the file."""
    promised = max(
        (header.data_start + tensor.offset + (tensor.size_bytes or 0) for tensor in header.tensors), default=0
    )
    if promised > header.size_bytes:
        raise _MalformedError(f"is cut off: it ends at byte {header.size_bytes:,}, its header promises {promised:,}")
