"""From a fresh clone to a running window (`run`) or to passing tests (`test`). Standard library only.

Arguments behind `run` go to Draftglass, those behind `test` to pytest.
"""

from __future__ import annotations

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - this script is what tells the user so
    sys.exit("Draftglass needs Python 3.11 or later; this is " + sys.version.split()[0])

import subprocess
from collections.abc import Sequence
from pathlib import Path

import system_packages
from environment import Environment, InstallFailedError, default_flavour

ROOT = Path(__file__).resolve().parent.parent

CHECKS = (("ruff", "check"), ("ruff", "format", "--check"), ("mypy",), ("lint-imports",))
"""Programs that judge the code before the tests do."""


class StepFailedError(Exception):
    """A step ended with an exit code other than 0."""

    def __init__(self, step: str, code: int) -> None:
        super().__init__(f"{step} failed with exit code {code}.")
        self.code = code


def main(argv: Sequence[str]) -> int:
    """Returns the exit code."""
    command, *arguments = argv or [""]
    commands = {"run": run, "test": test}
    if command not in commands:
        print(f"Usage: {Path(sys.argv[0]).name} run [arguments of Draftglass] | test [arguments of pytest]")
        return 2
    environment = Environment(ROOT, default_flavour())
    try:
        return commands[command](environment, arguments)
    except StepFailedError as failure:
        print(f"\n{failure}", file=sys.stderr)
        return failure.code
    except (InstallFailedError, system_packages.PackagesMissingError) as failure:
        print(f"\n{failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def run(environment: Environment, arguments: Sequence[str]) -> int:
    """Set everything up and open the window, with or without a model."""
    system_packages.ensure_libraries(system_packages.QT, system_packages.DISPLAY, system_packages.LLAMA)
    environment.ensure(dev=False)
    if call(environment.python, "packaging/fetch_models.py", "starter") != 0:
        print("The window opens without the starter models; choose GGUF files of your own there.", flush=True)
    return call(environment.python, "-m", "desktop_app", *arguments, cwd=None)


def test(environment: Environment, arguments: Sequence[str]) -> int:
    """Set everything up, check the code, run the tests."""
    system_packages.ensure_libraries(system_packages.QT, system_packages.LLAMA)
    environment.ensure(dev=True)
    step(environment.python, "packaging/fetch_models.py", "tests")
    for program, *options in CHECKS:
        step(environment.python.with_name(program), *options)
    return call(environment.python, "-m", "pytest", *arguments)


def step(program: Path, *arguments: str) -> None:
    """Run a program that has to succeed. Raises StepFailedError."""
    name = " ".join((program.name, *arguments))
    print(f"-- {name}", flush=True)
    code = call(program, *arguments)
    if code != 0:
        raise StepFailedError(name, code)


def call(program: Path, *arguments: str, cwd: Path | None = ROOT) -> int:
    """Run a program; returns its exit code. It starts in the checkout, or where the user is with `cwd=None`."""
    return subprocess.run([program, *arguments], cwd=cwd, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
