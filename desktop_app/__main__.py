"""Which face to show: the window, the engine, the benchmark, the requantiser or the self-test.

Imports nothing heavy: every face is imported when it is asked for, so that the engine and the benchmark start without
Qt and the window without llama.cpp.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from desktop_app import __version__
from desktop_app.core.errors import DraftglassError


def main(argv: Sequence[str] | None = None) -> int:
    """Returns the exit code; `argv` is the command line without the program's name."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        return _show(arguments)
    except DraftglassError as error:
        print(f"draftglass: {error}", file=sys.stderr)
        return 1


def _show(arguments: list[str]) -> int:
    match arguments:
        case ["--version"]:
            print(f"draftglass {__version__}")
            return 0
        case ["--engine", *_]:
            from desktop_app.engine import worker

            return worker.main()
        case ["bench", *rest]:
            from desktop_app.bench import cli

            return cli.main(rest)
        case ["requantise", *rest]:
            from desktop_app.engine import requantise

            return requantise.main(rest)
        case ["--self-test", *rest]:
            from desktop_app import self_test

            return self_test.main(rest)
        case _:
            from desktop_app import app

            return app.main(arguments)


if __name__ == "__main__":
    sys.exit(main())
