"""Frames: any cut of the bytes gives the same messages; what isn't ours is refused."""

from __future__ import annotations

import random
import struct
from itertools import combinations

import msgspec
import pytest

from desktop_app.core.difference import Difference, TextPair
from desktop_app.core.errors import Blame, Fault, Problem
from desktop_app.core.facts import Costs, Device, MemoryKind, ModelFacts, Rollback
from desktop_app.core.rounds import Kind, Round, Seconds, Token
from desktop_app.core.settings import (
    AnswerSettings,
    CacheType,
    DraftSource,
    FlashAttention,
    ModelSettings,
    Overflow,
    Rule,
    Sampling,
    Speculation,
)
from desktop_app.protocol.framing import MAX_FRAME_BYTES, FramingError, command_reader, encode, event_reader
from desktop_app.protocol.messages import (
    PROTOCOL_VERSION,
    AnyCommand,
    AnyEvent,
    Calibrated,
    Cancel,
    Cancelled,
    ChatMessage,
    Count,
    Counted,
    Explain,
    Explained,
    Failed,
    Finished,
    Generate,
    Load,
    Loaded,
    LoadProgress,
    Part,
    Prefilling,
    Ready,
    Role,
    RoundDone,
    Shutdown,
    Stop,
    TurnsLeftOut,
    Unload,
    Unloaded,
)

PROBLEM = Problem("Größe unbekannt – 😀", "Try again.", Blame.ENVIRONMENT, Fault.OUT_OF_MEMORY)
FACTS = ModelFacts(
    "/models/a.gguf",
    "A",
    "llama 135M Q4_1",
    98_362_432,
    49_152,
    2048,
    8192,
    30,
    0,
    2,
    3,
    CacheType.Q8_0,
    CacheType.F16,
    True,
    5,
    6,
    "model",
    MemoryKind.HYBRID,
    Rollback.SNAPSHOTS,
)
SETTINGS = AnswerSettings(
    Sampling(temperature=0.0, seed=2**32 - 1),
    Speculation(source=DraftSource.LOOKUP, gamma=7, rule=Rule.SHARED_NOISE),
    max_tokens=3,
    stop=("\n\n", "終"),
    overflow=Overflow.STOP,
)
TEXTS = TextPair((1, 2), (1, 3), SETTINGS.sampling, Rule.SHARED_NOISE, pass_size=8)
TOKENS = (Token(7, "日", Kind.REJECTED, 0.25, 0.5, 0.5), Token(9, "", Kind.CORRECTED, 0.75))

COMMANDS: tuple[AnyCommand, ...] = (
    Load(
        1,
        ModelSettings("/models/ä.gguf"),
        ModelSettings(
            "b.gguf", n_ctx=512, gpu_layers=0, threads=2, cache_v=CacheType.Q4_0, flash_attention=FlashAttention.ON
        ),
    ),
    Load(2, ModelSettings("a.gguf")),
    Generate(3, (ChatMessage(Role.SYSTEM, "Be brief."), ChatMessage(Role.USER, "Hi 👋\0\n")), SETTINGS),
    Explain(
        4, (ChatMessage(Role.USER, "Hi"),), SETTINGS, TextPair((1, 2), (1, 3), SETTINGS.sampling, Rule.SHARED_NOISE, 8)
    ),
    Count(5, (ChatMessage(Role.USER, "Hi"),), SETTINGS),
    Cancel(3),
    Unload(),
    Shutdown(),
)
EVENTS: tuple[AnyEvent, ...] = (
    Ready(PROTOCOL_VERSION, "0.3.36", False, (Device("CPU", "A processor", 2**34, 2**33, False),)),
    LoadProgress(1, Part.DRAFT, 0.5),
    Loaded(1, FACTS, FACTS, None),
    Loaded(1, FACTS, None, PROBLEM),
    Calibrated(Costs(0, ((1, 0.01), (5, 0.02)), None)),
    Unloaded(),
    Counted(5, 1, 20, 3, PROBLEM),
    TurnsLeftOut(3, 2),
    Prefilling(3, 10, 20, 5),
    Prefilling(3, 20, 20, 5, 0, 0.25),
    RoundDone(3, Round(0, 20, 1, TOKENS, Seconds(0.1, 0.2, 0.3, 0.4)), 2, 21),
    Finished(3, Stop.STOP_STRING, 2, "\ufffd", 7, None, 0.5, PROBLEM),
    Explained(4, Difference(1, 2, "日", None, "", 0.002, 0.005, near_tie=True)),
    Explained(5, None),
    Cancelled(3),
    Failed(3, PROBLEM),
)


def stream_of(*messages: AnyCommand | AnyEvent) -> bytes:
    return b"".join(encode(message) for message in messages)


def test_every_message_survives_the_pipe() -> None:
    assert list(command_reader().feed(stream_of(*COMMANDS))) == list(COMMANDS)
    assert list(event_reader().feed(stream_of(*EVENTS))) == list(EVENTS)


def test_the_lists_above_hold_every_message() -> None:
    assert {type(command) for command in COMMANDS} == set(AnyCommand.__args__)
    assert {type(event) for event in EVENTS} == set(AnyEvent.__args__)


def test_any_cut_in_three_gives_the_same_messages() -> None:
    sent = (Unload(), Cancel(300), Shutdown())
    stream = stream_of(*sent)
    for first, second in combinations(range(len(stream) + 1), 2):
        reader = command_reader()
        chunks = stream[:first], stream[first:second], stream[second:]
        assert [message for chunk in chunks for message in reader.feed(chunk)] == list(sent)


def test_single_bytes_and_random_cuts_give_the_same_messages() -> None:
    stream = stream_of(*EVENTS)
    chance = random.Random(0)
    cuts = [list(range(1, len(stream)))] + [sorted(chance.sample(range(len(stream)), 20)) for _ in range(50)]
    for cut in cuts:
        reader = event_reader()
        chunks = [stream[a:b] for a, b in zip([0, *cut], [*cut, len(stream)], strict=True)]
        assert [message for chunk in chunks for message in reader.feed(chunk)] == list(EVENTS)


def test_messages_before_the_garbage_are_delivered() -> None:
    reader = command_reader()
    messages = reader.feed(encode(Cancel(1)) + b"Traceback (most recent call last):")

    assert next(messages) == Cancel(1)
    with pytest.raises(FramingError):
        next(messages)


def test_a_length_that_no_message_has_is_refused_at_once() -> None:
    with pytest.raises(FramingError, match=f"frame of {MAX_FRAME_BYTES + 1} bytes"):
        list(command_reader().feed(struct.pack(">I", MAX_FRAME_BYTES + 1)))


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"\xc1",
        b"\x01",
        msgspec.msgpack.encode({"type": "Cancel"}),
        msgspec.msgpack.encode({"type": "Cancel", "request": "one"}),
        msgspec.msgpack.encode({"type": "Explode"}),
        msgspec.msgpack.encode({"request": 1}),
        encode(Cancel(1))[4:] + b"\x01",
        encode(Cancel(1))[4:-1],
        b"\x82\xa4type\xa6Cancel\xa7request\xa2\xff\xfe",
        b"\x91" * 100_000,
        b"\x82\xa4type\xa6Cancel\xa5extra" + b"\x91" * 100_000,
    ],
    ids=lambda payload: payload[:24].hex() or "empty",
)
def test_a_payload_that_is_no_message_is_refused(payload: bytes) -> None:
    with pytest.raises(FramingError):
        list(command_reader().feed(struct.pack(">I", len(payload)) + payload))


def test_an_event_is_no_command() -> None:
    with pytest.raises(FramingError):
        list(command_reader().feed(encode(Cancelled(1))))


def test_random_bytes_never_raise_anything_else() -> None:
    chance = random.Random(1)
    for _ in range(2_000):
        payload = bytes(chance.choices(range(256), k=chance.randrange(40)))
        with pytest.raises(FramingError):
            list(command_reader().feed(struct.pack(">I", len(payload)) + payload))


def test_a_flipped_byte_raises_nothing_else() -> None:
    frame = encode(COMMANDS[2])
    for at in range(4, len(frame)):
        for bit in range(8):
            spoilt = bytearray(frame)
            spoilt[at] ^= 1 << bit
            try:
                list(command_reader().feed(bytes(spoilt)))
            except FramingError:
                continue
