"""The automatic number of threads, on machines made of files."""

from __future__ import annotations

import os
from pathlib import Path

import psutil
import pytest

from desktop_app.engine.threads import automatic_threads, cpu_quota


class Machine:
    """A Linux machine's files below `root`, and what the system calls would tell."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        self._monkeypatch = monkeypatch

    def cpus(self, siblings: list[str], *, allowed: set[int] | None = None) -> None:
        """One list of siblings a logical CPU, as the kernel writes them."""
        for number, text in enumerate(siblings):
            self.write(f"sys/devices/system/cpu/cpu{number}/topology/thread_siblings_list", text)
        affinity = set(range(len(siblings))) if allowed is None else allowed
        self._monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: affinity)
        cores = len(set(siblings))
        self._monkeypatch.setattr(psutil, "cpu_count", lambda logical=True: len(siblings) if logical else cores)

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text + "\n")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


HYPERTHREADED = ["0,4", "1,5", "2,6", "3,7", "0,4", "1,5", "2,6", "3,7"]


def test_one_a_physical_core(machine: Machine) -> None:
    machine.cpus(HYPERTHREADED)
    assert automatic_threads(machine.root) == 4


@pytest.mark.parametrize(("allowed", "threads"), [({0, 4}, 1), ({0, 1}, 2), ({1, 2, 5}, 2), ({7}, 1)])
def test_affinity_counts_the_cores_behind_the_cpus_it_leaves(machine: Machine, allowed: set[int], threads: int) -> None:
    machine.cpus(HYPERTHREADED, allowed=allowed)
    assert automatic_threads(machine.root) == threads


@pytest.mark.parametrize(
    ("limit", "threads"), [("max 100000", 4), ("200000 100000", 2), ("250000 100000", 2), ("50000 100000", 1)]
)
def test_a_quota_of_version_2(machine: Machine, limit: str, threads: int) -> None:
    machine.cpus(HYPERTHREADED)
    machine.write("proc/self/cgroup", "0::/user.slice/app")
    machine.write("sys/fs/cgroup/user.slice/app/cpu.max", limit)
    assert automatic_threads(machine.root) == threads


def test_a_quota_of_version_1(machine: Machine) -> None:
    machine.cpus(HYPERTHREADED)
    machine.write("proc/self/cgroup", "3:cpuset:/\n2:cpuacct,cpu:/box\n1:memory:/box")
    machine.write("sys/fs/cgroup/cpu/box/cpu.cfs_quota_us", "-1")
    machine.write("sys/fs/cgroup/cpu/box/cpu.cfs_period_us", "100000")
    assert cpu_quota(machine.root) is None
    machine.write("sys/fs/cgroup/cpu/box/cpu.cfs_quota_us", "300000")
    assert automatic_threads(machine.root) == 3


def test_the_tightest_quota_around_counts(machine: Machine) -> None:
    machine.write("proc/self/cgroup", "0::/outer/inner")
    machine.write("sys/fs/cgroup/outer/inner/cpu.max", "400000 100000")
    machine.write("sys/fs/cgroup/outer/cpu.max", "150000 100000")
    assert cpu_quota(machine.root) == 1.5


def test_fast_cores_alone_where_cores_differ(machine: Machine) -> None:
    machine.cpus(["0-1", "0-1", "2-3", "2-3", "4", "5", "6", "7"])
    machine.write("sys/devices/cpu_core/cpus", "0-3")
    assert automatic_threads(machine.root) == 2


def test_only_slow_cores_are_better_than_none(machine: Machine) -> None:
    machine.cpus(["0-1", "0-1", "2", "3"], allowed={2, 3})
    machine.write("sys/devices/cpu_core/cpus", "0-1")
    assert automatic_threads(machine.root) == 2


def test_without_any_file_the_counts_stand(machine: Machine) -> None:
    machine.cpus([], allowed={0, 1, 2, 3})
    assert automatic_threads(machine.root / "nowhere") == 4


def test_this_machine_has_some() -> None:
    assert 1 <= automatic_threads() <= (psutil.cpu_count() or 1)
