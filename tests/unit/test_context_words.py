"""What the window says about the fill of the context."""

from __future__ import annotations

import pytest

from desktop_app.core.errors import Problem
from desktop_app.core.settings import Overflow
from desktop_app.services.context_use import MessageSize
from desktop_app.ui.context_words import gauge_tip, gauge_words, left_out_words, message_words
from desktop_app.ui.words import Tone, Words


@pytest.mark.parametrize(
    ("used", "size", "words"),
    [
        (None, None, Words("context – / –")),
        (412, None, Words("context 412 / –")),
        (None, 8192, Words("context – / 8,192")),
        (0, 8192, Words("context 0 / 8,192")),
        (7168, 8192, Words("context 7,168 / 8,192")),
        (7169, 8192, Words("context 7,169 / 8,192 · nearly full", Tone.WARNING)),
        (8192, 8192, Words("context 8,192 / 8,192 · full", Tone.DANGER)),
    ],
)
def test_the_gauge_warns_in_words_and_tone(used: int | None, size: int | None, words: Words) -> None:
    assert gauge_words(used, size) == words


def test_the_tip_of_a_nearly_full_gauge_says_what_comes_next() -> None:
    assert "next message" not in gauge_tip(10, 8192, Overflow.DROP_OLDEST)
    assert "left out" in gauge_tip(8000, 8192, Overflow.DROP_OLDEST)
    assert "new chat" in gauge_tip(8000, 8192, Overflow.STOP)


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (None, Words("")),
        (MessageSize(1, 50, 0, None), Words("1 token")),
        (MessageSize(1_038, 2_000, 0, None), Words("1,038 tokens")),
        (MessageSize(38, 50, -2, None), Words("38 tokens")),
        (
            MessageSize(38, 50, 3, None),
            Words("38 tokens · 3 earlier turns will no longer fit the context", Tone.WARNING),
        ),
        (
            MessageSize(9_000, 9_412, 0, Problem("The conversation has 9,412 tokens; the context holds 8,192.")),
            Words("9,000 tokens · The conversation has 9,412 tokens; the context holds 8,192.", Tone.DANGER),
        ),
    ],
)
def test_what_a_message_would_add(size: MessageSize | None, words: Words) -> None:
    assert message_words(size) == words


def test_the_line_counts_turns() -> None:
    assert left_out_words(1) == "1 earlier turn no longer fits the context and was left out"
    assert left_out_words(3) == "3 earlier turns no longer fit the context and were left out"
