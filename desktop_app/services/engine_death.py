"""Why an engine process is gone, in words for the user. Pure; no Qt."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterable

from desktop_app.core.errors import Blame, Fault, Problem

KEPT = "The text so far is kept; the next message starts the engine again."

_MEMORY = re.compile(
    r"out of memory|out of device memory|OutOfDeviceMemory|cudaMalloc|bad_alloc|MemoryError|mem_buffer != NULL|"
    r"(?:failed|unable|cannot) to allocate",
    re.IGNORECASE,
)
_CAUSE = re.compile(
    rf"GGML_ASSERT|GGML_ABORT|ggml_abort|(?:CUDA|Vulkan|Metal|ROCm) error|Fatal Python error|^\w*(?:Error|Exception): |"
    rf"terminate called|{_MEMORY.pattern}",
    re.IGNORECASE,
)
_MAX_CAUSE = 200
"""Characters of a log line that fit on the screen."""


def find_cause(lines: Iterable[str]) -> str | None:
    """The last line that looks like the cause of a death."""
    found = [line.strip() for line in lines if _CAUSE.search(line)]
    return found[-1][:_MAX_CAUSE] if found else None


def explain_exit(code: int, *, crashed: bool, log: Iterable[str]) -> Problem:
    """The problem of a process that ended without being asked; `crashed` makes `code` a signal's number (POSIX)."""
    cause = find_cause(log)
    how = _signal_name(code) if crashed else f"exit code {code}"
    killed = how == "signal SIGKILL"
    memory = killed or (cause is not None and _MEMORY.search(cause) is not None)
    what = cause or ("the system killed it, probably for want of memory" if killed else "no cause given")
    return stopped(
        f"it ran out of memory, {what} ({how})" if memory and cause else f"{what} ({how})",
        hint=f"Set a smaller context in the model settings, or choose a smaller model. {KEPT}" if memory else KEPT,
        fault=Fault.OUT_OF_MEMORY if memory else Fault.ENGINE_DIED,
    )


def stopped(reason: str, *, hint: str = KEPT, fault: Fault = Fault.ENGINE_DIED) -> Problem:
    """The one form in which every death is told."""
    return Problem(f"Engine stopped: {reason}", hint, Blame.ENVIRONMENT, fault)


def _signal_name(code: int) -> str:
    try:
        return f"signal {signal.Signals(code).name}"
    except ValueError:
        return f"crash code {code:#x}"
