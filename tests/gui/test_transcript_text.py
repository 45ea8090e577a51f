"""An answer's text on screen follows its rounds: content, colours, places of refused tokens, hover, copying."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, QRectF, QUrl
from PySide6.QtGui import QColor, QGuiApplication, QTextCursor
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from desktop_app.core.answer import Answer
from desktop_app.core.rounds import Kind
from desktop_app.services.settings_file import Theme
from desktop_app.ui.theme import DARK, LIGHT, Appearance, Colours
from desktop_app.ui.transcript.token_text import TokenText
from desktop_app.ui.transcript.tooltip import token_tooltip
from tests.fakes.answers import answer_of, grow, round_of, rounds_of

NOTHING_HIDDEN: frozenset[Kind] = frozenset()
WIDTH = 600

Show = Callable[..., TokenText]

SAMPLE = """# Head 漢字

A **bold** word, `code`, 🙂 and ~~gone~~.
Second line.

1. one
2. two
   - inner

```python
def f():

    return 1
```

| a | b |
|---|--:|
| 1 | **2** |

> quote

עץ *חיפוש*

| x |
|---|

---
end
"""


@pytest.fixture
def appearance(qapp: QApplication) -> Appearance:
    return Appearance(qapp, Theme.LIGHT)


@pytest.fixture
def show(qtbot: QtBot, appearance: Appearance) -> Show:
    def show(answer: Answer, hidden: frozenset[Kind] = NOTHING_HIDDEN) -> TokenText:
        text = TokenText(answer, appearance, hidden)
        qtbot.addWidget(text)
        render(text)
        return text

    return show


def render(text: TokenText) -> None:
    while not text.advance():
        pass
    text.resize(WIDTH, text.height_for_width(WIDTH))


def pieces(text: TokenText) -> list[tuple[str, Kind]]:
    positions = text._lines.positions
    return [(piece.text, piece.kind) for piece in positions.pieces]


def shown_characters(text: TokenText) -> dict[int, str]:
    """What the document says at every position that a piece claims."""
    plain = text.document().toRawText().encode("utf-16-le")
    found = {}
    for start, end, piece in text._lines.positions.between(0, text.document().characterCount()):
        found[start] = plain[2 * start : 2 * end].decode("utf-16-le")
        assert found[start] == piece.text
    return found


def kinds_painted(text: TokenText) -> set[Kind]:
    return {mark.kind for mark in text.marks_in(QRectF(text.rect()))} - {Kind.PLAIN}


def colours_near(text: TokenText, kind: Kind, colours: Colours) -> int:
    """Pixels in about the colour of the kind's underline or, for rejected, of its letters."""
    image, ink = text.grab().toImage(), colours.ink(kind)
    points = ((x, y) for x in range(image.width()) for y in range(image.height()))
    return sum(_near(image.pixelColor(x, y), ink) for x, y in points)


def _near(one: QColor, other: QColor) -> bool:
    return max(abs(one.red() - other.red()), abs(one.green() - other.green()), abs(one.blue() - other.blue())) < 60


def test_positions_say_what_the_document_shows(show: Show) -> None:
    text = show(answer_of(rounds_of(SAMPLE)))
    assert len(shown_characters(text)) > 60


@pytest.mark.parametrize("seed", range(6))
def test_an_answer_that_grew_looks_like_one_shown_at_once(show: Show, seed: int) -> None:
    rng = random.Random(seed)
    growing = Answer()
    text = show(growing)
    for round_ in rounds_of(SAMPLE, seed=seed):
        grow(growing, round_)
        if rng.random() < 0.6:
            text.advance()
            shown_characters(text)
    render(text)
    at_once = show(answer_of(rounds_of(SAMPLE, seed=seed)))
    assert text.document().toRawText() == at_once.document().toRawText()
    assert pieces(text) == pieces(at_once)
    assert text.height_for_width(WIDTH) == at_once.height_for_width(WIDTH)


def test_every_token_that_shows_anything_is_there(show: Show) -> None:
    answer = answer_of(rounds_of("Just words, no markup at all."))
    text = show(answer)
    emitted = "".join(piece for piece, kind in pieces(text) if kind not in (Kind.REJECTED, Kind.DISCARDED))
    assert emitted == answer.shown
    refused = [kind for _, kind in pieces(text) if kind in (Kind.REJECTED, Kind.DISCARDED)]
    assert len(refused) == len(answer.refused)


def test_a_rejected_token_stands_before_the_one_that_replaced_it(show: Show) -> None:
    answer = answer_of([round_of(("The", Kind.ACCEPTED), (" cat", Kind.REJECTED), (" dog", Kind.CORRECTED))])
    assert pieces(show(answer)) == [("The", Kind.ACCEPTED), (" cat", Kind.REJECTED), (" dog", Kind.CORRECTED)]


def test_a_rejected_token_replaced_by_a_newline_ends_its_line(show: Show) -> None:
    rounds = [
        round_of(("One", Kind.ACCEPTED), (" more", Kind.REJECTED), ("\n\n", Kind.CORRECTED)),
        round_of(("Two", Kind.ACCEPTED), ("\n", Kind.REJECTED), (".", Kind.CORRECTED), index=1),
    ]
    text = show(answer_of(rounds))
    assert text.document().toPlainText().split("\n") == ["One more", "Two↵."]


@pytest.mark.parametrize(("written", "shown"), [("\n", "↵"), (" ", "␣"), ("\t", "⇥"), ("", "∅"), (" a", " a")])
def test_invisible_rejected_tokens_are_made_visible(show: Show, written: str, shown: str) -> None:
    answer = answer_of([round_of(("a", Kind.ACCEPTED), (written, Kind.REJECTED), ("b", Kind.CORRECTED))])
    assert pieces(show(answer))[1] == (shown, Kind.REJECTED)


def test_only_settled_characters_are_shown(show: Show) -> None:
    answer = Answer()
    answer.add(round_of(("abc", Kind.PLAIN), ("STO", Kind.PLAIN)), visible=3)
    assert show(answer).toPlainText() == "abc"


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_each_kind_is_painted_in_its_colour(show: Show, appearance: Appearance, colours: Colours) -> None:
    appearance.choose(Theme.DARK if colours.dark else Theme.LIGHT)
    for kind in (Kind.ACCEPTED, Kind.CORRECTED, Kind.BONUS, Kind.REJECTED):
        text = show(answer_of([round_of(("plain ", Kind.PLAIN)), round_of(("wwww", kind), index=1)]))
        assert kinds_painted(text) == {kind}
        assert colours_near(text, kind, colours) > 10
        text.set_hidden(frozenset({kind}))
        render(text)
        assert kinds_painted(text) == set()
        assert colours_near(text, kind, colours) == 0


def test_hiding_rejected_takes_them_out_and_showing_brings_them_back(show: Show) -> None:
    text = show(answer_of(rounds_of(SAMPLE)))
    before = pieces(text)
    text.set_hidden(frozenset({Kind.REJECTED, Kind.DISCARDED}))
    assert not text.complete
    render(text)
    assert {kind for _, kind in pieces(text)} == {Kind.ACCEPTED, Kind.CORRECTED, Kind.BONUS, Kind.PLAIN}
    text.set_hidden(NOTHING_HIDDEN)
    render(text)
    assert pieces(text) == before


def place_of(text: TokenText, wanted: Kind) -> QPoint:
    mark = next(mark for mark in text.marks_in(QRectF(text.rect())) if mark.kind is wanted)
    return mark.rect.center().toPoint()


@pytest.mark.parametrize("kind", [Kind.ACCEPTED, Kind.CORRECTED, Kind.REJECTED])
def test_hovering_finds_the_token(show: Show, kind: Kind) -> None:
    text = show(answer_of(rounds_of(SAMPLE)))
    piece = text.piece_at(place_of(text, kind))
    assert piece is not None
    assert piece.kind is kind
    assert text.piece_at(QPoint(WIDTH - 2, text.height() - 2)) is None


def framed(text: TokenText) -> list[QRectF]:
    return [mark.rect for mark in text.marks_in(QRectF(text.rect())) if mark.pointed_out]


def test_a_token_is_pointed_out_whatever_its_kind(show: Show) -> None:
    text = show(answer_of([round_of((word, Kind.PLAIN)) for word in ("One", " two", " three")]))
    assert framed(text) == []
    text.point_out(text._answer.emitted[1].start)
    (frame,) = framed(text)
    assert text.pointed_out == text.piece_at(frame.center().toPoint())
    assert text.pointed_out is not None
    assert text.pointed_out.text == " two"
    place = text.place_pointed_out()
    assert place is not None
    assert abs(place.x() - frame.left()) < 2
    text.point_out(None)
    assert framed(text) == []


def test_the_next_token_that_shows_stands_in_for_one_that_markdown_hides(show: Show) -> None:
    text = show(answer_of([round_of((word, Kind.PLAIN)) for word in ("A ", "**", "bold", "**", " word")]))
    text.point_out(2)
    assert text.pointed_out is not None
    assert text.pointed_out.text == "bold"


def test_what_is_pointed_out_stays_so_when_the_text_is_written_anew(show: Show, appearance: Appearance) -> None:
    answer = answer_of([round_of(("One", Kind.PLAIN))])
    text = show(answer)
    text.point_out(3)
    assert text.pointed_out is None
    grow(answer, round_of((" two", Kind.PLAIN), index=1))
    render(text)
    appearance.choose(Theme.DARK)
    render(text)
    assert len(framed(text)) == 1


def test_the_tooltip_shows_the_token_and_escapes_it(show: Show) -> None:
    answer = answer_of([round_of(("a", Kind.ACCEPTED), ("<img src=x>", Kind.REJECTED), ("b", Kind.CORRECTED))])
    text = show(answer)
    tip = text.tip_at(place_of(text, Kind.REJECTED))
    assert "&lt;img␣src=x&gt;" in tip
    assert "<img" not in tip
    for word in ("rejected", "0.5000", "0.2500", "1, 2"):
        assert word in tip


def test_unknown_probabilities_show_a_dash() -> None:
    placed = answer_of([round_of(("a", Kind.PLAIN))]).emitted[0]
    assert "–" in token_tooltip(placed)


def copied(text: TokenText) -> str:
    cursor = text.textCursor()
    cursor.select(QTextCursor.SelectionType.Document)
    text.setTextCursor(cursor)
    data = text.createMimeDataFromSelection()
    assert not data.hasHtml()
    return data.text()


def test_a_copied_selection_has_no_refused_tokens(show: Show) -> None:
    text = show(answer_of(rounds_of("Some *words* here.\n\nAnd there.")))
    assert copied(text) == "Some words here.\nAnd there."


def test_the_copy_link_copies_the_code_alone(show: Show) -> None:
    text = show(answer_of(rounds_of("Look:\n\n```py\nx = 1\n\n  y\n```\n\ndone")))
    anchors = {anchor for anchor in _anchors(text) if anchor.startswith("copy:")}
    assert len(anchors) == 1
    text.anchorClicked.emit(QUrl(anchors.pop()))
    assert QGuiApplication.clipboard().text() == "x = 1\n\n  y"


def _anchors(text: TokenText) -> set[str]:
    found = set()
    cursor = QTextCursor(text.document())
    while cursor.movePosition(QTextCursor.MoveOperation.NextCharacter):
        found.add(cursor.charFormat().anchorHref())
    return found - {""}


def test_only_safe_links_are_links_and_nothing_is_loaded(show: Show) -> None:
    source = "[a](https://x.y/z) [b](file:///etc/passwd) ![i](https://x.y/i.png) <img src='https://x.y'> <mailto:a@b.c>"
    text = show(answer_of(rounds_of(source)), frozenset({Kind.REJECTED, Kind.DISCARDED}))
    assert _anchors(text) == {"https://x.y/z", "mailto:a@b.c"}
    assert "https://x.y/i.png" in text.toPlainText()
    assert text.loadResource(2, QUrl("https://x.y/i.png")) is None


def test_the_theme_changes_what_is_written_too(show: Show, appearance: Appearance) -> None:
    text = show(answer_of([round_of(("a", Kind.ACCEPTED), ("wwww", Kind.REJECTED), ("b", Kind.CORRECTED))]))
    appearance.choose(Theme.DARK)
    render(text)
    assert colours_near(text, Kind.REJECTED, DARK) > 10


def test_the_direction_follows_the_first_strong_character(show: Show) -> None:
    text = show(answer_of(rounds_of("Latin\n\nעברית\n")))
    first = text.document().firstBlock()
    assert [str(block.textDirection()) for block in (first, first.next())] == [
        "LayoutDirection.LeftToRight",
        "LayoutDirection.RightToLeft",
    ]


def test_marks_lie_within_the_text_in_both_directions(show: Show) -> None:
    text = show(answer_of(rounds_of("שלום עולם mixed עם latin 12 ועוד " * 6)))
    marks = text.marks_in(QRectF(text.rect()))
    assert marks
    assert all(-1 <= mark.rect.left() <= mark.rect.right() <= WIDTH + 1 for mark in marks)


def test_every_block_knows_its_line_however_the_text_grew(show: Show) -> None:
    """A panel of code is as tall as its lines only while blocks and lines agree."""
    answer = Answer()
    text = show(answer)
    for round_ in rounds_of(SAMPLE, seed=3):
        grow(answer, round_)
        render(text)
        assert lines_of_blocks(text) == list(range(len(text._reader.lines)))


def lines_of_blocks(text: TokenText) -> list[int]:
    """The index of the line that each block shows, without the slivers around tables."""
    states: list[int] = []
    block = text.document().begin()
    while block.isValid():
        states.append(block.userState())
        block = block.next()
    return [state for state in states if state >= 0]
