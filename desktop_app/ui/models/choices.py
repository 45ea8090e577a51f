"""From what lies on the shelf to the lines of the pickers. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from desktop_app.services.model_shelf import ShelfItem
from desktop_app.ui.models.choice import Choice
from desktop_app.ui.sizes import size_words


def target_choices(items: Iterable[ShelfItem]) -> tuple[Choice, ...]:
    return tuple(_broken(item) or Choice(item.path, item.label, size_words(item.size_bytes)) for item in items)


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
        return Choice(item.path, item.label, size_words(item.size_bytes))
    if not verdict.ok:
        return Choice(item.path, item.label, f"does not fit: {verdict.reason}", usable=False)
    if item.path == target:
        return Choice(item.path, item.label, f"the target itself, {size_words(item.size_bytes)}")
    return Choice(item.path, item.label, f"fits, {size_words(item.size_bytes)}")
