"""What Markdown turns into: lines of runs in which every character knows where it came from. Values only, no Qt."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

LINE_BREAK = "\u2028"
"""A break inside a line; Qt breaks there without starting a new block."""


@dataclass(frozen=True, slots=True)
class Style:
    """How a run is set apart from ordinary text."""

    bold: bool = False
    italic: bool = False
    struck: bool = False
    code: bool = False
    href: str = ""


PLAIN = Style()


@dataclass(frozen=True, slots=True)
class Run:
    """Characters in one style. The character at index i was written by the source's character at `at` + i.

    The source says something else there in three cases only: a backslash escape or an entity (`at` is its first
    character, or the character it escapes), a newline (shown as a space or LINE_BREAK), a bullet.
    """

    text: str
    at: int | None
    """Offset in the source; None for text that no token wrote."""
    style: Style = PLAIN


class LineKind(StrEnum):
    TEXT = "text"
    HEADING = "heading"
    CODE_HEADER = "code-header"
    CODE = "code"
    CELL = "cell"
    RULE = "rule"


class Align(StrEnum):
    START = "start"
    CENTRE = "centre"
    END = "end"


@dataclass(frozen=True, slots=True)
class Cell:
    """The place of a table's cell."""

    row: int
    """0 is the header."""
    column: int
    columns: int
    align: Align


@dataclass(frozen=True, slots=True)
class Line:
    """One paragraph, heading, line of code, cell or rule."""

    kind: LineKind
    start: int
    """Source offset of the source line it begins on; of the cell for a cell."""
    runs: tuple[Run, ...] = ()
    marker: Run | None = None
    """Bullet or number, on the first line of a list item."""
    depth: int = 0
    """Lists around it."""
    quote: int = 0
    """Block quotes around it."""
    level: int = 0
    """Of a heading, 1 … 6."""
    tight: bool = False
    """Sits close to the line above, as the items of a tight list do."""
    cell: Cell | None = None

    @property
    def text(self) -> str:
        """The rendered characters, marker left out."""
        return "".join(run.text for run in self.runs)

    @property
    def all_runs(self) -> tuple[Run, ...]:
        return (self.marker, *self.runs) if self.marker else self.runs
