"""Drafts by looking the last few tokens up in what was already said."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import takewhile

from desktop_app.core.acceptance import AcceptanceRule, Drafted

_LONGEST_MATCH = 32
"""Tokens compared to tell how long a match is; a longer one says nothing more."""


class LookupDrafter:
    """Prompt lookup (Saxena 2023): find the longest n-gram at the end earlier in the text, propose what followed it.

    An index from n-gram to its latest place makes a search cost max_n look-ups, however long the text.
    """

    free = True

    def __init__(self, *, min_n: int, max_n: int) -> None:
        """n-grams of min_n … max_n tokens are tried, longest first; 1 ≤ min_n ≤ max_n."""
        if not 1 <= min_n <= max_n:
            raise ValueError(f"lookup needs 1 <= min_n <= max_n, got {min_n} and {max_n}")
        self._sizes = range(max_n, min_n - 1, -1)
        self._follower: dict[tuple[int, ...], int] = {}
        self._indexed = 0
        self.busy_s = 0.0
        self.sample_s = 0.0

    def prefill(self, tokens: Sequence[int]) -> Iterator[int]:
        self._follower.clear()
        self._indexed = 0
        return iter(())

    def lag(self, committed: Sequence[int]) -> int:
        return 0

    def draft(self, committed: Sequence[int], limit: int, rule: AcceptanceRule) -> Iterator[Drafted]:
        began = time.perf_counter()
        self._index(committed)
        at = self._match(committed)
        found = [] if at is None else committed[at : at + limit]
        match = 0 if at is None else _match_length(committed, at)
        self.busy_s += time.perf_counter() - began
        for place, token in enumerate(found):
            yield Drafted.copied(token, match + place)

    def observe(self, batch: Sequence[int], accepted: int) -> None:
        """Only committed tokens are searched, so there is nothing to undo."""

    def _index(self, tokens: Sequence[int]) -> None:
        """Note for every n-gram that has a follower where that follower stands; later places replace earlier ones."""
        for end in range(self._indexed, len(tokens)):
            for size in self._sizes:
                if size <= end:
                    self._follower[tuple(tokens[end - size : end])] = end
        self._indexed = len(tokens)

    def _match(self, tokens: Sequence[int]) -> int | None:
        for size in self._sizes:
            at = self._follower.get(tuple(tokens[len(tokens) - size :]))
            if at is not None:
                return at
        return None


def _match_length(tokens: Sequence[int], at: int) -> int:
    """How many tokens before place `at` equal those at the end, up to _LONGEST_MATCH."""
    pairs = zip(reversed(tokens[max(0, at - _LONGEST_MATCH) : at]), reversed(tokens[-_LONGEST_MATCH:]), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
