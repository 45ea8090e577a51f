"""Chats on disk, in SQLite. It must not know the engine, the library or Qt."""

from desktop_app.store.chats import NEW_CHAT_TITLE, ChatStore
from desktop_app.store.records import ChatSummary, MessageState, Outcome, StoredMessage, TurnIds

__all__ = ["NEW_CHAT_TITLE", "ChatStore", "ChatSummary", "MessageState", "Outcome", "StoredMessage", "TurnIds"]
