"""Keeps a QTextDocument equal to the woven lines, touching only what changed.

Owns the document's text and the table from document positions to pieces. Paints nothing and knows no widget.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from PySide6.QtGui import QTextBlock, QTextBlockFormat, QTextCursor, QTextDocument

from desktop_app.ui.transcript.formats import Formats
from desktop_app.ui.transcript.lines import Line, LineKind
from desktop_app.ui.transcript.weave import Piece


@dataclass(slots=True)
class Unit:
    """What is written as a whole: one line, or all cells of one table."""

    first: int
    """Index of its first line."""
    lines: list[Line]
    pieces: list[list[Piece]]
    flat: int = 0
    """Index of its first piece in the table of positions."""
    end: int = 0
    """Document position behind its last character; for a table that of the empty block behind it."""

    @property
    def is_table(self) -> bool:
        return self.lines[0].cell is not None

    def same_shape(self, other: Unit) -> bool:
        return len(self.lines) == len(other.lines) and all(map(_same_shape, self.lines, other.lines))

    def same_pieces(self, other: Unit) -> bool:
        return all(
            len(mine) == len(theirs) and all(map(Piece.same, mine, theirs))
            for mine, theirs in zip(self.pieces, other.pieces, strict=True)
        )


@dataclass(slots=True)
class Positions:
    """Pieces by document position, in UTF-16 code units as QTextDocument counts."""

    pieces: list[Piece] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)

    def add(self, position: int, piece: Piece) -> None:
        self.starts.append(position)
        self.pieces.append(piece)

    def truncate(self, length: int) -> None:
        del self.pieces[length:], self.starts[length:]

    def between(self, start: int, end: int) -> Iterator[tuple[int, int, Piece]]:
        """(start, end, piece) of all pieces that reach into a range of positions."""
        index = max(bisect_right(self.starts, start) - 1, 0)
        while index < len(self.starts) and self.starts[index] < end:
            at, piece = self.starts[index], self.pieces[index]
            stop = at + utf16_length(piece.text)
            if stop > start:
                yield at, stop, piece
            index += 1

    def at(self, position: int) -> Piece | None:
        """The piece that shows the character behind `position`."""
        return next((piece for _, _, piece in self.between(position, position + 1)), None)


class LineDocument:
    """Writes units to a document; only from the first difference on."""

    def __init__(self, document: QTextDocument, formats: Formats) -> None:
        self._document = document
        self._formats = formats
        self._units: list[Unit] = []
        self.positions = Positions()

    def clear(self, formats: Formats) -> None:
        """Empty the document; what is written next gets these formats."""
        self._formats = formats
        cursor = QTextCursor(self._document)
        self._cut(cursor, 0)
        cursor.setBlockFormat(QTextBlockFormat())

    def set_width(self, width: int) -> None:
        """Width in device-independent pixels at which the text will be laid out: "copy" stands at the right."""
        if not self._formats.set_width(width):
            return
        cursor = QTextCursor(self._document)
        cursor.beginEditBlock()
        for index, unit in enumerate(self._units):
            if unit.lines[0].kind is LineKind.CODE_HEADER:
                cursor.setPosition(unit.end)
                before = self._units[index - 1].lines[-1] if index else None
                cursor.setBlockFormat(self._formats.block(unit.lines[0], before))
        cursor.endEditBlock()

    def update(self, first: int, lines: Sequence[Line], pieces: Sequence[list[Piece]]) -> int:
        """Replace everything from line `first` on by these lines; a table must not begin before `first`.

        Returns the position of the first block that changed; the document's length where none did.
        """
        known = bisect_right(self._units, first - 1, key=lambda unit: unit.first)
        new = list(_units(first, lines, pieces))
        same = _common(self._units[known:], new)
        index = known + same
        if same == len(new) and index == len(self._units):
            return self._document.characterCount()
        cursor = QTextCursor(self._document)
        cursor.beginEditBlock()
        if same < len(new) and index < len(self._units) and self._continue(cursor, index, new[same]):
            same += 1
        else:
            self._cut(cursor, index)
        self._write(cursor, new[same:])
        cursor.endEditBlock()
        return self._document.findBlock(self._units[index - 1].end).position() if index else 0

    def line_of(self, block: QTextBlock) -> Line | None:
        return self._line(block.userState())

    def code_under(self, header: int) -> str:
        """The code below the header in line `header`, without refused tokens."""
        texts: list[str] = []
        index = header + 1
        while (line := self._line(index)) is not None and line.kind is LineKind.CODE:
            texts.append(line.text)
            index += 1
        return "\n".join(texts)

    def _line(self, index: int) -> Line | None:
        if index < 0:
            return None
        at = bisect_right(self._units, index, key=lambda unit: unit.first) - 1
        unit = self._units[at] if at >= 0 else None
        return unit.lines[index - unit.first] if unit and index - unit.first < len(unit.lines) else None

    def _cut(self, cursor: QTextCursor, index: int) -> None:
        """Remove the units from `index` on."""
        before = self._units[index - 1] if index else None
        if index < len(self._units):
            self.positions.truncate(self._units[index].flat)
        del self._units[index:]
        _remove_behind(cursor, before.end if before else 0)

    def _continue(self, cursor: QTextCursor, index: int, new: Unit) -> bool:
        """Write a line that begins as it did before from its first changed piece on; False where that can't be."""
        old = self._units[index]
        if new.is_table or new.lines[0].kind is LineKind.CODE_HEADER or not new.same_shape(old):
            return False
        kept = _common_pieces(old.pieces[0], new.pieces[0])
        if not kept:
            return False
        flat = old.flat + kept
        end = self.positions.starts[flat - 1] + utf16_length(self.positions.pieces[flat - 1].text)
        del self._units[index:]
        self.positions.truncate(flat)
        _remove_behind(cursor, end)
        self._insert(cursor, new.lines[0], new.pieces[0][kept:])
        new.flat, new.end = old.flat, cursor.position()
        self._units.append(new)
        return True

    def _write(self, cursor: QTextCursor, units: Sequence[Unit]) -> None:
        for unit in units:
            unit.flat = len(self.positions.pieces)
            if unit.is_table:
                self._write_table(cursor, unit)
            else:
                self._write_line(cursor, unit)
            self._units.append(unit)

    def _write_line(self, cursor: QTextCursor, unit: Unit) -> None:
        line, before = unit.lines[0], self._units[-1] if self._units else None
        block = self._formats.block(line, before.lines[-1] if before else None)
        character = self._formats.characters(line, Piece(""))
        if before is None or before.is_table:
            cursor.setBlockFormat(block)
            cursor.setBlockCharFormat(character)
        else:
            cursor.insertBlock(block, character)
        cursor.block().setUserState(unit.first)
        self._insert(cursor, line, unit.pieces[0])
        if line.kind is LineKind.CODE_HEADER:
            cursor.insertText("\tCopy", self._formats.copy_anchor(unit.first))
        unit.end = cursor.position()

    def _write_table(self, cursor: QTextCursor, unit: Unit) -> None:
        before = self._units[-1] if self._units else None
        if before is None:
            self._make_sliver(cursor)
        form = self._formats.table(unit.lines[0], before.lines[-1] if before else None)
        last = unit.lines[-1].cell
        cell = unit.lines[0].cell
        assert cell is not None
        assert last is not None
        table = cursor.insertTable(last.row + 1, cell.columns, form)
        for index, (line, pieces) in enumerate(zip(unit.lines, unit.pieces, strict=True), unit.first):
            assert line.cell is not None
            inside = table.cellAt(line.cell.row, line.cell.column).firstCursorPosition()
            inside.setBlockFormat(self._formats.block(line, None))
            inside.block().setUserState(index)
            self._insert(inside, line, pieces)
        cursor.setPosition(table.lastPosition() + 1)
        self._make_sliver(cursor)
        unit.end = cursor.position()

    def _make_sliver(self, cursor: QTextCursor) -> None:
        block, character = self._formats.sliver()
        cursor.setBlockFormat(block)
        cursor.setBlockCharFormat(character)
        cursor.block().setUserState(-1)

    def _insert(self, cursor: QTextCursor, line: Line, pieces: Sequence[Piece]) -> None:
        """Insert pieces; neighbours in one format go in together."""
        waiting: list[str] = []
        position, form = cursor.position(), None
        for piece in pieces:
            wanted = self._formats.characters(line, piece)
            if wanted is not form and waiting and form is not None:
                cursor.insertText("".join(waiting), form)
                waiting.clear()
            form = wanted
            self.positions.add(position, piece)
            position += utf16_length(piece.text)
            waiting.append(piece.text)
        if form is not None:
            cursor.insertText("".join(waiting), form)


def utf16_length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _units(first: int, lines: Sequence[Line], pieces: Sequence[list[Piece]]) -> Iterator[Unit]:
    """Units of `lines[first:]`; `pieces` belong to those lines."""
    unit: Unit | None = None
    for index, own in enumerate(pieces, first):
        line = lines[index]
        if line.cell is not None and (line.cell.row or line.cell.column) and unit is not None:
            unit.lines.append(line)
            unit.pieces.append(own)
            continue
        if unit is not None:
            yield unit
        unit = Unit(index, [line], [own])
    if unit is not None:
        yield unit


def _same_shape(one: Line, other: Line) -> bool:
    return replace(one, runs=(), marker=None, start=0) == replace(other, runs=(), marker=None, start=0) and (
        (one.marker and one.marker.text) == (other.marker and other.marker.text)
    )


def _common(old: Sequence[Unit], new: Sequence[Unit]) -> int:
    same = 0
    for mine, theirs in zip(old, new, strict=False):
        if not (mine.same_shape(theirs) and mine.same_pieces(theirs)):
            break
        same += 1
    return same


def _common_pieces(old: Sequence[Piece], new: Sequence[Piece]) -> int:
    same = 0
    for mine, theirs in zip(old, new, strict=False):
        if not mine.same(theirs):
            break
        same += 1
    return same


def _remove_behind(cursor: QTextCursor, position: int) -> None:
    """Remove all text from `position` on; its block stays; Qt would give it the next one's attributes."""
    cursor.setPosition(position)
    form, state = cursor.blockFormat(), cursor.block().userState()
    cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
    cursor.removeSelectedText()
    cursor.setBlockFormat(form)
    cursor.block().setUserState(state)
