"""Every rendered character knows the source character that wrote it, at every moment of a growing answer."""

from __future__ import annotations

import random

import pytest

from desktop_app.ui.transcript.lines import LINE_BREAK, Line, LineKind, Run
from desktop_app.ui.transcript.markdown import LONGEST_BLOCK, MarkdownReader

CORPUS = {
    "inline": "Para **bold _both_** ~~gone~~ \\* &amp; &copy; `` a`b `` and ` x `, ***all***, un*closed, a_b_c",
    "nested strong": "**a __b__ c** ~~~lone~~~ **~~x~~**",
    "breaks": "one  \ntwo\\\n   three \nfour\r\nfive\rsix\0seven",
    "links": 'see [a `b` **c**](http://x.y/z "t") <https://x.y/%20a> <me@x.y> [not](javascript:alert) [ref] [a][b]',
    "image": "before ![alt *text*](http://x.y/i.png) after ![broken](",
    "html": "<script>alert(1)</script>\n\n<div>\n*a*\n</div>\n\ninline <b onclick='x'>b</b>",
    "headings": "# One #\n## Two `c` ##\n#no\n\nSet\next\n===\n- # in a # list\n###### six",
    "quotes": "> a **b\n> c** d\nlazy\n>> deep\n> - item\n>   1. one\n> ```py\n> x = 1\n> ```",
    "lists": "- a\n- b\n  c\n\n  d\n- - nested\n- \n1. x\n2) y\n\n- loose\n\n- items\n- [ ] task\n\t- tab\n\t\ttext",
    "code": "```python\ndef f():\n\treturn '`'\n\n```\n\n    indented\n    \tcode\n\n~~~\nopen\n  end",
    "tabs": "-\tone\n\n\t\tcode in item\n\n>\tquote\n>\n>\t\tcode",
    "tables": "| a | b\\|c | `d` |\n|---|:-:|--:|\n| 1 | **2** \\| x | 3 |\n| x |\n\nword | *e*\n--|--\n> no\n",
    "quoted table": "> | a | b |\n> |---|---|\n> | c |  |\n",
    "rules": "a\n***\nb\n\n---\n***bold***",
    "references": "[foo]: http://x.y\n\n[foo] and [bar][foo]",
    "unicode": "漢字と**絵文字** 🙂👩‍👩‍👧 *é* שלום **עולם** &#x1F600; &NotEqualTilde;",
    "interrupting": "para\n- item\n\npara\n***not a rule***\n\npara\n| a | b |\n|---|---|x\n\npara\n```x` y\nend",
    "empty": "",
    "blank": "\n\n   \n",
}

BY_NAME = pytest.mark.parametrize("text", CORPUS.values(), ids=CORPUS.keys())


def lines_of(text: str) -> list[Line]:
    reader = MarkdownReader()
    reader.read(text)
    return reader.lines


def explained(shown: str, source: str, at: int) -> bool:
    """Whether the character is the source's, or one of the cases that `Run` names."""
    written = source[at]
    if written == shown:
        return True
    if shown == LINE_BREAK or (shown == " " and written in "\n\t\r"):
        return written in "\n\r\\" or shown == " "
    if shown in "•◦▪":
        return written in "-+*"
    if written == "\0":
        return shown == "\ufffd"
    return source.rfind("&", max(0, at - 30), at + 1) >= 0


def check_positions(text: str, lines: list[Line]) -> None:
    last = -1
    for line in lines:
        for run in line.all_runs:
            assert run.at is not None
            for index, shown in enumerate(run.text):
                assert explained(shown, text, run.at + index), (shown, text[run.at + index], run, line)
            assert run.at > last, (run, line)
            last = run.at + len(run.text) - 1


@BY_NAME
def test_every_character_comes_from_its_offset(text: str) -> None:
    check_positions(text, lines_of(text))


@BY_NAME
def test_growing_text_gives_at_every_length_what_the_whole_text_gives(text: str) -> None:
    growing = MarkdownReader()
    for end in range(len(text) + 1):
        before = list(growing.lines)
        first = growing.read(text[:end])
        assert growing.lines == lines_of(text[:end])
        assert growing.lines[:first] == before[:first]
        check_positions(text[:end], growing.lines)


def test_random_markup_keeps_positions_and_grows_alike() -> None:
    rng = random.Random(7)
    pieces = [
        "*",
        "**",
        "_",
        "`",
        "```",
        "~~",
        "[",
        "](",
        ")",
        "!",
        "<",
        ">",
        "\n",
        "\n\n",
        "- ",
        "1. ",
        "# ",
        "> ",
        "|",
        "---",
        "\\",
        "&amp;",
        " ",
        "    ",
        "\t",
        "word",
        "é",
        "🙂",
        "=",
        "\r\n",
    ]
    for _ in range(300):
        text = "".join(rng.choices(pieces, k=rng.randrange(1, 40)))
        growing = MarkdownReader()
        cut = rng.randrange(len(text) + 1)
        growing.read(text[:cut])
        growing.read(text)
        assert growing.lines == lines_of(text), repr(text)
        check_positions(text, growing.lines)


def test_settled_blocks_are_not_read_again() -> None:
    paragraphs = "".join(f"Paragraph {n} with *words*.\n\n" for n in range(50))
    reader = MarkdownReader()
    reader.read(paragraphs)
    assert reader.read(paragraphs + "More") >= 48


def test_an_endless_paragraph_is_cut_and_loses_nothing() -> None:
    text = "word " * (LONGEST_BLOCK // 2)
    reader = MarkdownReader()
    for end in range(0, len(text) + 1, 1000):
        reader.read(text[:end])
    assert max(len(line.text) for line in reader.lines) <= LONGEST_BLOCK
    assert " ".join(line.text.strip() for line in reader.lines) == text.strip()
    check_positions(text, reader.lines)


def test_an_endless_list_is_cut_between_items() -> None:
    text = "".join(f"- item {n}\n" for n in range(2000))
    lines = lines_of(text)
    assert [line.text for line in lines] == [f"item {n}" for n in range(2000)]
    assert all(line.marker for line in lines)


def test_blocks_become_the_lines_they_should() -> None:
    lines = lines_of("## Title\n\n> quoted\n\n- a\n  - b\n\n---\n\n```py\nx\n\ny\n```\n\n|h|i|\n|-|-:|\n|c|d|\n")
    assert [(line.kind, line.text) for line in lines] == [
        (LineKind.HEADING, "Title"),
        (LineKind.TEXT, "quoted"),
        (LineKind.TEXT, "a"),
        (LineKind.TEXT, "b"),
        (LineKind.RULE, ""),
        (LineKind.CODE_HEADER, "py"),
        (LineKind.CODE, "x"),
        (LineKind.CODE, ""),
        (LineKind.CODE, "y"),
        (LineKind.CELL, "h"),
        (LineKind.CELL, "i"),
        (LineKind.CELL, "c"),
        (LineKind.CELL, "d"),
    ]
    assert lines[0].level == 2
    assert lines[1].quote == 1
    assert [line.depth for line in lines[2:4]] == [1, 2]
    assert [(line.cell.row, line.cell.column) for line in lines if line.cell] == [(0, 0), (0, 1), (1, 0), (1, 1)]


def test_tables_in_one_list_stay_apart() -> None:
    table = "  | a | b |\n  |---|---|\n  | c | d |\n"
    cells = [
        line.cell
        for line in lines_of(
            f"- one\n\n{table}\n- two\n\n{table.replace('| b', '| b | x').replace('|---|', '|---|---|')}"
        )
    ]
    assert [(cell.row, cell.column) for cell in cells if cell].count((0, 0)) == 2


def test_html_and_images_are_shown_as_written() -> None:
    text = "<img src=x onerror=alert(1)> ![a](http://x.y/z.png)"
    assert lines_of(text)[0].runs == (Run(text, 0),)


def test_only_safe_addresses_become_links() -> None:
    lines = lines_of("[a](javascript:x) [b](file:///x) [c](https://x.y)")
    hrefs = {run.style.href for line in lines for run in line.runs}
    assert hrefs <= {"", "https://x.y"}
