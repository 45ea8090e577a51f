"""The built-in deck is whole; other decks are read or refused with a reason."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from desktop_app.bench.deck import BUILTIN, load_deck
from desktop_app.core.errors import Blame, DraftglassError
from desktop_app.protocol.messages import Role

PROMPT = {"id": "a", "category": "code", "messages": [{"role": "user", "content": "Write it."}]}


def deck_file(folder: Path, *prompts: object) -> str:
    path = folder / "deck.json"
    path.write_text(json.dumps({"prompts": prompts}), encoding="utf-8")
    return str(path)


def refusal(name: str) -> str:
    with pytest.raises(DraftglassError) as caught:
        load_deck(name)
    assert caught.value.problem.blame is Blame.USER
    return caught.value.problem.message


def test_the_builtin_deck_has_every_kind_of_task() -> None:
    deck = load_deck(BUILTIN)

    assert deck.categories == ("code", "prose", "structured", "summarise", "edit")
    assert all(len(deck.only([category]).prompts) >= 2 for category in deck.categories)


def test_builtin_prompts_about_a_text_bring_it_along() -> None:
    for prompt in load_deck(BUILTIN).only(["summarise", "edit"]).prompts:
        assert len(prompt.messages[0].content.split()) > 140, prompt.id


def test_a_deck_of_ones_own(tmp_path: Path) -> None:
    (prompt,) = load_deck(deck_file(tmp_path, PROMPT)).prompts

    assert (prompt.id, prompt.category) == ("a", "code")
    assert (prompt.messages[0].role, prompt.messages[0].content) == (Role.USER, "Write it.")


def test_picking_categories_keeps_the_order(tmp_path: Path) -> None:
    deck = load_deck(deck_file(tmp_path, PROMPT, {**PROMPT, "id": "b", "category": "prose"}, {**PROMPT, "id": "c"}))

    assert [prompt.id for prompt in deck.only(["code"]).prompts] == ["a", "c"]
    with pytest.raises(DraftglassError, match=r"no category 'poems'.*code, prose"):
        deck.only(["code", "poems"])


@pytest.mark.parametrize(
    ("prompts", "reason"),
    [
        ([], "it has no prompts"),
        ([PROMPT, PROMPT], "the id 'a' occurs 2 times"),
        ([{**PROMPT, "category": ""}], "prompt 0 has an empty id or category"),
        ([{**PROMPT, "messages": []}], "prompt 'a' has no message of the user"),
        ([{**PROMPT, "messages": [{"role": "user", "content": "  "}]}], "prompt 'a' has no message of the user"),
        ([{**PROMPT, "messages": [{"role": "poet", "content": "x"}]}], "poet"),
        ([{"id": "a", "category": "code"}], "missing required field `messages`"),
        ([{**PROMPT, "mesages": []}], "unknown field `mesages`"),
    ],
)
def test_a_malformed_deck_is_refused_with_the_reason(tmp_path: Path, prompts: list[object], reason: str) -> None:
    assert reason in refusal(deck_file(tmp_path, *prompts))


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe{}", b"[]", b'{"prompts": [{"id": "\xff"}]}'])
def test_a_file_that_is_no_deck_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "deck.json"
    path.write_bytes(content)

    assert refusal(str(path)).startswith(f"The deck {path} is malformed")


def test_an_absent_deck_is_refused(tmp_path: Path) -> None:
    assert "No such file" in refusal(str(tmp_path / "none.json"))
