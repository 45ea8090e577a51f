"""Whether a draft model can draft for a target: their vocabularies compared.

Pure values, so that the same rule judges facts read from GGUF headers before loading and those of the loaded models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

MAX_SIZE_DIFFERENCE = 128
"""Vocabularies of one family are padded to different sizes; llama.cpp's own limit."""

FIRST_COMPARED_ID = 5
"""Ids below hold control tokens, which fine-tunes rename without harm; llama.cpp compares from here too."""

_SHOWN_CHARACTERS = 24


@dataclass(frozen=True, slots=True)
class VocabFacts:
    """A vocabulary as a GGUF header or llama.cpp tells it.

    None stands for "not known here" and equals everything: a header may leave a key out, and llama.cpp then chooses.
    """

    type: str
    """Kind of tokeniser: equal strings for equal kinds, from one and the same source."""
    tokens: Sequence[bytes]
    """Text by token id, as stored in the file."""
    add_bos: bool | None = None
    add_eos: bool | None = None
    bos_id: int | None = None
    eos_id: int | None = None
    eog_ids: frozenset[int] | None = None
    """Every token that ends an answer."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the pair fits, in words."""

    ok: bool
    reason: str = ""
    """Why not, fit for the state chip; empty where `ok`."""
    detail: str = ""
    """A sentence or two for the tooltip; empty where `ok`."""
    notes: tuple[str, ...] = ()
    """What differs without harm."""


def compare(target: VocabFacts, draft: VocabFacts) -> Verdict:
    """Judge a pair by llama.cpp's rule for speculative decoding: the same token must mean the same text.

    Ids 0 to 4 and the tokens that end an answer are compared as well, but only noted: the target alone decides what
    is emitted and when an answer ends, so a difference there costs acceptance and never changes the text.
    """
    return (
        _compare_types(target, draft)
        or _compare_added(target, draft)
        or _compare_tokens(target, draft)
        or Verdict(ok=True, notes=_notes(target, draft))
    )


def _compare_types(target: VocabFacts, draft: VocabFacts) -> Verdict | None:
    if target.type == draft.type:
        return None
    return Verdict(
        ok=False,
        reason=f"the draft has another kind of vocabulary ({draft.type}, target {target.type})",
        detail=f"The target's tokeniser is of type {target.type}, the draft's of type {draft.type}.",
    )


def _compare_added(target: VocabFacts, draft: VocabFacts) -> Verdict | None:
    for what, ours, theirs, our_id, their_id in (
        ("a start", target.add_bos, draft.add_bos, target.bos_id, draft.bos_id),
        ("an end", target.add_eos, draft.add_eos, target.eos_id, draft.eos_id),
    ):
        if _differ(ours, theirs):
            has, has_not = ("target", "draft") if ours else ("draft", "target")
            return Verdict(
                ok=False,
                reason=f"only the {has}'s vocabulary adds {what} token",
                detail=f"The {has} adds {what} token to a text, the {has_not} does not.",
            )
        if ours and theirs and _differ(our_id, their_id):
            return Verdict(
                ok=False,
                reason=f"the draft adds {what} token of its own ({their_id}, target {our_id})",
                detail=f"Both add {what} token to a text: the target token {our_id}, the draft token {their_id}.",
            )
    return None


def _compare_tokens(target: VocabFacts, draft: VocabFacts) -> Verdict | None:
    ours, theirs = len(target.tokens), len(draft.tokens)
    too_far_apart = abs(ours - theirs) > MAX_SIZE_DIFFERENCE
    at = _first_difference(target.tokens, draft.tokens, FIRST_COMPARED_ID)
    if at is None and not too_far_apart:
        return None
    sizes = f"The target has {ours:,} tokens and the draft {theirs:,}." if ours != theirs else ""
    if at is None:
        return Verdict(
            ok=False, reason=f"the draft has another vocabulary ({_more_or_fewer(ours, theirs)})", detail=sizes
        )
    return Verdict(
        ok=False,
        reason=f"the draft has another vocabulary (token {at} differs)",
        detail=f"Token {at} is {_shown(target.tokens[at])} in the target and {_shown(draft.tokens[at])} in the draft. "
        f"{sizes}".strip(),
    )


def _more_or_fewer(ours: int, theirs: int) -> str:
    return f"{abs(ours - theirs):,} {'more' if theirs > ours else 'fewer'} tokens"


def _notes(target: VocabFacts, draft: VocabFacts) -> tuple[str, ...]:
    notes = [
        f"Control token {at} is {_shown(ours)} in the target and {_shown(theirs)} in the draft."
        for at, ours, theirs in zip(range(FIRST_COMPARED_ID), target.tokens, draft.tokens, strict=False)
        if ours != theirs
    ]
    if target.eog_ids is not None and draft.eog_ids is not None and target.eog_ids != draft.eog_ids:
        ids = ", ".join(map(str, sorted(target.eog_ids ^ draft.eog_ids)))
        notes.append(f"Target and draft end an answer at different tokens ({ids}); the target's count.")
    if len(target.tokens) != len(draft.tokens):
        notes.append(
            f"The target has {len(target.tokens):,} tokens and the draft {len(draft.tokens):,}; "
            "only those of both are drafted."
        )
    return tuple(notes)


def _first_difference(ours: Sequence[bytes], theirs: Sequence[bytes], start: int) -> int | None:
    """The lowest id from `start` up, known to both, whose texts differ."""
    return next((at for at, a, b in zip(count(start), ours[start:], theirs[start:], strict=False) if a != b), None)


def _differ(ours: object, theirs: object) -> bool:
    return ours is not None and theirs is not None and ours != theirs


def _shown(token: bytes) -> str:
    text = token.decode(errors="replace")
    if len(text) > _SHOWN_CHARACTERS:
        text = text[: _SHOWN_CHARACTERS - 1] + "…"
    return f"“{text}”" if text.isprintable() else repr(text)
