"""Who has the engine to itself. Chat and comparison would spoil each other's figures, so one waits for the other."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from desktop_app.core.errors import Blame, Problem


class Party(StrEnum):
    CHAT = "chat"
    COMPARISON = "comparison"


_TAKEN = {
    Party.CHAT: Problem("An answer is being written in a chat.", "Wait for its end, or stop it.", Blame.USER),
    Party.COMPARISON: Problem("A comparison is running.", "Wait for its end, or stop it.", Blame.USER),
}


class EngineUse:
    """Each party tells how to ask whether it uses the engine now, and asks for the others before it begins."""

    def __init__(self) -> None:
        self._parties: dict[Party, Callable[[], bool]] = {}

    def join(self, party: Party, uses: Callable[[], bool]) -> None:
        self._parties[party] = uses

    def obstacle(self, party: Party) -> Problem | None:
        """Why this party can't begin now: another one is at work."""
        taken = (other for other, uses in self._parties.items() if other is not party and uses())
        return next((_TAKEN[other] for other in taken), None)
