"""The reader of GGUF headers: what it reads, what it refuses, and how it words that."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import gguf
import pytest

from desktop_app.core.errors import Blame, DraftglassError, Fault
from desktop_app.library.gguf_header import TensorInfo, read_header
from desktop_app.library.gguf_types import FILE_TYPES, TENSOR_TYPES
from tests.fakes.gguf_files import TEMPLATE, TOKENS, write_gguf


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_gguf(tmp_path / "tiny.gguf", add_bos=False)


def _refusal(path: Path) -> str:
    with pytest.raises(DraftglassError) as caught:
        read_header(path)
    problem = caught.value.problem
    assert (problem.fault, problem.blame) == (Fault.BAD_MODEL, Blame.USER)
    assert path.name in problem.message
    assert problem.hint
    return problem.message


def _patched(file: Path, offset: int, data: bytes) -> Path:
    content = bytearray(file.read_bytes())
    content[offset : offset + len(data)] = data
    file.write_bytes(content)
    return file


def test_reads_what_was_written(file: Path) -> None:
    header = read_header(file)
    assert header.text("general.architecture") == "llama"
    assert header.integer("llama.context_length") == 512
    assert header.flag("tokenizer.ggml.add_bos_token") is False
    assert header.text("tokenizer.chat_template") == TEMPLATE
    assert header.tokens == tuple(token.encode() for token in TOKENS)
    assert header.tensors[1] == TensorInfo("blk.1.weight", (4, 8), 1, 64)
    assert header.tensors[1].size_bytes == 64


def test_a_missing_key_is_none(file: Path) -> None:
    header = read_header(file)
    assert header.integer("no.such.key") is None
    assert header.text("llama.context_length") is None
    assert header.flag("tokenizer.ggml.add_eos_token") is None


def test_agrees_with_the_reference_reader(file: Path) -> None:
    reference = gguf.GGUFReader(file)
    header = read_header(file)
    assert header.data_start == reference.data_offset
    for ours, theirs in zip(header.tensors, reference.tensors, strict=True):
        assert ours.name == theirs.name
        assert header.data_start + ours.offset == theirs.data_offset
        assert ours.size_bytes == theirs.n_bytes
    # "GGUF.…" are the reader's own names for the counts in front.
    scalars = {
        key: field.contents()
        for key, field in reference.fields.items()
        if not key.startswith("GGUF.") and field.types[0] is not gguf.GGUFValueType.ARRAY
    }
    assert header.metadata == scalars


def test_token_texts_stay_bytes(tmp_path: Path) -> None:
    odd = [b"\xff\xfe", "ünï".encode(), b"", b"\x00"]
    assert read_header(write_gguf(tmp_path / "odd.gguf", tokens=odd)).tokens == tuple(odd)


def test_the_tables_agree_with_the_reference() -> None:
    for type_, (block, size) in gguf.GGML_QUANT_SIZES.items():
        known = TENSOR_TYPES.get(int(type_))
        assert known is None or known == (type_.name, block, size)
    for file_type, name in FILE_TYPES.items():
        assert gguf.LlamaFileType(file_type).name.removeprefix("MOSTLY_").removeprefix("ALL_") == name


def test_an_absent_file_is_named(tmp_path: Path) -> None:
    assert "is not there" in _refusal(tmp_path / "gone.gguf")


def test_a_folder_is_no_model(tmp_path: Path) -> None:
    folder = tmp_path / "folder.gguf"
    folder.mkdir()
    assert "cannot be read" in _refusal(folder)


def test_an_empty_file(tmp_path: Path) -> None:
    empty = tmp_path / "empty.gguf"
    empty.touch()
    assert "is empty" in _refusal(empty)


def test_another_format(tmp_path: Path) -> None:
    page = tmp_path / "page.gguf"
    page.write_bytes(b"<!DOCTYPE html><title>404</title>")
    assert "is not a GGUF file" in _refusal(page)


@pytest.mark.parametrize(
    ("version", "words"), [(1, "version 1"), (9, "version 9"), (int.from_bytes(b"\0\0\0\3", "little"), "big-endian")]
)
def test_other_versions(file: Path, version: int, words: str) -> None:
    assert words in _refusal(_patched(file, 4, struct.pack("<I", version)))


@pytest.mark.parametrize(("offset", "what"), [(8, "tensors"), (16, "keys")])
@pytest.mark.parametrize("count", [1_000_000, 2**63])
def test_counts_that_cannot_fit(file: Path, offset: int, what: str, count: int) -> None:
    message = _refusal(_patched(file, offset, struct.pack("<Q", count)))
    assert f"promises {count:,} {what}" in message


def test_an_absurd_list_is_refused_before_it_is_read(file: Path) -> None:
    at = file.read_bytes().index(b"tokenizer.ggml.tokens") + len("tokenizer.ggml.tokens") + 8
    assert "promises" in _refusal(_patched(file, at, struct.pack("<Q", 2**40)))


def test_an_absurd_text_length(file: Path) -> None:
    at = file.read_bytes().index(TOKENS[7].encode()) - 8
    assert "damaged" in _refusal(_patched(file, at, struct.pack("<Q", 2**62)))


def test_missing_weights_are_counted(file: Path) -> None:
    header = read_header(file)
    whole = header.data_start + 2 * 64
    cut = file.read_bytes()[: whole - 5]
    file.write_bytes(cut)
    assert f"ends at byte {whole - 5:,}, its header promises {whole:,}" in _refusal(file)


def test_every_shorter_file_is_refused(file: Path) -> None:
    """Cut anywhere, it is refused in words, never with another exception and never accepted."""
    content = file.read_bytes()
    promised = read_header(file).data_start + 2 * 64
    for size in range(promised):
        file.write_bytes(content[:size])
        assert _refusal(file)


def test_flipped_bytes_never_raise_anything_else(file: Path) -> None:
    content = file.read_bytes()
    rng = random.Random(5)
    faults: list[Fault] = []
    for _ in range(2000):
        damaged = bytearray(content)
        for _ in range(rng.randint(1, 8)):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        file.write_bytes(damaged)
        try:
            read_header(file)
        except DraftglassError as error:
            faults.append(error.problem.fault)
    assert set(faults) == {Fault.BAD_MODEL}
