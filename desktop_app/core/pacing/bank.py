"""The time bank: no answer may take more than a few per cent longer than it would have taken plainly."""

from __future__ import annotations

ALLOWANCE = 0.025
"""Share of the plain time that may be lost, of the 3 % promised; the rest is for errors in the plain cost."""

_ADVANCE_TOKENS = 100
"""The allowance of that many tokens may be spent at once, before they are written. It is the one way in which a
shorter answer can lose more than its share: at most `ALLOWANCE · _ADVANCE_TOKENS` plain steps."""

_STAKE = 0.5
"""Share of the balance that one round may risk, so that a single failure does not end all trying."""

_CAP_TOKENS = 24
"""Plain steps that can be saved up at most, so that a good stretch can't pay for a long bad one."""


class TimeBank:
    """Seconds that may be lost to rounds that turn out useless.

    After every round B += (1 + allowance) · emitted · p̂ − wall, with p̂ the plain cost of a token at that depth; the
    allowance of the first tokens was given in advance.
    """

    def __init__(self, plain_s: float, *, answer_tokens: int) -> None:
        """`plain_s` is p̂ at the start, `answer_tokens` the most that the answer can have."""
        self._advanced = min(_ADVANCE_TOKENS, answer_tokens)
        self._balance_s = ALLOWANCE * self._advanced * plain_s

    @property
    def balance_s(self) -> float:
        return self._balance_s

    def covers(self, loss_s: float) -> bool:
        """Whether that much may be lost now."""
        return loss_s <= _STAKE * self._balance_s

    def settle(self, emitted: int, *, plain_s: float, wall_s: float) -> None:
        """A round emitted that many tokens in that time; plainly each would have taken `plain_s`."""
        earning = max(0, emitted - self._advanced)
        self._advanced = max(0, self._advanced - emitted)
        self._balance_s += (emitted + ALLOWANCE * earning) * plain_s - wall_s
        self._balance_s = min(self._balance_s, _CAP_TOKENS * plain_s)
