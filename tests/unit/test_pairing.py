"""The verdict on a pair: the rule itself on values, then from files."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from desktop_app.core.errors import DraftglassError, Fault
from desktop_app.core.pairing import MAX_SIZE_DIFFERENCE, Verdict, VocabFacts, compare
from desktop_app.library.pairing import SAME_FILE_NOTE, header_verdict
from tests.fakes.gguf_files import TOKENS, write_gguf

_TOKENS = tuple(f"t{number}".encode() for number in range(300))
_FACTS = VocabFacts(
    type="BPE", tokens=_TOKENS, add_bos=False, add_eos=False, bos_id=1, eos_id=2, eog_ids=frozenset({2, 7})
)


def _with_token(at: int, text: bytes) -> VocabFacts:
    return replace(_FACTS, tokens=(*_TOKENS[:at], text, *_TOKENS[at + 1 :]))


def test_equal_vocabularies_fit_without_a_word() -> None:
    assert compare(_FACTS, replace(_FACTS, tokens=list(_TOKENS))) == Verdict(ok=True)


def test_another_type() -> None:
    verdict = compare(_FACTS, replace(_FACTS, type="SPM"))
    assert verdict.reason == "the draft has another kind of vocabulary (SPM, target BPE)"


def test_the_first_differing_token_is_named_with_both_texts() -> None:
    draft = _with_token(139, b"other")
    draft = replace(draft, tokens=(*draft.tokens[:200], b"later", *draft.tokens[201:]))
    verdict = compare(_FACTS, draft)
    assert not verdict.ok
    assert verdict.reason == "the draft has another vocabulary (token 139 differs)"
    assert verdict.detail == "Token 139 is “t139” in the target and “other” in the draft."


def test_any_single_difference_from_id_5_up_is_found() -> None:
    rng = random.Random(1)
    for at in [5, 299, *(rng.randrange(5, 300) for _ in range(50))]:
        assert f"(token {at} differs)" in compare(_FACTS, _with_token(at, b"?")).reason
        assert f"(token {at} differs)" in compare(_with_token(at, b"?"), _FACTS).reason


@pytest.mark.parametrize("at", range(5))
def test_control_tokens_are_noted_only(at: int) -> None:
    verdict = compare(_FACTS, _with_token(at, b"<s>"))
    assert verdict.ok
    assert verdict.notes == (f"Control token {at} is “t{at}” in the target and “<s>” in the draft.",)


@pytest.mark.parametrize(("missing", "ok"), [(MAX_SIZE_DIFFERENCE, True), (MAX_SIZE_DIFFERENCE + 1, False)])
def test_sizes_may_differ_a_little(missing: int, ok: bool) -> None:
    shorter = replace(_FACTS, tokens=_TOKENS[:-missing])
    for verdict in (compare(_FACTS, shorter), compare(shorter, _FACTS)):
        assert verdict.ok is ok
        assert bool(verdict.notes) is ok
    if not ok:
        assert compare(_FACTS, shorter).reason == "the draft has another vocabulary (129 fewer tokens)"
        assert compare(shorter, _FACTS).reason == "the draft has another vocabulary (129 more tokens)"


def test_added_start_token() -> None:
    verdict = compare(replace(_FACTS, add_bos=True), _FACTS)
    assert verdict.reason == "only the target's vocabulary adds a start token"
    assert compare(_FACTS, replace(_FACTS, add_eos=True)).reason == "only the draft's vocabulary adds an end token"


def test_the_start_token_counts_only_where_it_is_added() -> None:
    other = replace(_FACTS, bos_id=9)
    assert compare(_FACTS, other).ok
    verdict = compare(replace(_FACTS, add_bos=True), replace(other, add_bos=True))
    assert verdict.reason == "the draft adds a start token of its own (9, target 1)"


def test_what_is_not_known_equals_everything() -> None:
    unknown = VocabFacts(type="BPE", tokens=_TOKENS)
    known = replace(_FACTS, add_bos=True, add_eos=True)
    assert compare(known, unknown) == compare(unknown, known) == Verdict(ok=True)


def test_other_ends_are_noted_only() -> None:
    verdict = compare(_FACTS, replace(_FACTS, eog_ids=frozenset({2, 8})))
    assert verdict.ok
    assert verdict.notes == ("Target and draft end an answer at different tokens (7, 8); the target's count.",)


def test_odd_tokens_are_shown_readably() -> None:
    detail = compare(_with_token(6, b"\n\xff"), _with_token(6, b"x" * 100)).detail
    assert r"'\n�'" in detail
    assert f"“{'x' * 23}…”" in detail


def test_a_pair_of_files_fits(tmp_path: Path) -> None:
    target, draft = write_gguf(tmp_path / "t.gguf"), write_gguf(tmp_path / "d.gguf")
    assert header_verdict(target, draft) == Verdict(ok=True)


@pytest.mark.parametrize(("tokenizer", "default_bos", "default_eos"), [("llama", True, False), ("t5", False, True)])
def test_an_absent_key_equals_its_default(tmp_path: Path, tokenizer: str, default_bos: bool, default_eos: bool) -> None:
    absent = write_gguf(tmp_path / "absent.gguf", tokenizer=tokenizer)
    stated = write_gguf(tmp_path / "stated.gguf", tokenizer=tokenizer, add_bos=default_bos, add_eos=default_eos)
    against = write_gguf(tmp_path / "against.gguf", tokenizer=tokenizer, add_bos=not default_bos)
    assert header_verdict(absent, stated).ok
    assert header_verdict(stated, absent).ok
    assert not header_verdict(absent, against).ok


@pytest.mark.parametrize("add_bos", [True, False])
def test_an_absent_key_of_bpe_is_left_to_the_engine(tmp_path: Path, add_bos: bool) -> None:
    absent = write_gguf(tmp_path / "absent.gguf")
    stated = write_gguf(tmp_path / "stated.gguf", add_bos=add_bos, add_eos=False)
    assert header_verdict(absent, stated).ok


def test_files_that_do_not_fit(tmp_path: Path) -> None:
    target = write_gguf(tmp_path / "t.gguf")
    draft = write_gguf(tmp_path / "d.gguf", tokens=(*TOKENS[:30], "else", *TOKENS[31:]))
    assert header_verdict(target, draft).reason == "the draft has another vocabulary (token 30 differs)"


def test_the_same_file_twice_is_noted(tmp_path: Path) -> None:
    target = write_gguf(tmp_path / "t.gguf")
    link = tmp_path / "link.gguf"
    link.hardlink_to(target)
    for draft in (target, link):
        assert header_verdict(target, draft) == Verdict(ok=True, notes=(SAME_FILE_NOTE,))


def test_a_bad_draft_is_named(tmp_path: Path) -> None:
    target = write_gguf(tmp_path / "t.gguf")
    for draft, words in ((tmp_path / "gone.gguf", "is not there"), (tmp_path / "none.gguf", "holds no vocabulary")):
        if "vocabulary" in words:
            write_gguf(draft, tokenizer=None)
        with pytest.raises(DraftglassError) as caught:
            header_verdict(target, draft)
        assert caught.value.problem.fault is Fault.BAD_MODEL
        assert caught.value.problem.message == f"{draft.name} {words}."
