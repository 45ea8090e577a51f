"""The seam behind which every drafter stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from desktop_app.core.acceptance import AcceptanceRule, Drafted


class Drafter(Protocol):
    """Proposes tokens and learns what became of them.

    A drafter that reads the target's hidden states takes the target's context in its constructor; everything else it
    needs arrives here: the committed tokens, each batch the target decoded, and how many of its tokens were kept.
    """

    @property
    def free(self) -> bool:
        """Whether proposals cost next to nothing, as prompt lookup's do."""

    @property
    def busy_s(self) -> float:
        """Seconds spent so far on drafting itself: inside the draft's `llama_decode`, or searching."""

    @property
    def sample_s(self) -> float:
        """Seconds spent so far on turning the draft's logits into tokens."""

    def prefill(self, tokens: Sequence[int]) -> Iterator[int]:
        """Get ready for a prompt; yield the count of tokens done, as it grows. Raises Aborted.

        The first count is what was there already; a drafter that reads nothing yields none.
        """

    def lag(self, committed: Sequence[int]) -> int:
        """How many tokens of `committed` it has yet to read before it can propose."""

    def draft(self, committed: Sequence[int], limit: int, rule: AcceptanceRule) -> Iterator[Drafted]:
        """Propose up to `limit` tokens to follow `committed`, one by one.

        The caller stops taking when it wants no more; nothing is computed ahead. Raises Aborted.
        """

    def observe(self, batch: Sequence[int], accepted: int) -> None:
        """It proposed, and the target decoded `batch`: the last committed token, then those of the proposed ones that
        were worth verifying, `accepted` of them kept."""
