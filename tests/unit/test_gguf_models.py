"""Models on disk as their headers describe them; split models; the starter pair."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from desktop_app.core.errors import DraftglassError
from desktop_app.library import starter
from desktop_app.library.models import BadFile, ModelFile, describe, list_models, name_from
from desktop_app.library.shards import parts
from tests.fakes.gguf_files import TOKENS, write_gguf, write_split


def _refusal(path: Path) -> str:
    with pytest.raises(DraftglassError) as caught:
        describe(path)
    return caught.value.problem.message


def test_describes_a_model(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "Tiny-1B-Instruct.Q4_K_M.gguf", architecture="qwen2", file_type=15)
    described = describe(path)
    assert described == ModelFile(
        path=path,
        name="Tiny-1B-Instruct",
        title="Tiny",
        architecture="qwen2",
        quantisation="Q4_K_M",
        size_bytes=path.stat().st_size,
        n_ctx_train=512,
        n_layers=3,
        n_vocab=len(TOKENS),
        has_template=True,
        memory=described.memory,
    )
    assert described.label == "Tiny-1B-Instruct Q4_K_M"


def test_what_a_header_leaves_out(tmp_path: Path) -> None:
    model = describe(write_gguf(tmp_path / "bare.gguf", name=None, file_type=None, template=None))
    assert (model.name, model.title, model.has_template) == ("bare", "", False)
    assert model.quantisation == "F16", "from the weights themselves"


@pytest.mark.parametrize(
    ("file_name", "name"),
    [
        ("SmolLM2-135M-Instruct.Q4_1.gguf", "SmolLM2-135M-Instruct"),
        ("qwen2.5-coder-1.5b-instruct-q4_k_m.gguf", "qwen2.5-coder-1.5b-instruct"),
        ("model-IQ3_XXS.gguf", "model"),
        ("model-f16.gguf", "model"),
        ("big-Q8_0-00001-of-00003.gguf", "big"),
        ("Q4_0.gguf", "Q4_0"),
        ("Qwen-quick.gguf", "Qwen-quick"),
    ],
)
def test_names_lose_their_quantisation(file_name: str, name: str) -> None:
    assert name_from(Path(file_name)) == name


def test_a_file_without_vocabulary_is_no_language_model(tmp_path: Path) -> None:
    message = _refusal(write_gguf(tmp_path / "mmproj.gguf", architecture="clip", tokenizer=None))
    assert (
        message == "mmproj.gguf holds no language model: it is a GGUF file of architecture clip without a vocabulary."
    )


def test_a_file_without_weights(tmp_path: Path) -> None:
    assert "holds no weights" in _refusal(write_gguf(tmp_path / "vocab.gguf", tensors=0))


def test_a_split_model_is_one_model(tmp_path: Path) -> None:
    files = write_split(tmp_path)
    assert [describe(file).path for file in files] == [files[0]] * 3
    assert describe(files[2]).size_bytes == sum(file.stat().st_size for file in files)
    assert [entry.path for entry in list_models(tmp_path)] == [files[0]]


@pytest.mark.parametrize("gone", [0, 1, 2])
def test_a_missing_part_is_named(tmp_path: Path, gone: int) -> None:
    files = write_split(tmp_path)
    files[gone].unlink()
    for file in files:
        if file.exists():
            assert f"needs {files[gone].name}, which is missing" in _refusal(file)
    (entry,) = list_models(tmp_path)
    assert isinstance(entry, BadFile)
    assert files[gone].name in entry.problem.message


def test_a_cut_part_is_named(tmp_path: Path) -> None:
    files = write_split(tmp_path)
    files[1].write_bytes(files[1].read_bytes()[:-100])
    assert f"{files[1].name} is cut off" in _refusal(files[0])


def test_a_renamed_part_says_how_parts_are_named(tmp_path: Path) -> None:
    first = write_split(tmp_path)[0].rename(tmp_path / "renamed.gguf")
    assert "is one of 3 parts" in _refusal(first)


def test_parts_of_a_whole_model() -> None:
    assert parts(Path("a/whole.gguf")) == (Path("a/whole.gguf"),)


def test_lists_good_and_bad_files_by_path(tmp_path: Path) -> None:
    good = write_gguf(tmp_path / "b.gguf")
    bad = tmp_path / "a.gguf"
    bad.write_bytes(b"PK\x03\x04")
    (tmp_path / "notes.txt").write_text("no model")
    (tmp_path / "below").mkdir()
    deep = write_gguf(tmp_path / "below" / "c.gguf")
    entries = list_models(tmp_path)
    assert [entry.path for entry in entries] == [bad, good, deep]
    assert [isinstance(entry, ModelFile) for entry in entries] == [False, True, True]


def test_no_folder_no_models(tmp_path: Path) -> None:
    assert list_models(tmp_path / "nowhere") == []


def test_starter_pair_tells_what_is_there(tmp_path: Path) -> None:
    assert starter.starter_pair(tmp_path) == starter.StarterPair(None, None)
    target = tmp_path / starter.TARGET_NAME
    target.touch()
    assert starter.starter_pair(tmp_path) == starter.StarterPair(target, None)
    draft = tmp_path / starter.DRAFT_NAME
    draft.touch()
    assert starter.starter_pair(tmp_path) == starter.StarterPair(target, draft)


def test_starter_target_is_known_by_size_and_hash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = b"a starter model"
    monkeypatch.setattr(starter, "TARGET_SIZE_BYTES", len(content))
    monkeypatch.setattr(starter, "TARGET_SHA256", hashlib.sha256(content).hexdigest())
    path = tmp_path / starter.TARGET_NAME
    for written, expected in ((content, True), (content[:-1], False), (content[:-1] + b"?", False)):
        path.write_bytes(written)
        assert starter.is_starter_target(path) is expected
