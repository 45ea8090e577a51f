"""How many threads are right on this machine: the physical cores that this process may use, and no more.

llama.cpp's arithmetic gains nothing from a core's second thread, and all threads wait for the slowest at every barrier:
one that has no core to itself, or a slow one, holds up the rest.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import psutil

_ROOT = Path("/")


def automatic_threads(root: Path = _ROOT) -> int:
    """Physical cores, honouring CPU affinity, cgroup quotas and, where cores differ, taking the fast ones.

    `root` is where Linux keeps its `proc` and `sys`; elsewhere neither is there and psutil's counts stand alone.
    """
    allowed = _allowed_cpus()
    fast = (allowed & _cpus(root / "sys/devices/cpu_core/cpus")) or allowed
    cores = min(_cores(root, fast), psutil.cpu_count(logical=False) or len(fast))
    quota = cpu_quota(root)
    return max(1, cores if quota is None else min(cores, int(quota)))


def cpu_quota(root: Path = _ROOT) -> float | None:
    """CPUs' worth of time that the control groups around this process grant it; None without a limit."""
    granted = [quota for folder in _groups(root) if (quota := _quota_of(folder)) is not None]
    return min(granted, default=None)


def _allowed_cpus() -> set[int]:
    """Numbers of the logical CPUs this process may run on; macOS knows no such limit."""
    if hasattr(os, "sched_getaffinity"):
        return set(os.sched_getaffinity(0))
    process = psutil.Process()
    if hasattr(process, "cpu_affinity"):
        return set(process.cpu_affinity() or ())
    return set(range(psutil.cpu_count() or 1))


def _cores(root: Path, cpus: Iterable[int]) -> int:
    """Different cores among these logical CPUs; each counts for itself where nothing tells."""
    topology = root / "sys/devices/system/cpu"
    return len({_read(topology / f"cpu{cpu}/topology/thread_siblings_list") or str(cpu) for cpu in cpus})


def _groups(root: Path) -> list[Path]:
    """The control groups this process is in, and those around them, that could limit its CPU time."""
    folders = []
    for line in _read(root / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "" or "cpu" in controllers.split(","):
            mount = root / "sys/fs/cgroup" / ("" if controllers == "" else "cpu")
            group = mount / path.lstrip("/")
            folders += [folder for folder in (group, *group.parents) if folder.is_relative_to(mount)]
    return folders


def _quota_of(group: Path) -> float | None:
    """Version 2 writes "quota period" or "max period" in µs into one file, version 1 a file each, -1 for no limit."""
    quota, _, period = _read(group / "cpu.max").partition(" ")
    if not period:
        quota, period = _read(group / "cpu.cfs_quota_us"), _read(group / "cpu.cfs_period_us")
    if not quota.isdigit() or not period.isdigit():
        return None
    return int(quota) / int(period)


def _cpus(file: Path) -> set[int]:
    """A list like "0-3,8"."""
    cpus: set[int] = set()
    for part in filter(None, _read(file).split(",")):
        first, _, last = part.partition("-")
        cpus.update(range(int(first), int(last or first) + 1))
    return cpus


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="ascii").strip()
    except OSError:
        return ""
