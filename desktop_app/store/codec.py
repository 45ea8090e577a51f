"""How values lie in the database's BLOB columns: MessagePack, the trace compressed as well."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import TypeVar

import msgspec

from desktop_app.core.rounds import Round

Value = TypeVar("Value")

_FAST = 1
_rounds = msgspec.msgpack.Decoder(tuple[Round, ...])


def pack(value: object | None) -> bytes | None:
    return None if value is None else msgspec.msgpack.encode(value)


def unpack(blob: bytes | None, type_: type[Value]) -> Value | None:
    """The value, or None where there is none or where it does not fit `type_` any more.

    What lies in these columns explains an answer and is not the answer itself, so another version's record is left out
    rather than keeping a chat from opening.
    """
    if blob is None:
        return None
    try:
        return msgspec.msgpack.decode(blob, type=type_)
    except msgspec.MsgspecError:
        return None


def pack_rounds(rounds: Sequence[Round]) -> bytes:
    return zlib.compress(msgspec.msgpack.encode(rounds), _FAST)


def unpack_rounds(blob: bytes) -> tuple[Round, ...]:
    """The rounds, or none where they cannot be read: see `unpack`."""
    try:
        return _rounds.decode(zlib.decompress(blob))
    except (zlib.error, msgspec.MsgspecError):
        return ()
