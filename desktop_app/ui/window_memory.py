"""Remembers how the window was left: place, columns, folded panel, hidden kinds. Moves values, nothing more."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QByteArray, QObject

from desktop_app.core.rounds import Kind
from desktop_app.services.settings import SettingsService
from desktop_app.ui.main_window import MainWindow


class WindowMemory(QObject):
    """Reads on `restore`, writes when the window closes."""

    def __init__(self, window: MainWindow, settings: SettingsService) -> None:
        super().__init__(window)
        self._window = window
        self._settings = settings
        self._unfolded: tuple[int, ...] = ()
        window.closing.connect(self._on_closing)

    def restore(self) -> None:
        remembered = self._settings.current
        if remembered.window_geometry:
            self._window.restoreGeometry(QByteArray(remembered.window_geometry))
        if remembered.column_widths:
            self._unfolded = remembered.column_widths
            self._window.set_column_widths(remembered.column_widths)
        self._window.fold_panel(folded=remembered.panel_folded)

    def fold_panel(self, *, folded: bool) -> None:
        """Fold or unfold, and keep the widths for the way back."""
        if folded == self._window.panel_folded:
            return
        if folded:
            self._unfolded = self._window.column_widths
        self._window.fold_panel(folded=folded)
        if not folded and self._unfolded:
            self._window.set_column_widths(self._unfolded)
        self._settings.apply(replace(self._settings.current, panel_folded=folded))

    def keep_hidden_kinds(self, hidden: frozenset[Kind]) -> None:
        self._settings.apply(replace(self._settings.current, hidden_kinds=hidden))

    def _on_closing(self) -> None:
        widths = self._unfolded if self._window.panel_folded else self._window.column_widths
        self._settings.apply(
            replace(
                self._settings.current,
                window_geometry=bytes(self._window.saveGeometry().data()),
                column_widths=widths,
            )
        )
