"""The chat list for Qt: rows change one by one, never by a reset. Holds titles; chats themselves are the store's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from difflib import SequenceMatcher
from enum import IntEnum
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from desktop_app.store.records import ChatSummary
from desktop_app.ui.chats.rows import Heading, Row, key_of, rows_of

Index = QModelIndex | QPersistentModelIndex


class ChatRole(IntEnum):
    CHAT_ID = Qt.ItemDataRole.UserRole + 1
    """int; None for a heading."""
    ANSWERING = Qt.ItemDataRole.UserRole + 2
    """bool: an answer is being written in this chat."""


class ChatListModel(QAbstractListModel):
    """A title that was edited is not taken over but reported by `renamed`; the store's new list brings it."""

    renamed = Signal(int, str)

    def __init__(self, parent: QObject | None = None, *, today: Callable[[], date] = date.today) -> None:
        super().__init__(parent)
        self._today = today
        self._chats: tuple[ChatSummary, ...] = ()
        self._query = ""
        self._rows: list[Row] = []
        self._answering: int | None = None

    def set_chats(self, chats: Sequence[ChatSummary]) -> None:
        """The latest first."""
        self._chats = tuple(chats)
        self._reconcile()

    def set_query(self, query: str) -> None:
        """Show only chats whose title holds every word."""
        self._query = query
        self._reconcile()

    def set_answering(self, chat_id: int | None) -> None:
        before, self._answering = self._answering, chat_id
        for changed in {before, chat_id} - {None}:
            index = self.index_of(changed)
            if index.isValid():
                self.dataChanged.emit(index, index, [ChatRole.ANSWERING])

    def index_of(self, chat_id: int | None) -> QModelIndex:
        for row, item in enumerate(self._rows):
            if isinstance(item, ChatSummary) and item.id == chat_id:
                return self.index(row)
        return QModelIndex()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 (Qt's own signature)
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        row = self._rows[index.row()]
        if isinstance(row, Heading):
            return row.text if role == Qt.ItemDataRole.DisplayRole else None
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole, Qt.ItemDataRole.ToolTipRole):
            return row.title
        if role == ChatRole.CHAT_ID:
            return row.id
        if role == ChatRole.ANSWERING:
            return row.id == self._answering
        return None

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        if not index.isValid() or role != Qt.ItemDataRole.EditRole:
            return False
        row = self._rows[index.row()]
        title = str(value).strip()
        if isinstance(row, Heading) or not title or title == row.title:
            return False
        self.renamed.emit(row.id, title)
        return True

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid() or isinstance(self._rows[index.row()], Heading):
            return Qt.ItemFlag.NoItemFlags
        chat = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEditable
        return chat | Qt.ItemFlag.ItemNeverHasChildren

    def _reconcile(self) -> None:
        """Turn the old rows into the new ones with the fewest insertions and removals."""
        rows = rows_of(self._chats, self._query, self._today())
        matcher = SequenceMatcher(None, [key_of(row) for row in self._rows], [key_of(row) for row in rows], False)
        for tag, old_start, old_end, start, end in reversed(matcher.get_opcodes()):
            if tag in ("delete", "replace"):
                self._remove(old_start, old_end)
            if tag in ("insert", "replace"):
                self._insert(old_start, rows[start:end])
        for number, row in enumerate(rows):
            if self._rows[number] != row:
                self._rows[number] = row
                self.dataChanged.emit(self.index(number), self.index(number))

    def _remove(self, start: int, end: int) -> None:
        self.beginRemoveRows(QModelIndex(), start, end - 1)
        del self._rows[start:end]
        self.endRemoveRows()

    def _insert(self, at: int, rows: Sequence[Row]) -> None:
        self.beginInsertRows(QModelIndex(), at, at + len(rows) - 1)
        self._rows[at:at] = rows
        self.endInsertRows()
