"""Buttons and fields of the window and its dialogs, flat and rounded. Widgets opt in by the property `look`."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from desktop_app.ui.theme import Appearance, Colours


class ControlStyle(QObject):
    """Keeps the window's own style sheet in the scheme in force."""

    def __init__(self, window: QWidget, appearance: Appearance) -> None:
        super().__init__(window)
        self._window = window
        self._appearance = appearance
        appearance.changed.connect(self._apply)
        self._apply()

    def _apply(self) -> None:
        self._window.setStyleSheet(control_sheet(self._appearance.colours))


def control_sheet(colours: Colours) -> str:
    """Rules for `look` = "plain", "primary", "field" and "menu", and for the buttons of dialogs."""
    return f"""
QPushButton[look="plain"], QDialogButtonBox QPushButton {{ color: {colours.text.name()};
    background: {colours.raised.name()}; border: 1px solid {colours.border.name()}; border-radius: 6px;
    padding: 5px 12px; min-height: 18px; }}
QPushButton[look="plain"]:hover, QDialogButtonBox QPushButton:hover {{ background: {colours.bubble.name()}; }}
QPushButton[look="plain"]:focus, QDialogButtonBox QPushButton:focus {{ border-color: {colours.accent.name()}; }}
QPushButton[look="primary"] {{ color: {colours.on_accent.name()}; background: {colours.accent.name()};
    border: 1px solid {colours.accent.name()}; border-radius: 6px; padding: 6px 16px; font-weight: 600; }}
QPushButton[look="primary"]:hover, QPushButton[look="primary"]:focus {{ border-color: {colours.text.name()}; }}
QLineEdit[look="field"], QPlainTextEdit[look="field"] {{ color: {colours.text.name()};
    background: {colours.base.name()}; border: 1px solid {colours.border.name()}; border-radius: 6px;
    padding: 4px 6px; }}
QLineEdit[look="field"]:focus, QPlainTextEdit[look="field"]:focus {{ border-color: {colours.accent.name()}; }}
QToolButton[look="menu"] {{ color: {colours.text.name()}; background: transparent; border: none;
    border-radius: 6px; padding: 4px 8px; font-size: 15px; }}
QToolButton[look="menu"]:hover, QToolButton[look="menu"]:focus {{ background: {colours.bubble.name()}; }}
QToolButton[look="menu"]::menu-indicator {{ image: none; }}
"""
