"""`draftglass requantise SOURCE DESTINATION TYPE`: make a draft, or a full-precision target, from a model file."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from desktop_app.core.errors import DraftglassError
from desktop_app.engine.llama.quantise import FTYPES, requantise


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="draftglass requantise", description=__doc__)
    parser.add_argument("source", type=Path)
    parser.add_argument("destination", type=Path)
    parser.add_argument("type", choices=sorted(FTYPES))
    args = parser.parse_args(argv)
    # llama.cpp warns once per tensor that it rounds differently; only its errors matter here.
    logging.basicConfig(level=logging.ERROR)
    try:
        requantise(args.source, args.destination, args.type, _show)
    except DraftglassError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{args.destination.name}: done, {args.destination.stat().st_size / 1e6:.0f} MB")
    return 0


def _show(fraction: float) -> None:
    if sys.stdout.isatty():
        print(f"\rwriting {fraction:4.0%}", end="", flush=True)
