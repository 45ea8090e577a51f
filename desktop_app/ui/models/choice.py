"""A model file as the pickers list it. A value; who makes it knows files and verdicts."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Choice:
    """One line of a picker's menu."""

    path: str
    name: str
    note: str = ""
    """Size for a target, the verdict and its reason for a draft."""
    usable: bool = True
    """False greys the line out; `note` then says why."""
