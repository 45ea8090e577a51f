"""Flattens markdown-it's tokens of one block into lines. No Qt."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from markdown_it.token import Token

from desktop_app.ui.transcript.inline import AT
from desktop_app.ui.transcript.lines import LINE_BREAK, PLAIN, Align, Cell, Line, LineKind, Run, Style
from desktop_app.ui.transcript.source import Locator, Source, first_line

BULLETS = "•◦▪"
"""By depth of the list."""

_ALIGNS = {"text-align:center": Align.CENTRE, "text-align:right": Align.END}
_OPENED: dict[str, Callable[[Style, Token], Style]] = {
    "strong_open": lambda style, _: replace(style, bold=True),
    "em_open": lambda style, _: replace(style, italic=True),
    "s_open": lambda style, _: replace(style, struck=True),
    "link_open": lambda style, token: replace(style, href=str(token.attrs.get("href", ""))),
}


class Flattener:
    """Walks the tokens of one top-level block; used once."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._lines: list[Line] = []
        self._lists: list[Token] = []
        self._quote = 0
        self._opening: Token | None = None
        """The heading, paragraph or cell that the next inline token fills."""
        self._cell = Cell(-1, 0, 0, Align.START)
        self._marker: Run | None = None
        self._marker_line = 0
        self._searched: dict[int, int] = {}
        """Per source line: where to look for the next list marker or cell."""
        self._columns: Iterator[int] = iter(())
        """Of the tables still to come."""
        self._handlers: dict[str, Callable[[Token], None]] = {
            "bullet_list_open": self._lists.append,
            "ordered_list_open": self._lists.append,
            "bullet_list_close": self._on_list_close,
            "ordered_list_close": self._on_list_close,
            "list_item_open": self._on_item_open,
            "list_item_close": self._on_item_close,
            "blockquote_open": self._on_quote_open,
            "blockquote_close": self._on_quote_close,
            "paragraph_open": self._on_opening,
            "heading_open": self._on_opening,
            "th_open": self._on_cell_open,
            "td_open": self._on_cell_open,
            "tr_open": self._on_row_open,
            "table_open": self._on_table_open,
            "inline": self._on_inline,
            "fence": self._on_code,
            "code_block": self._on_code,
            "hr": self._on_rule,
        }

    def lines(self, tokens: list[Token]) -> list[Line]:
        self._columns = _column_counts(tokens)
        for token in tokens:
            handler = self._handlers.get(token.type)
            if handler is not None:
                handler(token)
        return self._lines

    def _on_list_close(self, _token: Token) -> None:
        self._lists.pop()

    def _on_item_open(self, token: Token) -> None:
        self._flush_marker()
        number = first_line(token)
        written = token.info + token.markup
        found = max(self._source.line(number).find(written, self._searched.get(number, 0)), 0)
        self._searched[number] = found + len(written)
        shown = written if token.info else BULLETS[min(len(self._lists), len(BULLETS)) - 1]
        self._marker = Run(shown, self._source.line_offset(number) + found)
        self._marker_line = number

    def _on_item_close(self, _token: Token) -> None:
        self._flush_marker()

    def _on_quote_open(self, _token: Token) -> None:
        self._flush_marker()
        self._quote += 1

    def _on_quote_close(self, _token: Token) -> None:
        self._quote -= 1

    def _on_opening(self, token: Token) -> None:
        self._opening = token

    def _on_table_open(self, _token: Token) -> None:
        self._flush_marker()
        self._cell = Cell(-1, -1, next(self._columns), Align.START)

    def _on_row_open(self, _token: Token) -> None:
        self._cell = replace(self._cell, row=self._cell.row + 1, column=-1)

    def _on_cell_open(self, token: Token) -> None:
        self._opening = token
        align = _ALIGNS.get(str(token.attrs.get("style", "")), Align.START)
        self._cell = replace(self._cell, column=self._cell.column + 1, align=align)

    def _on_inline(self, token: Token) -> None:
        opening = self._opening
        if opening is None:
            return
        if opening.tag in {"th", "td"}:
            self._add_cell(token)
        elif opening.type == "heading_open":
            self._add_heading(token, opening)
        else:
            line = self._line(LineKind.TEXT, token, self._source.locate_lines(token))
            self._add(replace(line, tight=opening.hidden))

    def _on_code(self, token: Token) -> None:
        self._flush_marker()
        fenced = token.type == "fence"
        start = self._source.start(token)
        self._add(Line(LineKind.CODE_HEADER, start, runs=self._language(token) if fenced else ()))
        if not token.content:
            return
        locator = self._source.locate_lines(token, skip=1 if fenced else 0)
        at = 0
        for number, text in enumerate(token.content.removesuffix("\n").split("\n"), first_line(token) + fenced):
            runs = _merged(locator.runs(text, at, PLAIN))
            self._add(Line(LineKind.CODE, self._source.line_offset(number), runs=runs))
            at += len(text) + 1

    def _on_rule(self, token: Token) -> None:
        self._flush_marker()
        self._add(Line(LineKind.RULE, self._source.start(token)))

    def _add_heading(self, token: Token, opening: Token) -> None:
        atx = opening.markup.startswith("#")
        source = self._source
        locator = source.locate_heading(token, opening.markup) if atx else source.locate_lines(token)
        self._add(replace(self._line(LineKind.HEADING, token, locator), level=int(opening.tag[1])))

    def _add_cell(self, token: Token) -> None:
        number = first_line(token)
        search_from = self._searched.get(number, 0)
        if self._cell.column == 0:
            quoted = re.match(r"[ \t>]*", self._source.line(number))
            search_from = max(search_from, quoted.end() if quoted else 0)
        locator, start, self._searched[number] = self._source.locate_cell(token, search_from)
        self._add(Line(LineKind.CELL, start, runs=_runs(token, locator, newline=" "), cell=self._cell))

    def _line(self, kind: LineKind, token: Token, locator: Locator) -> Line:
        runs = _runs(token, locator, newline=LINE_BREAK)
        return Line(kind, self._source.start(token), runs=runs, marker=self._take_marker())

    def _language(self, token: Token) -> tuple[Run, ...]:
        name = token.info.strip()
        at = self._source.start(token) + self._source.line(first_line(token)).rfind(name)
        return (Run(name, at),) if name else ()

    def _flush_marker(self) -> None:
        """An item that begins without text still shows its marker."""
        if self._marker is not None:
            start = self._source.line_offset(self._marker_line)
            self._add(Line(LineKind.TEXT, start, marker=self._take_marker(), tight=True))

    def _take_marker(self) -> Run | None:
        marker, self._marker = self._marker, None
        return marker

    def _add(self, line: Line) -> None:
        self._lines.append(replace(line, depth=len(self._lists), quote=self._quote))


def _column_counts(tokens: list[Token]) -> Iterator[int]:
    """Columns of each table, in order."""
    count = 0
    for token in tokens:
        if token.type == "table_open":
            count = 0
        elif token.type == "th_open":
            count += 1
        elif token.type == "thead_close":
            yield count


def _runs(token: Token, locator: Locator, *, newline: str) -> tuple[Run, ...]:
    styles = [PLAIN]
    runs: list[Run] = []
    for child in token.children or ():
        style = styles[-1]
        if child.nesting > 0:
            styles.append(_OPENED[child.type](style, child))
        elif child.nesting < 0:
            styles.pop()
        elif child.type in {"softbreak", "hardbreak"}:
            runs += locator.runs(newline, child.meta[AT], style)
        else:
            shown = replace(style, code=True) if child.type == "code_inline" else style
            runs += locator.runs(child.content, child.meta[AT], shown)
    return _merged(runs)


def _merged(runs: Iterable[Run]) -> tuple[Run, ...]:
    merged: list[Run] = []
    for run in runs:
        last = merged[-1] if merged else None
        if last and last.style == run.style and last.at is not None and last.at + len(last.text) == run.at:
            merged[-1] = replace(last, text=last.text + run.text)
        else:
            merged.append(run)
    return tuple(merged)
