"""What Draftglass needs from the system's package manager, on Debian and its like. Standard library only.

Elsewhere nothing is known about system packages, so nothing is asked for.
"""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable

QT = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libglib-2.0.so.0": "libglib2.0-0",
}
"""Shared libraries that Qt loads, by the packages that hold them."""

DISPLAY = {
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
}
"""What Qt needs beyond that for a window on an X display."""

LLAMA = {"libgomp.so.1": "libgomp1"}


class PackagesMissingError(Exception):
    """System packages are missing and only the user can install them; the text says how."""


def ensure_venv() -> None:
    """See that this Python can make virtual environments. Raises PackagesMissingError."""
    if importlib.util.find_spec("ensurepip") is not None:
        return
    if not _apt():
        raise PackagesMissingError("This Python can't make virtual environments: it lacks the module ensurepip.")
    _install([f"python3.{sys.version_info.minor}-venv"])


def ensure_libraries(*tables: dict[str, str]) -> None:
    """Install the packages whose shared libraries the system can't find. Raises PackagesMissingError."""
    wanted = {soname: package for table in tables for soname, package in table.items()}
    if _apt():
        _install(missing_packages(wanted, _known_sonames()))


def ensure_compiler() -> None:
    """See that C++ can be compiled. Raises PackagesMissingError."""
    if _apt() and not (shutil.which("c++") and shutil.which("cc")):
        _install(["g++"])


def missing_packages(wanted: dict[str, str], present: Iterable[str]) -> list[str]:
    """The packages of `wanted` (soname to package) whose sonames are not among `present`."""
    present = set(present)
    return sorted(package for soname, package in wanted.items() if soname not in present)


def _install(packages: list[str]) -> None:
    if not packages:
        return
    command = ["apt-get", "install", "--yes", "--no-install-recommends", *packages]
    prefix = _privilege()
    if prefix is None:
        raise PackagesMissingError(
            f"These system packages are missing. Install them with:\n  sudo {shlex.join(command)}"
        )
    print(f"Installing system packages: {' '.join(packages)}", flush=True)
    prefix = [*prefix, "env", "DEBIAN_FRONTEND=noninteractive"]
    subprocess.run([*prefix, "apt-get", "update", "--quiet"], check=False)
    if subprocess.run([*prefix, *command], check=False).returncode != 0:
        raise PackagesMissingError(f"apt-get failed. Once it works again, run:\n  sudo {shlex.join(command)}")


def _privilege() -> list[str] | None:
    """The words before a command that needs root, or None where there is no way to become root."""
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo") is None:
        return None
    can_ask = sys.stdin.isatty()
    free = subprocess.run(["sudo", "-n", "true"], check=False, stderr=subprocess.DEVNULL).returncode == 0
    return ["sudo"] if can_ask or free else None


def _apt() -> bool:
    return sys.platform == "linux" and shutil.which("apt-get") is not None


def _known_sonames() -> list[str]:
    # ldconfig stands in sbin, which is not on every user's path.
    ldconfig = shutil.which("ldconfig", path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin")
    if ldconfig is None:
        return []
    listing = subprocess.run([ldconfig, "-p"], check=True, capture_output=True, text=True).stdout
    return [line.split()[0] for line in listing.splitlines()[1:] if line.strip()]
