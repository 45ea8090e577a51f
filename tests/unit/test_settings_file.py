"""The settings file: every version, and what isn't one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from desktop_app.core.rounds import Kind
from desktop_app.core.settings import (
    AnswerSettings,
    CacheType,
    DraftSource,
    FlashAttention,
    LoadSettings,
    Rule,
    Sampling,
    Speculation,
)
from desktop_app.services.settings_file import (
    MIGRATIONS,
    Settings,
    Theme,
    UnreadableSettings,
    decode,
    encode,
    read,
    write,
)

EVERYTHING = Settings(
    target_path="/models/größer.gguf",
    draft_path="/models/draft.gguf",
    loading={
        "/models/größer.gguf": LoadSettings(cache_k=CacheType.Q8_0, flash_attention=FlashAttention.ON),
        "/models/draft.gguf": LoadSettings(n_ctx=512, gpu_layers=3, threads=2, batch_threads=4),
    },
    answer=AnswerSettings(
        Sampling(temperature=0.0, seed=7),
        Speculation(False, DraftSource.LOOKUP, 9, Rule.SHARED_NOISE),
        max_tokens=5,
        stop=("\n",),
    ),
    system_prompt="Be brief.",
    theme=Theme.DARK,
    window_geometry=b"\x00\xff\x01",
    panel_folded=True,
    hidden_kinds=frozenset({Kind.REJECTED, Kind.DISCARDED}),
    last_chat_id=3,
)


def test_everything_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "config" / "settings.json"
    write(path, EVERYTHING)
    assert read(path) == (EVERYTHING, None)
    assert [file.name for file in path.parent.iterdir()] == ["settings.json"]


def test_the_file_is_the_same_for_the_same_settings() -> None:
    assert encode(EVERYTHING) == encode(decode(encode(EVERYTHING)))
    assert json.loads(encode(EVERYTHING))["version"] == len(MIGRATIONS) + 1


def test_no_file_means_defaults(tmp_path: Path) -> None:
    assert read(tmp_path / "settings.json") == (Settings(), None)


def test_what_is_missing_takes_its_default() -> None:
    settings = decode(b'{"version": 2, "loading": {"/m/a.gguf": {"n_ctx": 99}}}')
    assert settings == Settings(loading={"/m/a.gguf": LoadSettings(n_ctx=99)})


def test_version_1_loaded_every_model_alike() -> None:
    old = (
        b'{"version": 1, "target_path": "/m/a.gguf", "n_ctx": 99, "gpu_layers": 7, "threads": 3, "panel_folded": true}'
    )
    how = LoadSettings(n_ctx=99, gpu_layers=7, threads=3)
    assert decode(old) == Settings(target_path="/m/a.gguf", loading={"/m/a.gguf": how}, panel_folded=True)
    assert decode(b'{"version": 1}') == Settings()


def test_a_model_is_loaded_by_its_own_settings_where_it_has_some() -> None:
    own = LoadSettings(n_ctx=4096)
    settings = Settings().with_loading("/m/a.gguf", own)
    assert (settings.loading_of("/m/a.gguf"), settings.loading_of("/m/b.gguf")) == (own, LoadSettings())
    assert settings.with_loading("/m/a.gguf", LoadSettings()) == Settings()


def test_unknown_keys_are_ignored() -> None:
    assert decode(b'{"version": 1, "colour": "red"}') == Settings()


@pytest.mark.parametrize(("gamma", "taken"), [(0, 1), (-3, 1), (16, 16), (400, 16)])
def test_gamma_stays_in_its_limits(gamma: int, taken: int) -> None:
    content = json.dumps({"version": 1, "answer": {"speculation": {"gamma": gamma}}}).encode()
    assert decode(content).answer.speculation.gamma == taken


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"\xff\xfe", b"{}", b'{"version": 0}', b'{"version": 2, "theme": 7}', b'{"version": "1"}'],
)
def test_a_file_that_is_none_of_ours_is_set_aside(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(content)
    settings, problem = read(path)
    assert settings == Settings()
    assert problem is not None
    assert "settings.json.unreadable" in problem.hint
    assert not path.exists()
    assert (tmp_path / "settings.json.unreadable").read_bytes() == content


def test_a_newer_version_is_not_misread(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(b'{"version": 1000}')
    _, problem = read(path)
    assert problem is not None
    assert "version 1000" in problem.message


def test_a_folder_in_the_way_is_a_problem_and_stays(tmp_path: Path) -> None:
    settings, problem = read(tmp_path)
    assert settings == Settings()
    assert problem is not None


def test_migrations_run_from_the_files_version_on() -> None:
    def rename(old: dict[str, Any]) -> dict[str, Any]:
        return {**old, "last_chat_id": old["context"]}

    def double(old: dict[str, Any]) -> dict[str, Any]:
        return {**old, "last_chat_id": old["last_chat_id"] * 2}

    migrations = (rename, double)
    assert decode(b'{"version": 1, "context": 5}', migrations).last_chat_id == 10
    assert decode(b'{"version": 2, "last_chat_id": 5}', migrations).last_chat_id == 10
    assert decode(b'{"version": 3, "last_chat_id": 5}', migrations).last_chat_id == 5
    with pytest.raises(UnreadableSettings):
        decode(b'{"version": 4}', migrations)


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    write(path, EVERYTHING)
    (tmp_path / "settings.json.new").mkdir()
    with pytest.raises(OSError, match="new"):
        write(path, Settings())
    assert read(path) == (EVERYTHING, None)
