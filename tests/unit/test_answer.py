"""The answer as it grows: which token wrote which characters."""

from __future__ import annotations

from desktop_app.core.answer import Answer
from desktop_app.core.rounds import Kind, Round, Seconds, Token


def round_of(index: int, *tokens: tuple[str, Kind], cut: bool = False) -> Round:
    drafted = sum(kind in {Kind.ACCEPTED, Kind.REJECTED, Kind.DISCARDED} for _, kind in tokens)
    parts = tuple(Token(at, text, kind) for at, (text, kind) in enumerate(tokens))
    return Round(index, 0, drafted, parts, Seconds(verify=0.5), cut)


def example() -> Answer:
    answer = Answer()
    refused = (" cat", Kind.REJECTED), ("s", Kind.DISCARDED)
    answer.add(round_of(0, ("The", Kind.ACCEPTED), *refused, (" dog", Kind.CORRECTED)), 7)
    answer.add(round_of(1, ("", Kind.PLAIN)), 7)
    answer.add(round_of(2, ("😀", Kind.ACCEPTED), ("!", Kind.BONUS)), 8)
    return answer


def test_text_is_what_was_emitted() -> None:
    answer = example()

    assert answer.text == "The dog😀!"
    assert answer.shown == "The dog😀"
    assert [(placed.token.text, placed.start, placed.end) for placed in answer.emitted] == [
        ("The", 0, 3),
        (" dog", 3, 7),
        ("", 7, 7),
        ("😀", 7, 8),
        ("!", 8, 9),
    ]


def test_refused_tokens_stand_where_they_were_refused() -> None:
    assert [(placed.token.text, placed.start, placed.end, placed.place) for placed in example().refused] == [
        (" cat", 3, 3, 1),
        ("s", 3, 3, 2),
    ]


def test_every_character_knows_its_token() -> None:
    answer = example()

    wrote = [placed.token.text if placed else None for placed in map(answer.emitted_at, range(-1, 11))]

    assert wrote == [None, *["The"] * 3, *[" dog"] * 4, "😀", "!", None, None]


def test_tokens_remember_round_and_place() -> None:
    assert [(placed.round, placed.place) for placed in example().emitted] == [(0, 0), (0, 3), (1, 0), (2, 0), (2, 1)]


def test_an_empty_token_at_the_end_owns_no_character() -> None:
    answer = Answer()
    answer.add(round_of(0, ("a", Kind.PLAIN)), 1)
    answer.add(round_of(1, ("", Kind.PLAIN)), 1)

    assert answer.emitted_at(0) is answer.emitted[0]
    assert answer.emitted_at(1) is None


def test_closing_adds_the_tail_and_settles_what_is_visible() -> None:
    answer = example()

    answer.close(10, "\ufffd")

    assert answer.shown == "The dog😀!\ufffd"
    assert answer.emitted_at(9) is None


def test_an_answer_without_a_token() -> None:
    answer = Answer()
    answer.close(0)

    assert (answer.text, answer.shown, answer.emitted_at(0)) == ("", "", None)
    assert answer.tally.tok_per_s is None


def test_the_tally_counts_along() -> None:
    tally = example().tally

    assert (tally.tokens, tally.rounds, tally.drafted) == (5, 3, 4)
    assert tally.seconds.total == 1.5
