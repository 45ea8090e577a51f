"""The cost model of speculative decoding: what a given γ should bring."""

from __future__ import annotations


def expected_tokens(alpha: float, gamma: int) -> float:
    """E(γ) = (1 − α^(γ+1)) / (1 − α): tokens a round emits on average (Leviathan et al. 2022, equation 1)."""
    if not 0 <= alpha <= 1:
        raise ValueError(f"alpha must lie in 0 … 1, got {alpha}")
    return float(sum(alpha**i for i in range(gamma + 1)))


def predicted_speedup(
    *, alpha: float, gamma: int, plain_s: float, draft_step_s: float, verify_s: float, overhead_s: float = 0.0
) -> float:
    """E(γ)·C(1) / (γ·t_draft + C(γ+1) + overhead): speed relative to plain decoding, all costs in seconds.

    Leviathan et al. 2022, theorem 3.8, with the cost of the verifying pass measured instead of taken as one plain pass.
    """
    round_s = gamma * draft_step_s + verify_s + overhead_s
    return expected_tokens(alpha, gamma) * plain_s / round_s
