"""What the colours mean: a switch per kind of token, drawn as the tokens are, and one for all colours."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFont, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QCheckBox, QHBoxLayout, QSizePolicy, QWidget

from desktop_app.core.rounds import Kind
from desktop_app.ui.theme import Appearance, Space
from desktop_app.ui.transcript.marks import UNDERLINE_DROP
from desktop_app.ui.transcript.tooltip import MEANING
from desktop_app.ui.transcript.underline import WIDTH, add_underline

KINDS = (Kind.ACCEPTED, Kind.CORRECTED, Kind.BONUS, Kind.REJECTED, Kind.DISCARDED)
_STRUCK = frozenset({Kind.REJECTED, Kind.DISCARDED})


class Legend(QWidget):
    """Says which kinds are hidden; counts are given to it."""

    hidden_kinds_changed = Signal(object)  # frozenset[Kind]

    def __init__(self, appearance: Appearance, hidden: frozenset[Kind], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._items = {kind: LegendItem(kind, appearance, self) for kind in KINDS}
        self._colours = QCheckBox("Colours", self)
        self._colours.setToolTip("Show or hide all token colours")
        self._colours.setChecked(True)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(Space.S)
        row.addWidget(self._colours)
        for kind, item in self._items.items():
            item.setChecked(kind not in hidden)
            item.toggled.connect(self._on_toggled)
            row.addWidget(item)
        row.addStretch(1)
        self._colours.toggled.connect(self._on_toggled)

    @property
    def hidden_kinds(self) -> frozenset[Kind]:
        """Kinds that are not told apart now: all of them while colours are off."""
        return self.chosen_kinds if self._colours.isChecked() else frozenset(KINDS)

    @property
    def chosen_kinds(self) -> frozenset[Kind]:
        """Kinds that the user hid one by one; worth remembering."""
        return frozenset(kind for kind, item in self._items.items() if not item.isChecked())

    @property
    def colours_shown(self) -> bool:
        return self._colours.isChecked()

    def show_colours(self, *, shown: bool) -> None:
        self._colours.setChecked(shown)

    def show_counts(self, counts: dict[Kind, int] | None) -> None:
        """Tokens per kind in the answer at hand; None where there is none."""
        for kind, item in self._items.items():
            item.show_count(None if counts is None else counts[kind])

    def item(self, kind: Kind) -> LegendItem:
        return self._items[kind]

    def _on_toggled(self, _checked: bool) -> None:
        for item in self._items.values():
            item.setEnabled(self._colours.isChecked())
        self.hidden_kinds_changed.emit(self.hidden_kinds)


class LegendItem(QAbstractButton):
    """A kind's name in the kind's own dress."""

    def __init__(self, kind: Kind, appearance: Appearance, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._kind = kind
        self._appearance = appearance
        self._count: int | None = None
        self.setCheckable(True)
        self.setChecked(True)
        self.setText(kind.value)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.show_count(None)
        appearance.changed.connect(self.update)

    def show_count(self, count: int | None) -> None:
        self._count = count
        known = "–" if count is None else str(count)
        self.setToolTip(
            f"{self._kind.value}: {MEANING[self._kind]}.\nIn the last answer: {known} tokens. Click to show or hide."
        )
        self.setAccessibleName(f"{self._kind.value}, {known} tokens")
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        return QSize(metrics.horizontalAdvance(self._label()) + 2 * Space.S, metrics.height() + 2 * Space.S)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colours, metrics = self._appearance.colours, self.fontMetrics()
        shown = self.isChecked() and self.isEnabled()
        name = QRectF(Space.S, Space.S, metrics.horizontalAdvance(self.text()), metrics.height())
        if shown and self._kind is not Kind.DISCARDED:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colours.tint(self._kind))
            painter.drawRoundedRect(name.adjusted(-3, -1, 3, 2), 3, 3)
        if self.hasFocus():
            painter.setPen(QPen(colours.accent, 1.0))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        font = QFont(self.font())
        font.setStrikeOut(self._kind in _STRUCK and shown)
        painter.setFont(font)
        ink = colours.ink(self._kind) if self._kind in _STRUCK else colours.text
        painter.setPen(ink if shown else colours.disabled)
        painter.drawText(name, Qt.AlignmentFlag.AlignVCenter, self.text())
        painter.setFont(self.font())
        painter.setPen(colours.muted if shown else colours.disabled)
        rest = self._label()[len(self.text()) :]
        painter.drawText(name.translated(name.width(), 0).adjusted(0, 0, 80, 0), Qt.AlignmentFlag.AlignVCenter, rest)
        if shown:
            path = QPainterPath()
            add_underline(path, self._kind, name.left(), name.right(), name.top() + metrics.ascent() + UNDERLINE_DROP)
            painter.strokePath(path, QPen(colours.ink(self._kind), WIDTH))

    def _label(self) -> str:
        return self.text() if self._count is None else f"{self.text()}  {self._count}"
