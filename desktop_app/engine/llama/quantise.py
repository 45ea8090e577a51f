"""Writes a model file again with other weights: a cheap draft from a target, or F16 from a 4-bit file."""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Callable
from pathlib import Path

import llama_cpp.llama_cpp as api

from desktop_app.core.errors import Blame, DraftglassError, Problem
from desktop_app.engine.llama import backend

FTYPES = {"F16": 1, "Q4_0": 2, "Q4_1": 3, "Q8_0": 7, "Q2_K": 10, "Q4_K_M": 15, "Q5_K_M": 17, "Q6_K": 18}
"""Names of `llama_ftype` values that make sense for a draft or a target."""

_PROGRESS = re.compile(r"\[\s*(\d+)/\s*(\d+)\]")


def requantise(source: Path, destination: Path, ftype: str, on_progress: Callable[[float], None]) -> None:
    """Write `source` as `ftype` (a key of FTYPES) to `destination`, which appears only when it is whole.

    `on_progress` hears the fraction of tensors done. Raises DraftglassError where llama.cpp refuses.
    """
    backend.start()
    backend.take_errors()
    partial = destination.with_name(destination.name + ".part")
    params = api.llama_model_quantize_default_params()
    params.ftype = FTYPES[ftype]
    params.allow_requantize = True
    with backend.listening(lambda line: _report(line, on_progress)):
        code = api.llama_model_quantize(os.fsencode(source), os.fsencode(partial), ctypes.byref(params))
    if code != 0:
        partial.unlink(missing_ok=True)
        raise DraftglassError(
            Problem(
                f"{source.name} can't be written as {ftype}: {backend.take_errors() or 'llama.cpp gave no reason'}.",
                "Check the free space on the disk and that the file is a complete model.",
                Blame.ENVIRONMENT,
            )
        )
    partial.replace(destination)


def _report(line: str, on_progress: Callable[[float], None]) -> None:
    """llama.cpp has no callback for this; it logs `[ 12/ 272] name …` per tensor."""
    match = _PROGRESS.search(line)
    if match:
        on_progress(int(match[1]) / int(match[2]))
