"""Bytes in words, the same everywhere in the window. Pure."""

from __future__ import annotations

_MB = 1_000_000
_GB = 1_000_000_000

UNKNOWN = "–"


def size_words(size_bytes: int | None) -> str:
    """As file managers count: 1 MB is a million bytes."""
    if size_bytes is None:
        return UNKNOWN
    if size_bytes < _GB:
        return f"{size_bytes / _MB:.0f} MB"
    return f"{size_bytes / _GB:.1f} GB"
