"""Pacing: how many tokens to draft, round by round, and whether to draft at all. Arithmetic only, without a clock."""

from __future__ import annotations

from desktop_app.core.pacing.auto import AutoPacer, Experience
from desktop_app.core.pacing.pacer import FixedPacer, Pace, Pacer
from desktop_app.core.settings import AnswerSettings

__all__ = ["AutoPacer", "Experience", "FixedPacer", "Pace", "Pacer", "pacer_for"]


def pacer_for(settings: AnswerSettings, experience: Experience, *, has_model: bool) -> Pacer:
    """The pacer of an answer under these settings."""
    gamma = settings.speculation.gamma
    if gamma is not None:
        return FixedPacer(gamma, has_model=has_model)
    return AutoPacer(experience, has_model=has_model, answer_tokens=settings.max_tokens)
