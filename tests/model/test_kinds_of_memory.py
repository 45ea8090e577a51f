"""Memories other than dense attention: a refused token leaves no trace in any of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

import llama_cpp.llama_cpp as api
import numpy as np
import pytest

from desktop_app.core.facts import Rollback
from desktop_app.core.rounds import Kind
from desktop_app.core.settings import AnswerSettings, DraftSource, Speculation
from desktop_app.engine.calibration import calibrate
from desktop_app.engine.llama.context import Context
from desktop_app.engine.pair import Pair
from tests.fakes.tiny_models import write_llama
from tests.fakes.tiny_recurrent import write_jamba, write_mamba, write_qwen35
from tests.model.helpers import GREEDY, PLAIN, Reply, check_same_text, loaded, run_answer, speculating
from tests.model.samples import Sample

pytestmark = pytest.mark.model

GAMMAS = range(1, 9)
OFF = AnswerSettings(GREEDY, PLAIN, 48)


def test_how_to_go_back_is_found_at_load(stateful: Pair, sample: Sample) -> None:
    assert stateful.target is not None
    assert stateful.draft is not None
    assert (stateful.target.facts.memory, stateful.target.facts.rollback) == (sample.memory, sample.rollback)
    assert (stateful.draft.facts.memory, stateful.draft.facts.rollback) == (sample.memory, Rollback.CHECKPOINTS)


def test_a_draft_of_the_same_kind_leaves_the_text_as_it_is(stateful: Pair) -> None:
    judged = check_every_gamma(stateful, speculating(1))

    assert all(reply.tally.counts[Kind.ACCEPTED] > 0 for reply in judged)
    assert all(reply.tally.counts[Kind.REJECTED] > 0 for reply in judged)


def test_so_does_prompt_lookup(stateful: Pair) -> None:
    lookup = replace(speculating(1, DraftSource.LOOKUP), lookup_min_n=1)

    judged = check_every_gamma(stateful, lookup)

    assert all(reply.tally.counts[Kind.REJECTED] > 0 for reply in judged)


@pytest.mark.parametrize(
    ("target", "draft"),
    [(write_llama, write_mamba), (write_mamba, write_llama), (write_jamba, write_qwen35), (write_qwen35, write_mamba)],
)
def test_so_does_a_draft_of_another_kind(
    tmp_path: Path, target: Callable[..., Path], draft: Callable[..., Path]
) -> None:
    with loaded(target(tmp_path / "target.gguf"), draft(tmp_path / "draft.gguf"), n_ctx=512) as mixed:
        assert mixed.draft_problem is None

        judged = check_every_gamma(mixed, speculating(1))

        assert all(reply.tally.counts[Kind.REJECTED] > 0 for reply in judged)


def check_every_gamma(pair: Pair, speculation: Speculation) -> list[Reply]:
    """The speculative answers, each of the same text as the plain one."""
    plain = run_answer(pair, "hello, hello", OFF)
    assert len(plain.ids) == OFF.max_tokens
    replies = []
    for gamma in GAMMAS:
        settings = replace(OFF, speculation=replace(speculation, gamma=gamma))
        replies.append(run_answer(pair, "hello, hello", settings))
        check_same_text(pair, plain, replies[-1], settings)
    return replies


@pytest.mark.parametrize("count", [1, 2, 7, 20, 24, 25])
def test_cut_back_anywhere_it_goes_on_as_if_nothing_had_followed(stateful: Pair, count: int) -> None:
    """Whether that was appended in one pass or in several."""
    assert stateful.target is not None
    context = stateful.target.context
    expected = logits_behind(context, [[*range(5, 5 + count)]])

    for passes in ([[*range(5, 30)]], [[*range(5, 25)], *([token] for token in range(25, 30))]):
        logits_behind(context, passes)
        context.truncate(count)
        assert context.held == [*range(5, 5 + count)]
        assert np.allclose(context.decode([40], rows=1), expected, atol=1e-3)


def logits_behind(context: Context, passes: list[list[int]]) -> np.ndarray:
    """Of a token behind these passes over the empty cache; it stays in the cache."""
    context.clear()
    for tokens in passes:
        context.decode(tokens, rows=1)
    return context.decode([40], rows=1).copy()


def test_timing_its_passes_leaves_it_usable(stateful: Pair) -> None:
    assert stateful.target is not None
    first = run_answer(stateful, "hello", OFF)
    held = list(stateful.target.context.held)

    costs = calibrate(stateful, interrupted=lambda: False)

    assert costs is not None
    assert stateful.target.context.held == held
    assert run_answer(stateful, "hello", replace(OFF, speculation=speculating(4))).ids == first.ids


def test_without_room_for_snapshots_it_makes_do_with_checkpoints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create = api.llama_init_from_model

    def cramped(model: int, params: api.llama_context_params) -> int | None:
        return None if params.n_rs_seq else cast(int, create(model, params))

    monkeypatch.setattr(api, "llama_init_from_model", cramped)

    with loaded(write_qwen35(tmp_path / "target.gguf"), write_qwen35(tmp_path / "draft.gguf", noise=0.02)) as pair:
        assert pair.target is not None
        assert pair.target.facts.rollback is Rollback.CHECKPOINTS
        check_every_gamma(pair, speculating(1))


class TestNoWayBack:
    """llama.cpp may know kinds of memory that neither remove nor copy."""

    @pytest.fixture(autouse=True)
    def no_copies(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(api, "llama_state_seq_get_data_ext", lambda *_: 0)

    @pytest.mark.parametrize("source", [DraftSource.LOOKUP, DraftSource.MODEL])
    def test_it_chats_plainly_and_says_why(self, tmp_path: Path, source: DraftSource) -> None:
        with loaded(write_mamba(tmp_path / "mamba.gguf"), write_llama(tmp_path / "draft.gguf"), n_ctx=512) as pair:
            assert pair.target is not None
            assert pair.target.facts.rollback is Rollback.NONE
            plain = run_answer(pair, "hello", OFF)

            reply = run_answer(pair, "hello", replace(OFF, speculation=speculating(4, source)))

            assert reply.ids == plain.ids
            assert all(round_.gamma == 0 for round_ in reply.rounds)
            assert reply.finished.speculation_problem is not None
            assert "mamba keeps a state that can't go back" in reply.finished.speculation_problem.message

    def test_it_can_not_be_a_draft(self, tmp_path: Path) -> None:
        with loaded(write_llama(tmp_path / "dense.gguf"), write_mamba(tmp_path / "recurrent.gguf")) as pair:
            assert pair.draft is None
            assert pair.draft_problem is not None
            assert "recurrent keeps a state that can't go back" in pair.draft_problem.message
            reply = run_answer(pair, "hello", AnswerSettings(GREEDY, speculating(4), 8))
            assert reply.finished.speculation_problem == pair.draft_problem
