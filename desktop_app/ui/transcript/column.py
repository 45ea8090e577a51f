"""Stacks message views, each as high as its content, and lays them out lazily.

A layout of Qt's would ask every message of a long chat for its height whenever one grows. Here only what is visible is
arranged at once; the rest follows in slices and keeps its old height until then.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence

from PySide6.QtWidgets import QWidget

from desktop_app.ui.theme import Space
from desktop_app.ui.transcript.message_view import MessageView, UserView

WIDEST = 800
"""Longest comfortable line of text, in device-independent pixels."""


class Column(QWidget):
    """Owns the views and their places; where it is scrolled to is the transcript's business."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._views: list[MessageView] = []
        self._bottoms: list[int] = []

    @property
    def views(self) -> Sequence[MessageView]:
        return self._views

    @property
    def text_width(self) -> int:
        return max(min(self.width() - 2 * Space.XL, WIDEST), 120)

    def clear(self) -> None:
        for view in self._views:
            view.hide()
            view.deleteLater()
        self._views.clear()
        self._bottoms.clear()
        self.resize(self.width(), 0)

    def insert(self, index: int, views: Sequence[MessageView]) -> None:
        self._views[index:index] = views
        for view in views:
            view.arrange(self.text_width)
            view.show()
        self.place(index)

    def arrange(self, view: MessageView) -> None:
        """Lay a view out for the width in force, and move what stands below it."""
        if self.is_arranged(view):
            return
        height = view.arranged_height
        if view.arrange(self.text_width) != height or view.width() != self.text_width:
            self.place(self._views.index(view))

    def place(self, first: int) -> None:
        """Give every view from `first` on its place, and the column its height."""
        del self._bottoms[first:]
        y = self._bottoms[-1] if self._bottoms else 0
        left, width = (self.width() - self.text_width) // 2, self.text_width
        for view in self._views[first:]:
            y += Space.XL if isinstance(view, UserView) or not self._bottoms else Space.M
            view.setGeometry(left, y, width, view.arranged_height)
            y += view.arranged_height
            self._bottoms.append(y)
        self.resize(self.width(), y + Space.L)

    def first_below(self, y: int) -> int:
        """Index of the first view that reaches below y."""
        return bisect_left(self._bottoms, y + 1)

    def is_arranged(self, view: MessageView) -> bool:
        """Whether the view's height is right for the width in force."""
        return view.arranged_width == self.text_width

    def nearest(self, around: int, wanted: Callable[[MessageView], bool]) -> MessageView | None:
        """The wanted view that is nearest to an index."""
        found = [index for index, view in enumerate(self._views) if wanted(view)]
        return self._views[min(found, key=lambda index: abs(index - around))] if found else None
