"""Decks: the prompts that a benchmark runs. Reads the file; knows nothing of models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from pathlib import Path

import msgspec

from desktop_app.core.errors import Blame, DraftglassError, Problem
from desktop_app.library import paths
from desktop_app.protocol.messages import ChatMessage, Role

BUILTIN = "builtin"
"""The name of the deck that comes with Draftglass."""


class Prompt(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One conversation to be answered. `id` is unique in its deck."""

    id: str
    category: str
    messages: tuple[ChatMessage, ...]


class Deck(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file `{"prompts": [{"id", "category", "messages": [{"role", "content"}]}]}`."""

    prompts: tuple[Prompt, ...]

    @property
    def categories(self) -> tuple[str, ...]:
        """In the order of the deck."""
        return tuple(dict.fromkeys(prompt.category for prompt in self.prompts))

    def only(self, categories: Collection[str]) -> Deck:
        """The prompts of these categories. Raises DraftglassError for a category that the deck does not have."""
        unknown = [name for name in categories if name not in self.categories]
        if unknown:
            raise _bad(f"The deck has no category {unknown[0]!r}.", f"It has {', '.join(self.categories)}.")
        return Deck(tuple(prompt for prompt in self.prompts if prompt.category in categories))


def load_deck(name: str) -> Deck:
    """The built-in deck, or the one in a file. Raises DraftglassError where it can't be read or says nothing to run."""
    path = paths.resource("decks/builtin.json") if name == BUILTIN else Path(name)
    try:
        deck = msgspec.json.decode(path.read_bytes(), type=Deck)
    except OSError as error:
        raise _bad(f"The deck {path} can't be read: {error.strerror}.", "Check the path.") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _bad(f"The deck {path} is malformed: {error}.", _FORMAT) from error
    fault = _fault(deck)
    if fault:
        raise _bad(f"The deck {path} is malformed: {fault}.", _FORMAT)
    return deck


_FORMAT = 'A deck looks like {"prompts": [{"id": …, "category": …, "messages": [{"role": "user", "content": …}]}]}.'


def _fault(deck: Deck) -> str | None:
    """What the types can't say."""
    if not deck.prompts:
        return "it has no prompts"
    id_, count = Counter(prompt.id for prompt in deck.prompts).most_common(1)[0]
    if count > 1:
        return f"the id {id_!r} occurs {count} times"
    for at, prompt in enumerate(deck.prompts):
        if not prompt.id or not prompt.category:
            return f"prompt {at} has an empty id or category"
        if not any(message.role is Role.USER and message.content.strip() for message in prompt.messages):
            return f"prompt {prompt.id!r} has no message of the user"
    return None


def _bad(message: str, hint: str) -> DraftglassError:
    return DraftglassError(Problem(message, hint, Blame.USER))
