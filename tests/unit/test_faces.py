"""The command line's first step: which face is shown, and what it must not import on the way."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from desktop_app import __version__
from desktop_app.__main__ import main

IMPORTED = "import sys, {module}; print(*sorted({{name.split('.')[0] for name in sys.modules}}))"


def imported_by(module: str) -> set[str]:
    """Top-level names that importing `module` brings into a fresh Python."""
    code = IMPORTED.format(module=module)
    return set(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split())


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"draftglass {__version__}\n"


def test_the_dispatcher_imports_nothing_heavy() -> None:
    assert imported_by("desktop_app.__main__").isdisjoint({"PySide6", "llama_cpp", "msgspec", "numpy", "jinja2"})


@pytest.mark.parametrize("module", ["desktop_app.engine.worker", "desktop_app.bench.cli"])
def test_engine_and_benchmark_run_without_qt(module: str) -> None:
    assert "PySide6" not in imported_by(module)


@pytest.mark.parametrize(("of_the_user", "count"), [({}, "20000"), ({"GOMP_SPINCOUNT": "7"}, "7")])
def test_libgomp_is_told_how_long_to_spin_before_it_is_loaded(of_the_user: dict[str, str], count: str) -> None:
    """It shows what it read when it was loaded."""
    inherited = {name: value for name, value in os.environ.items() if name != "GOMP_SPINCOUNT"}
    ran = subprocess.run(
        [sys.executable, "-c", "import desktop_app.engine.worker"],
        check=True,
        capture_output=True,
        text=True,
        env={**inherited, **of_the_user, "OMP_DISPLAY_ENV": "verbose"},
    )
    assert f"GOMP_SPINCOUNT = '{count}'" in ran.stderr


def test_the_window_never_loads_llama_cpp() -> None:
    assert "llama_cpp" not in imported_by("desktop_app.app")
