"""How the app looks: palettes, spacing and the one style sheet. No widget names a colour of its own.

Token colours come from Okabe and Ito's palette, which holds for the common colour deficiencies. Text on a tint keeps
the normal text colour.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QPalette
from PySide6.QtWidgets import QApplication

from desktop_app.core.rounds import Kind
from desktop_app.services.settings_file import Theme


class Space(IntEnum):
    """Distances in device-independent pixels."""

    XS = 4
    S = 8
    M = 12
    L = 16
    XL = 24


RADIUS = 8
"""Corner radius of cards, bubbles and code panels, in device-independent pixels."""


@dataclass(frozen=True, slots=True)
class Colours:
    """One scheme. Tints are the kind's ink at `tint_alpha`."""

    dark: bool
    window: QColor
    """Behind everything; side panels."""
    base: QColor
    """Behind the transcript and in text fields."""
    raised: QColor
    """Cards, menus, buttons."""
    sunken: QColor
    """Code panels, tracks of bars."""
    bubble: QColor
    """The user's messages."""
    border: QColor
    text: QColor
    muted: QColor
    """Second-rank text; still 4.5:1 on `window`, `base` and `raised`."""
    disabled: QColor
    accent: QColor
    on_accent: QColor
    link: QColor
    positive: QColor
    warning: QColor
    danger: QColor
    accepted: QColor
    corrected: QColor
    bonus: QColor
    rejected: QColor
    tint_alpha: float
    shares: tuple[QColor, QColor, QColor, QColor]
    """Where the time goes: draft, verify, sample, rest."""

    def ink(self, kind: Kind) -> QColor:
        """Colour of underlines, swatches and struck-through text; the text colour for plain."""
        return {
            Kind.ACCEPTED: self.accepted,
            Kind.CORRECTED: self.corrected,
            Kind.BONUS: self.bonus,
            Kind.REJECTED: self.rejected,
            Kind.DISCARDED: self.muted,
        }.get(kind, self.text)

    def tint(self, kind: Kind) -> QColor:
        """Colour behind a token; fully transparent for plain."""
        colour = QColor(self.ink(kind))
        colour.setAlphaF(0.0 if kind is Kind.PLAIN else self.tint_alpha)
        return colour


LIGHT = Colours(
    dark=False,
    window=QColor("#F4F5F7"),
    base=QColor("#FFFFFF"),
    raised=QColor("#FFFFFF"),
    sunken=QColor("#F5F6F8"),
    bubble=QColor("#EEF1F6"),
    border=QColor("#DDE1E7"),
    text=QColor("#1B1F24"),
    muted=QColor("#5B6470"),
    disabled=QColor("#A3ABB5"),
    accent=QColor("#2458C6"),
    on_accent=QColor("#FFFFFF"),
    link=QColor("#1F56C3"),
    positive=QColor("#00795A"),
    warning=QColor("#9A5B00"),
    danger=QColor("#B00020"),
    accepted=QColor("#009E73"),
    corrected=QColor("#D55E00"),
    bonus=QColor("#0072B2"),
    rejected=QColor("#B00020"),
    tint_alpha=0.10,
    shares=(QColor("#56B4E9"), QColor("#0072B2"), QColor("#E69F00"), QColor("#9AA3AE")),
)

DARK = Colours(
    dark=True,
    window=QColor("#17191D"),
    base=QColor("#1D2025"),
    raised=QColor("#272B31"),
    sunken=QColor("#16181C"),
    bubble=QColor("#2A2F37"),
    border=QColor("#383D46"),
    text=QColor("#E3E6EA"),
    muted=QColor("#9DA6B2"),
    disabled=QColor("#656D78"),
    accent=QColor("#7CA8FF"),
    on_accent=QColor("#0E1524"),
    link=QColor("#8AB4FF"),
    positive=QColor("#3DD6A5"),
    warning=QColor("#F2B45C"),
    danger=QColor("#FF6B7A"),
    accepted=QColor("#3DD6A5"),
    corrected=QColor("#FF9D4D"),
    bonus=QColor("#6CB8FF"),
    rejected=QColor("#FF6B7A"),
    tint_alpha=0.13,
    shares=(QColor("#7CCBF5"), QColor("#3F8FD2"), QColor("#F0B040"), QColor("#79828E")),
)


class Appearance(QObject):
    """The scheme in force: the system's, or the one the user chose. Widgets that paint follow `changed`."""

    changed = Signal()

    def __init__(self, app: QApplication, choice: Theme = Theme.SYSTEM) -> None:
        super().__init__(app)
        self._app = app
        self._choice = choice
        self._colours = LIGHT
        app.setStyle("Fusion")
        app.styleHints().colorSchemeChanged.connect(self._on_system_scheme_changed)
        self._apply()

    @property
    def colours(self) -> Colours:
        return self._colours

    @property
    def choice(self) -> Theme:
        return self._choice

    def choose(self, choice: Theme) -> None:
        """Follow the system or stay with one scheme."""
        self._choice = choice
        self._apply()

    def _on_system_scheme_changed(self, _scheme: Qt.ColorScheme) -> None:
        if self._choice is Theme.SYSTEM:
            self._apply()

    def _apply(self) -> None:
        dark = self._choice is Theme.DARK
        if self._choice is Theme.SYSTEM:
            dark = self._app.styleHints().colorScheme() is Qt.ColorScheme.Dark
        self._colours = DARK if dark else LIGHT
        self._app.setPalette(qt_palette(self._colours))
        self._app.setStyleSheet(style_sheet(self._colours))
        self.changed.emit()


def code_font(points: float) -> QFont:
    """The system's fixed-width font at a size in points."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    font.setStyleHint(QFont.StyleHint.Monospace)
    font.setFixedPitch(True)
    font.setPointSizeF(points)
    return font


def qt_palette(colours: Colours) -> QPalette:
    """The roles that Qt's own widgets read."""
    palette = QPalette()
    role = QPalette.ColorRole
    for which, colour in (
        (role.Window, colours.window),
        (role.WindowText, colours.text),
        (role.Base, colours.base),
        (role.AlternateBase, colours.sunken),
        (role.Text, colours.text),
        (role.PlaceholderText, colours.muted),
        (role.Button, colours.raised),
        (role.ButtonText, colours.text),
        (role.BrightText, colours.danger),
        (role.ToolTipBase, colours.raised),
        (role.ToolTipText, colours.text),
        (role.Highlight, colours.accent),
        (role.HighlightedText, colours.on_accent),
        (role.Link, colours.link),
        (role.LinkVisited, colours.link),
        (role.Mid, colours.border),
        (role.Accent, colours.accent),
    ):
        palette.setColor(which, colour)
    for which in (role.WindowText, role.Text, role.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, which, colours.disabled)
    return palette


def style_sheet(colours: Colours) -> str:
    """Small on purpose: only what the palette can't say. Widgets opt in by the properties `role` and `tone`."""
    return f"""
QToolTip {{ color: {colours.text.name()}; background: {colours.raised.name()};
    border: 1px solid {colours.border.name()}; padding: 4px 6px; }}
QLabel[role="muted"] {{ color: {colours.muted.name()}; }}
QLabel[role="title"] {{ font-weight: 600; }}
QLabel[tone="danger"] {{ color: {colours.danger.name()}; }}
QLabel[tone="warning"] {{ color: {colours.warning.name()}; }}
QLabel[tone="positive"] {{ color: {colours.positive.name()}; }}
QToolButton[role="quiet"] {{ color: {colours.muted.name()}; background: transparent; border: none;
    border-radius: 4px; padding: 3px 6px; }}
QToolButton[role="quiet"]:hover, QToolButton[role="quiet"]:focus {{ color: {colours.text.name()};
    background: {colours.bubble.name()}; }}
QPushButton[role="floating"] {{ color: {colours.text.name()}; background: {colours.raised.name()};
    border: 1px solid {colours.border.name()}; border-radius: 14px; padding: 5px 14px; }}
QPushButton[role="floating"]:hover {{ border-color: {colours.accent.name()}; }}
QScrollBar:vertical {{ background: transparent; width: 12px; margin: 0; }}
QScrollBar::handle:vertical {{ background: {colours.border.name()}; border-radius: 4px; min-height: 28px;
    margin: 2px; }}
QScrollBar::handle:vertical:hover {{ background: {colours.disabled.name()}; }}
QScrollBar::add-line:vertical, QScrollBar::sub-line:vertical {{ height: 0; }}
QScrollBar::add-page:vertical, QScrollBar::sub-page:vertical {{ background: transparent; }}
"""
