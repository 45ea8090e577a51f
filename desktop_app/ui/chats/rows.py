"""The chat list as rows: headings by day, chats below them. Pure; no Qt."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from desktop_app.store.records import ChatSummary


@dataclass(frozen=True, slots=True)
class Heading:
    """Stands above the chats of one period."""

    text: str


Row = Heading | ChatSummary


def rows_of(chats: Iterable[ChatSummary], query: str, today: date) -> list[Row]:
    """Rows for chats given the latest first, filtered by every word of the query standing in the title."""
    words = query.casefold().split()
    rows: list[Row] = []
    heading: str | None = None
    for chat in chats:
        title = chat.title.casefold()
        if not all(word in title for word in words):
            continue
        period = _period(chat.updated_ms, today)
        if period != heading:
            heading = period
            rows.append(Heading(period))
        rows.append(chat)
    return rows


def key_of(row: Row) -> str | int:
    """What makes two rows the same row: a chat's id, a heading's text."""
    return row.text if isinstance(row, Heading) else row.id


def _period(updated_ms: int, today: date) -> str:
    day = datetime.fromtimestamp(updated_ms / 1000, UTC).astimezone().date()
    if day >= today:
        return "Today"
    return "Yesterday" if day == today - timedelta(days=1) else "Earlier"
