"""The left column: search, new chat, the chat list, and the offer to undo a deletion. Follows `ChatSession`."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPoint, QSize, Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QAbstractItemView, QFrame, QLineEdit, QListView, QMenu, QPushButton, QVBoxLayout, QWidget

from desktop_app.services.chat_session import ChatSession
from desktop_app.services.turn import ChatView, Turn
from desktop_app.store.records import ChatSummary
from desktop_app.ui.actions import WindowActions
from desktop_app.ui.chats.chat_delegate import ChatDelegate
from desktop_app.ui.chats.chat_list_model import ChatListModel, ChatRole
from desktop_app.ui.icons import Icon, icon
from desktop_app.ui.undo_bar import UndoBar


class Sidebar(QWidget):
    """Chats are opened, renamed and deleted here; the list itself comes from the session."""

    def __init__(self, session: ChatSession, actions: WindowActions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._actions = actions
        self._deleted: int | None = None
        self._open: int | None = None
        self._model = ChatListModel(self)
        self._search = QLineEdit()
        self._new = QPushButton("New chat")
        self._list = QListView()
        self._undo_bar = UndoBar()
        self._set_up_controls()
        self._lay_out()
        self._connect()

    def focus_search(self) -> None:
        self._search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._search.selectAll()

    def minimumSizeHint(self) -> QSize:
        return QSize(150, 200)

    def _set_up_controls(self) -> None:
        self._search.setPlaceholderText("Search")
        self._search.setProperty("look", "field")
        self._search.setAcceptDrops(False)
        self._search.setClearButtonEnabled(True)
        self._search.setAccessibleName("Search chats")
        keys = self._actions.search.shortcut().toString()
        self._search.setToolTip(f"Show only chats whose title holds these words ({keys})")
        self._search.addAction(icon(Icon.SEARCH), QLineEdit.ActionPosition.LeadingPosition)
        self._new.setIcon(icon(Icon.NEW_CHAT))
        self._new.setProperty("look", "plain")
        self._new.setToolTip(self._actions.new_chat.toolTip())
        self._new.setAccessibleName("New chat")
        self._list.setModel(self._model)
        self._list.setItemDelegate(ChatDelegate(self._list))
        self._list.setAccessibleName("Chats")
        self._list.setFrameShape(QFrame.Shape.NoFrame)
        self._list.setMouseTracking(True)
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        self._list.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self._list.viewport().setAutoFillBackground(False)

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(10, 10, 6, 10)
        column.setSpacing(8)
        column.addWidget(self._search)
        column.addWidget(self._new)
        column.addWidget(self._list, 1)
        column.addWidget(self._undo_bar)

    def _connect(self) -> None:
        self._search.textChanged.connect(self._on_search_changed)
        self._new.clicked.connect(self._actions.new_chat.trigger)
        self._list.clicked.connect(self._on_chat_chosen)
        self._list.activated.connect(self._on_chat_chosen)
        self._list.customContextMenuRequested.connect(self._on_menu_requested)
        self._model.renamed.connect(self._session.rename_chat)
        self._undo_bar.undo_requested.connect(self._on_undo_requested)
        self._shortcut(QKeySequence(QKeySequence.StandardKey.Delete)).activated.connect(self._on_delete_pressed)
        self._shortcut(QKeySequence(QKeySequence.StandardKey.Undo)).activated.connect(self._undo_bar.undo)
        self._session.chats_changed.connect(self._on_chats_changed)
        self._session.chat_opened.connect(self._on_chat_opened)
        self._session.turn_started.connect(self._on_turn_started)
        self._session.turn_ended.connect(self._on_turn_ended)

    def _shortcut(self, keys: QKeySequence) -> QShortcut:
        return QShortcut(keys, self._list, context=Qt.ShortcutContext.WidgetShortcut)

    def _on_search_changed(self, query: str) -> None:
        self._model.set_query(query)
        self._select_open_chat()

    def _on_chat_chosen(self, index: QModelIndex) -> None:
        chat_id = index.data(ChatRole.CHAT_ID)
        if chat_id is not None and chat_id != self._open:
            self._session.open_chat(chat_id)

    def _on_menu_requested(self, place: QPoint) -> None:
        index = self._list.indexAt(place)
        if index.data(ChatRole.CHAT_ID) is None:
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        rename = menu.addAction(icon(Icon.RENAME), "Rename\tF2")
        rename.triggered.connect(lambda: self._list.edit(index))
        delete = menu.addAction(icon(Icon.DELETE), "Delete\tDel")
        delete.triggered.connect(lambda: self._delete(index))
        menu.popup(self._list.viewport().mapToGlobal(place))

    def _on_delete_pressed(self) -> None:
        self._delete(self._list.currentIndex())

    def _delete(self, index: QModelIndex) -> None:
        chat_id = index.data(ChatRole.CHAT_ID)
        if chat_id is None:
            return
        title = index.data()
        self._deleted = chat_id
        self._session.delete_chat(chat_id)
        self._undo_bar.offer(f"Deleted “{title}”")

    def _on_undo_requested(self) -> None:
        if self._deleted is not None:
            self._session.undo_delete(self._deleted)
            self._deleted = None

    def _on_chats_changed(self, chats: list[ChatSummary]) -> None:
        self._model.set_chats(chats)
        self._select_open_chat()

    def _on_chat_opened(self, view: ChatView) -> None:
        self._open = view.chat_id
        self._select_open_chat()

    def _on_turn_started(self, turn: Turn) -> None:
        self._open = self._session.chat_id
        self._model.set_answering(turn.chat_id)
        self._select_open_chat()

    def _on_turn_ended(self, turn: Turn) -> None:
        self._model.set_answering(None)

    def _select_open_chat(self) -> None:
        self._list.setCurrentIndex(self._model.index_of(self._open))
