"""Paints a row of the chat list: a heading, or a title with a dot while it is being answered."""

from __future__ import annotations

import unicodedata

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QPainter, QPalette
from PySide6.QtWidgets import QLineEdit, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from desktop_app.ui.card import mix
from desktop_app.ui.chats.chat_list_model import ChatRole

Index = QModelIndex | QPersistentModelIndex

_PADDING = 10
_ROW_HEIGHT = 32
_HEADING_HEIGHT = 34
_DOT = 7


class ChatDelegate(QStyledItemDelegate):
    """Colours come from the palette, so both themes fit."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        height = _HEADING_HEIGHT if index.data(ChatRole.CHAT_ID) is None else _ROW_HEIGHT
        return QSize(80, max(height, option.fontMetrics.height() + 10))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if index.data(ChatRole.CHAT_ID) is None:
            self._paint_heading(painter, option, index.data())
        else:
            self._paint_chat(painter, option, index)
        painter.restore()

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        editor = QLineEdit(parent)
        editor.setAccessibleName("Chat title")
        return editor

    def setEditorData(self, editor: QWidget, index: Index) -> None:  # noqa: N802 - Qt's name
        """Keeps what the user typed when the list changes meanwhile."""
        if isinstance(editor, QLineEdit) and editor.isModified():
            return
        super().setEditorData(editor, index)

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: Index) -> None:
        editor.setGeometry(option.rect.adjusted(4, 2, -4, -2))

    def _paint_heading(self, painter: QPainter, option: QStyleOptionViewItem, text: str) -> None:
        font = QFont(option.font)
        font.setPointSizeF(font.pointSizeF() * 0.88)
        font.setBold(True)
        painter.setFont(font)
        painter.setPen(option.palette.color(QPalette.ColorRole.PlaceholderText))
        area = option.rect.adjusted(_PADDING, 0, -_PADDING, -5)
        painter.drawText(area, int(Qt.AlignmentFlag.AlignBottom | Qt.AlignmentFlag.AlignLeft), text)

    def _paint_chat(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        self._paint_ground(painter, option)
        area = option.rect.adjusted(_PADDING, 0, -_PADDING, 0)
        if index.data(ChatRole.ANSWERING):
            area.adjust(0, 0, -_DOT - 6, 0)
            self._paint_dot(painter, option)
        self._paint_title(painter, option, area, index.data())

    def _paint_ground(self, painter: QPainter, option: QStyleOptionViewItem) -> None:
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        if not selected and not option.state & QStyle.StateFlag.State_MouseOver:
            return
        window = option.palette.color(QPalette.ColorRole.Window)
        text = option.palette.color(QPalette.ColorRole.WindowText)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(mix(window, text, 0.10 if selected else 0.05))
        painter.drawRoundedRect(QRectF(option.rect).adjusted(2, 1, -2, -1), 6, 6)

    def _paint_dot(self, painter: QPainter, option: QStyleOptionViewItem) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(option.palette.color(QPalette.ColorRole.Highlight))
        centre = option.rect.center()
        painter.drawEllipse(QRectF(option.rect.right() - _PADDING - _DOT, centre.y() - _DOT / 2, _DOT, _DOT))

    def _paint_title(self, painter: QPainter, option: QStyleOptionViewItem, area: QRect, title: str) -> None:
        painter.setPen(option.palette.color(QPalette.ColorRole.WindowText))
        painter.setLayoutDirection(direction_of(title))
        shown = option.fontMetrics.elidedText(title, Qt.TextElideMode.ElideRight, area.width())
        painter.drawText(area, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), shown)


def direction_of(text: str) -> Qt.LayoutDirection:
    """Reading direction by the first strong character."""
    for character in text:
        kind = unicodedata.bidirectional(character)
        if kind in ("R", "AL"):
            return Qt.LayoutDirection.RightToLeft
        if kind == "L":
            break
    return Qt.LayoutDirection.LeftToRight
