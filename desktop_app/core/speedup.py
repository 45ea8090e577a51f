"""The cost model of speculative decoding: what a given γ should bring."""

from __future__ import annotations

from dataclasses import dataclass

from desktop_app.core.facts import Costs

WORTHWHILE = 1.05
"""The speedup below which speculation is not worth its switch."""


def expected_tokens(alpha: float, gamma: int) -> float:
    """E(γ) = (1 − α^(γ+1)) / (1 − α): tokens a round emits on average (Leviathan et al. 2022, equation 1)."""
    if not 0 <= alpha <= 1:
        raise ValueError(f"alpha must lie in 0 … 1, got {alpha}")
    return float(sum(alpha**i for i in range(gamma + 1)))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of the drafting rounds with one γ."""

    gamma: int
    rounds: int = 0
    accepted: int = 0
    rejected: int = 0

    def plus(self, accepted: int, rejected: int) -> Outcome:
        """With one round more."""
        return Outcome(self.gamma, self.rounds + 1, self.accepted + accepted, self.rejected + rejected)

    @property
    def expected_tokens(self) -> float:
        """What these rounds should emit by the cost model: E(γ) of each, at the α that was measured in them."""
        judged = self.accepted + self.rejected
        # Rounds in which no drafted token was judged have no α and need none.
        return self.rounds * expected_tokens(self.accepted / judged if judged else 0.0, self.gamma)


def predicted_speedup(
    *, alpha: float, gamma: int, plain_s: float, draft_step_s: float, verify_s: float, overhead_s: float = 0.0
) -> float:
    """E(γ)·C(1) / (γ·t_draft + C(γ+1) + overhead): speed relative to plain decoding, all costs in seconds.

    Leviathan et al. 2022, theorem 3.8, with the cost of the verifying pass measured instead of taken as one plain pass.
    """
    round_s = gamma * draft_step_s + verify_s + overhead_s
    return expected_tokens(alpha, gamma) * plain_s / round_s


def best_possible_speedup(costs: Costs, draft_step_s: float) -> float | None:
    """max over γ of (γ+1)·C(1) / (γ·t_draft + C(γ+1)): the speedup if every drafted token were accepted.

    Over the γ whose pass was measured; None where there is none. `draft_step_s` is 0 for prompt lookup.
    """
    speedups = (
        predicted_speedup(
            alpha=1.0, gamma=size - 1, plain_s=costs.plain_s, draft_step_s=draft_step_s, verify_s=verify_s
        )
        for size, verify_s in costs.passes[1:]
    )
    return max(speedups, default=None)
