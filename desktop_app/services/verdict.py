"""The verdict on a pair from its files' headers, as a problem for the user. Reads files, so not for the GUI thread."""

from __future__ import annotations

from pathlib import Path

from desktop_app.core.errors import Blame, DraftglassError, Fault, Problem
from desktop_app.library.pairing import header_verdict


def header_problem(target: Path, draft: Path) -> Problem | None:
    """Why this draft can't serve this target; None where the headers allow it or leave it open.

    A file that can't be read is left to the engine, which names it when it loads.
    """
    try:
        verdict = header_verdict(target, draft)
    except DraftglassError:
        return None
    if verdict.ok:
        return None
    reason = verdict.reason[:1].upper() + verdict.reason[1:]
    hint = f"{verdict.detail} Choose a draft of the same model family.".strip()
    return Problem(f"{reason}.", hint, Blame.USER, Fault.VOCABULARY)
