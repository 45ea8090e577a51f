"""Text assembly at every byte split, and stop strings however the text is cut into tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise

import pytest

from desktop_app.core.text import StopScanner, Utf8Assembler

TEXTS = (
    "plain ASCII",
    "naïve Žluťoučký",
    "日本語と中文",
    "👩‍👩‍👧‍👦 family, 🇨🇿 flag, ✌🏽 tone",
    "é as e\u0301, stacked Z\u0351\u036b\u0343",
    "ends on a smile 😀",
)
BROKEN = (
    b"\xff\xfe",
    b"half \xf0\x9f\x98",
    b"\xe6\x97 then text",
    b"overlong \xc0\xaf",
    b"surrogate \xed\xa0\x80!",
    b"\x80 stray continuation",
    b"\xf0\x9f\xe6\x97\xa5",
)
ALL_BYTES = (*(text.encode() for text in TEXTS), *BROKEN)


def assembled(pieces: Sequence[bytes]) -> list[str]:
    """What each piece adds, then what the flush adds."""
    assembler = Utf8Assembler()
    return [*(assembler.feed(piece) for piece in pieces), assembler.flush()]


def cuts(data: bytes) -> Iterator[list[bytes]]:
    """Every way to cut into two or three pieces, and into single bytes."""
    for first, second in combinations(range(len(data) + 1), 2):
        yield [data[:first], data[first:second], data[second:]]
    yield [bytes([byte]) for byte in data]


class TestUtf8Assembler:
    @pytest.mark.parametrize("data", ALL_BYTES, ids=repr)
    def test_every_split_gives_the_one_shot_text(self, data: bytes) -> None:
        for pieces in cuts(data):
            assert "".join(assembled(pieces)) == data.decode("utf-8", errors="replace"), pieces

    @pytest.mark.parametrize("text", TEXTS)
    def test_no_replacement_character_flashes(self, text: str) -> None:
        for pieces in cuts(text.encode()):
            assert "\ufffd" not in "".join(assembled(pieces)), pieces

    def test_a_character_belongs_to_the_token_that_completes_it(self) -> None:
        assert assembled([b"a\xf0\x9f", b"\x98", b"\x80b"]) == ["a", "", "😀b", ""]

    def test_the_flush_gives_what_an_unfinished_character_leaves(self) -> None:
        assert assembled([b"a\xf0\x9f\x98"]) == ["a", "\ufffd"]

    @pytest.mark.parametrize("data", ALL_BYTES, ids=repr)
    def test_a_peek_changes_nothing(self, data: bytes) -> None:
        plain = Utf8Assembler()
        peeked = Utf8Assembler()
        for byte in data:
            for guess in (b"x", b"\x9f\x98", b"\xf0", b""):
                peeked.peek(guess)
            assert peeked.feed(bytes([byte])) == plain.feed(bytes([byte]))
        assert peeked.flush() == plain.flush()

    def test_a_peek_sees_the_bytes_before(self) -> None:
        assembler = Utf8Assembler()
        assembler.feed(b"\xf0\x9f\x98")

        assert assembler.peek(b"\x80!") == "😀!"
        assert assembler.peek(b"no") == "\ufffdno"
        assert assembler.feed(b"\x80") == "😀"


def scan(pieces: Sequence[str], stops: Sequence[str]) -> tuple[str, str | None, list[int]]:
    """(what stays, the stop string, `visible` after every piece), fed until a stop string is found."""
    scanner = StopScanner(stops)
    visible = []
    for piece in pieces:
        found = scanner.feed(piece)
        visible.append(scanner.visible)
        if found:
            break
    scanner.finish()
    return "".join(pieces)[: scanner.visible], scanner.matched, visible


def first_stop(text: str, stops: Sequence[str]) -> tuple[str, str | None]:
    """What stays and the stop string, looking for stop strings after each character."""
    for end in range(1, len(text) + 1):
        ending = [stop for stop in stops if stop and text[:end].endswith(stop)]
        if ending:
            longest = max(ending, key=len)
            return text[: end - len(longest)], longest
    return text, None


def string_cuts(text: str) -> Iterator[list[str]]:
    """Every way to cut a text into pieces."""
    for mask in range(2 ** (len(text) - 1)):
        at = [0, *(i + 1 for i in range(len(text) - 1) if mask >> i & 1), len(text)]
        yield [text[a:b] for a, b in pairwise(at)]


class TestStopScanner:
    @pytest.mark.parametrize(
        ("text", "stops"),
        [
            ("one stop two", ("stop",)),
            ("xaaab", ("aab",)),
            ("ababac", ("abac",)),
            ("abcabd", ("abcd", "abd")),
            ("hello world", ("world", "lo", "hello world")),
            ("abcd", ("b", "abc")),
            ("abcd", ("bc", "abc")),
            ("nothing", ("stop", "halt")),
            ("held back st", ("stop",)),
            ("none at all", ()),
            ("empty", ("", "pt")),
            ("日本語", ("本",)),
            ("\n\nUser:", ("\nUser:", "\n\n\n")),
        ],
    )
    def test_no_cut_into_tokens_changes_the_outcome(self, text: str, stops: tuple[str, ...]) -> None:
        expected = first_stop(text, stops)
        for pieces in string_cuts(text):
            kept, matched, visible = scan(pieces, stops)
            assert (kept, matched) == expected, pieces
            assert visible == sorted(visible), "what was shown is never taken back"
            assert max(visible) <= len(kept), "nothing is shown that may have to go"

    def test_text_before_a_stop_inside_one_token_is_kept(self) -> None:
        assert scan(["before STOP after"], ["STOP"])[:2] == ("before ", "STOP")

    def test_a_beginning_that_may_become_a_stop_is_held_back_and_released(self) -> None:
        kept, matched, visible = scan(["a", "b", "x", "ab"], ["abc"])

        assert visible == [0, 0, 3, 3]
        assert (kept, matched) == ("abxab", None)

    def test_stays_stopped(self) -> None:
        scanner = StopScanner(["ab", "b"])
        assert scanner.feed("xaby")

        assert scanner.feed("")
        assert scanner.feed("more ab")
        scanner.finish()

        assert (scanner.visible, scanner.matched) == (1, "ab")
