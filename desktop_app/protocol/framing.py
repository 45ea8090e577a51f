"""Frames on the pipe: a big-endian length of four bytes, then one MessagePack message."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Generic, TypeVar

import msgspec

from desktop_app.protocol.messages import AnyCommand, AnyEvent

Message = TypeVar("Message")

MAX_FRAME_BYTES = 64 * 1024 * 1024
"""No honest message comes near this; a larger length means that something else wrote to the pipe."""

_SEEN_BYTES = 80

_LENGTH = struct.Struct(">I")


class FramingError(Exception):
    """The bytes on the pipe are not ours; `seen` is how they begin."""

    def __init__(self, reason: str, seen: bytes) -> None:
        super().__init__(reason)
        self.seen = seen[:_SEEN_BYTES]


def encode(message: AnyCommand | AnyEvent) -> bytes:
    payload = msgspec.msgpack.encode(message)
    return _LENGTH.pack(len(payload)) + payload


class FrameReader(Generic[Message]):
    """Turns chunks of bytes, however cut, into messages."""

    def __init__(self, decoder: msgspec.msgpack.Decoder[Message]) -> None:
        self._decoder = decoder
        self._buffer = bytearray()

    def feed(self, chunk: bytes) -> Iterator[Message]:
        """Yield every message that is now complete.

        Raises FramingError on a length or a payload that no peer of ours would send.
        """
        self._buffer += chunk
        while len(self._buffer) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._buffer)
            if length > MAX_FRAME_BYTES:
                raise FramingError(f"frame of {length} bytes", bytes(self._buffer))
            end = _LENGTH.size + length
            if len(self._buffer) < end:
                return
            payload = bytes(self._buffer[_LENGTH.size : end])
            del self._buffer[:end]
            try:
                yield self._decoder.decode(payload)
            except (msgspec.MsgspecError, RecursionError) as error:
                raise FramingError(str(error), payload) from error


def command_reader() -> FrameReader[AnyCommand]:
    return FrameReader(msgspec.msgpack.Decoder(AnyCommand))


def event_reader() -> FrameReader[AnyEvent]:
    return FrameReader(msgspec.msgpack.Decoder(AnyEvent))
