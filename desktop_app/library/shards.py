"""Models split over several files: which parts belong together, and whether all are there."""

from __future__ import annotations

import re
from pathlib import Path

from desktop_app.library.gguf_header import GgufHeader, bad_model, read_header

_PART = re.compile(r"(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf", re.IGNORECASE)


def parts(path: Path) -> tuple[Path, ...]:
    """Every file of the model that `path` belongs to, by name alone, first part first; only `path` if it is whole."""
    match = _PART.fullmatch(path.name)
    if match is None:
        return (path,)
    stem, count = match["stem"], int(match["count"])
    extension = path.suffix
    return tuple(path.with_name(f"{stem}-{number:05d}-of-{count:05d}{extension}") for number in range(1, count + 1))


def read_model(path: Path) -> tuple[GgufHeader, ...]:
    """The headers of all parts of the model that `path` belongs to, first part first.

    The first holds the metadata and the vocabulary. Raises DraftglassError (BAD_MODEL) as `read_header` does, and names
    the part that is missing.
    """
    first, *others = parts(path)
    if not first.exists() and path.exists():
        raise bad_model(path, f"needs {first.name}, which is missing", _PARTS_HINT)
    header = read_header(first)
    count = header.integer("split.count") or 1
    if count != 1 + len(others):
        raise bad_model(
            first,
            f"is one of {count} parts, but its name does not say so",
            f"Parts must be named like model-00001-of-{count:05d}.gguf.",
        )
    missing = next((part for part in others if not part.exists()), None)
    if missing is not None:
        raise bad_model(first, f"needs {missing.name}, which is missing", _PARTS_HINT)
    return (header, *map(read_header, others))


_PARTS_HINT = "Put all parts into one folder."
