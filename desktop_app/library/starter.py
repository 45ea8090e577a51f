"""The pair that every fresh install gets: which files it is made of. It fetches and makes nothing."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

TARGET_NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
TARGET_SIZE_BYTES = 98_362_432
TARGET_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"

DRAFT_NAME = "SmolLM2-135M-Instruct.Q2_K.gguf"
"""Made from the target on the spot, so its bytes may differ between versions of llama.cpp."""


@dataclass(frozen=True, slots=True)
class StarterPair:
    """The starter files that are there; None for one that is not."""

    target: Path | None
    draft: Path | None


def starter_pair(models_dir: Path) -> StarterPair:
    return StarterPair(_if_there(models_dir / TARGET_NAME), _if_there(models_dir / DRAFT_NAME))


def is_starter_target(path: Path) -> bool:
    """Whether the file is the starter target, byte for byte. Reads all of it unless its size tells already."""
    if path.stat().st_size != TARGET_SIZE_BYTES:
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == TARGET_SHA256


def _if_there(path: Path) -> Path | None:
    return path if path.is_file() else None
