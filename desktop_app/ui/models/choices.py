"""From what lies on the shelf to the lines of the pickers. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from desktop_app.services.model_shelf import ShelfItem
from desktop_app.ui.models.choice import Choice

_MB = 1_000_000
_GB = 1_000_000_000


def target_choices(items: Iterable[ShelfItem]) -> tuple[Choice, ...]:
    return tuple(_broken(item) or Choice(item.path, item.label, _size(item)) for item in items)


def draft_choices(items: Iterable[ShelfItem], target: str | None) -> tuple[Choice, ...]:
    """Every model with its verdict, those that fit first, smaller ones before larger ones."""
    choices = [(_broken(item) or _judged(item, target), item.size_bytes or 0) for item in items]
    choices.sort(key=lambda pair: (not pair[0].usable, pair[1]))
    return tuple(choice for choice, _ in choices)


def _broken(item: ShelfItem) -> Choice | None:
    if item.problem is None:
        return None
    return Choice(item.path, item.label, item.problem.message, usable=False)


def _judged(item: ShelfItem, target: str | None) -> Choice:
    verdict = item.verdict
    if verdict is None:
        return Choice(item.path, item.label, _size(item))
    if not verdict.ok:
        return Choice(item.path, item.label, f"does not fit: {verdict.reason}", usable=False)
    if item.path == target:
        return Choice(item.path, item.label, f"the target itself, {_size(item)}")
    return Choice(item.path, item.label, f"fits, {_size(item)}")


def _size(item: ShelfItem) -> str:
    if item.size_bytes is None:
        return "–"
    if item.size_bytes < _GB:
        return f"{item.size_bytes / _MB:.0f} MB"
    return f"{item.size_bytes / _GB:.1f} GB"
