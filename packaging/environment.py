"""The project's own virtual environment, `.venv`: made, filled and kept in step with pyproject.toml.

Standard library only. Owns the `.venv` folder and nothing outside it.
"""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
import sys
import tomllib
import venv
from dataclasses import dataclass
from pathlib import Path

import system_packages

LLAMA_WHEELS = "https://abetlen.github.io/llama-cpp-python/whl"
"""Prebuilt wheels of llama-cpp-python, served by its author: one index for each kind of hardware."""

FLAVOUR_VARIABLE = "DRAFTGLASS_LLAMA"
"""Environment variable that picks the index: cpu, metal, vulkan, cu124, ...; `source` always compiles."""


class InstallFailedError(Exception):
    """A step of the installation failed; the text says which."""


@dataclass(frozen=True, slots=True)
class Environment:
    """`.venv` below `root`; `flavour` is the kind of llama.cpp to install."""

    root: Path
    flavour: str

    @property
    def folder(self) -> Path:
        return self.root / ".venv"

    @property
    def python(self) -> Path:
        return self.folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

    def ensure(self, *, dev: bool) -> None:
        """Install what pyproject.toml names, with the group `dev` if asked; does nothing when all is in place.

        Raises InstallFailedError, and PackagesMissingError of `system_packages`.
        """
        key = install_key(self.root / "pyproject.toml", self.flavour)
        stamp = self.folder / "draftglass-installed"
        installed = _read(stamp).split()
        if installed[:1] == [key] and (not dev or "dev" in installed):
            return
        stamp.unlink(missing_ok=True)
        self._ensure_folder()
        self._ensure_llama()
        print("Installing Draftglass and its dependencies", flush=True)
        if not self._pip("install", "--editable", f"{self.root}[dev]" if dev else str(self.root)):
            raise InstallFailedError("Installing the dependencies failed; pip's message stands above.")
        stamp.write_text(f"{key} dev" if dev else key, encoding="utf-8")

    def _ensure_folder(self) -> None:
        if self.python.exists() and self._runs("import pip"):
            return
        system_packages.ensure_venv()
        print(f"Making {self.folder}", flush=True)
        venv.create(self.folder, clear=True, with_pip=True)

    def _ensure_llama(self) -> None:
        """llama-cpp-python is published as source; a compiled wheel, where there is one, saves minutes."""
        requirement = llama_requirement(self.root / "pyproject.toml")
        stamp = self.folder / "draftglass-llama"
        wanted = f"{requirement} {self.flavour}"
        if _read(stamp) == wanted:
            return
        self._remove_llama()
        if not self._install_prebuilt_llama(requirement):
            system_packages.ensure_compiler()
            print("Building llama.cpp from source: about 6 minutes on two cores, unless pip kept a build", flush=True)
            # Who asks for a build of their own wants their CMAKE_ARGS in it, not an older result.
            fresh = ("--no-cache-dir",) if self.flavour == "source" else ()
            if not self._pip("install", *fresh, requirement):
                raise InstallFailedError("Building llama.cpp failed; the compiler's message stands above.")
        stamp.write_text(wanted, encoding="utf-8")

    def _install_prebuilt_llama(self, requirement: str) -> bool:
        if self.flavour == "source":
            return False
        index = f"{LLAMA_WHEELS}/{self.flavour}"
        print(f"Looking for a compiled llama.cpp ({self.flavour})", flush=True)
        patience = ("--retries", "0", "--timeout", "10")
        options = ("--quiet", "--only-binary", "llama-cpp-python", "--extra-index-url", index)
        if not self._pip("install", *patience, *options, requirement, silent=True):
            print("None for this machine", flush=True)
            return False
        # A wheel can install and still not load: another C library, an older processor.
        if self._runs("import llama_cpp; llama_cpp.llama_backend_init()"):
            return True
        print("It does not load on this machine", flush=True)
        self._remove_llama()
        return False

    def _remove_llama(self) -> None:
        """Without this pip takes another build of the same version for the one that is asked for."""
        self._pip("uninstall", "--yes", "--quiet", "llama-cpp-python", silent=True)

    def _pip(self, *arguments: str, silent: bool = False) -> bool:
        command = [str(self.python), "-m", "pip", "--disable-pip-version-check", *arguments]
        output = subprocess.DEVNULL if silent else None
        return subprocess.run(command, check=False, stdout=output, stderr=output).returncode == 0

    def _runs(self, code: str) -> bool:
        finished = subprocess.run(
            [self.python, "-c", code], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        return finished.returncode == 0


def default_flavour() -> str:
    """The kind of llama.cpp this machine should get, unless the user names one."""
    metal = sys.platform == "darwin" and platform.machine() == "arm64"
    return os.environ.get(FLAVOUR_VARIABLE) or ("metal" if metal else "cpu")


def install_key(pyproject: Path, flavour: str) -> str:
    """Changes whenever the environment has to be brought up to date."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return hashlib.sha256(pyproject.read_bytes() + f"\n{version} {flavour}".encode()).hexdigest()


def llama_requirement(pyproject: Path) -> str:
    """The pinned requirement of llama-cpp-python."""
    dependencies: list[str] = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]["dependencies"]
    return next(requirement for requirement in dependencies if requirement.startswith("llama-cpp-python"))


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""
