"""Memory that could not be had: telling it from llama.cpp's complaints, and in words for the user."""

from __future__ import annotations

import re

from desktop_app.core.errors import Blame, Fault, Problem

_LACK = re.compile(r"allocat|out of memory|insufficient memory|cannot allocate|bad_alloc", re.IGNORECASE)
_ASKED_MB = re.compile(r"allocat(?:e|ing) +([\d.]+) Mi?B")


def lacks_memory(cause: str) -> bool:
    """Whether this is about memory; `cause` is what llama.cpp complained about."""
    return _LACK.search(cause) is not None


def out_of_memory(what_for: str, cause: str, remedies: str) -> Problem:
    """The problem that memory for `what_for` was not to be had; `remedies` is a sentence."""
    asked = _ASKED_MB.search(cause)
    amount = f": {float(asked[1]):,.0f} MB at once were not to be had" if asked else ""
    return Problem(
        f"There is not enough memory for {what_for}{amount}.", remedies, Blame.ENVIRONMENT, Fault.OUT_OF_MEMORY
    )
