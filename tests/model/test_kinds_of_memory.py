"""Memories other than dense attention: a sliding window, and a running state that can't be cut back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop_app.core.rounds import Kind
from desktop_app.core.settings import AnswerSettings, DraftSource
from desktop_app.engine.calibration import calibrate
from desktop_app.engine.llama.context import Aborted
from desktop_app.engine.pair import Pair
from tests.fakes.tiny_models import write_llama, write_mamba
from tests.model.helpers import (
    GREEDY,
    PLAIN,
    Unseen,
    check_positions,
    check_same_text,
    loaded,
    run_answer,
    speculating,
    user,
)

pytestmark = pytest.mark.model

LOOKUP = AnswerSettings(GREEDY, speculating(6, DraftSource.LOOKUP), 48)
WINDOW = 512
"""Tokens that Gemma's sliding layers see."""


@pytest.fixture(scope="module")
def gemma_pair(gemma: Path) -> Iterator[Pair]:
    with loaded(gemma, n_ctx=1024) as pair:
        yield pair


class TestSlidingWindow:
    LIST = "Copy this list: " + ", ".join(f"{number} apples" for number in range(30, 50))

    def test_a_refused_token_leaves_no_trace(self, gemma_pair: Pair) -> None:
        plain = run_answer(gemma_pair, self.LIST, AnswerSettings(GREEDY, PLAIN, 48))

        reply = run_answer(gemma_pair, self.LIST, LOOKUP)

        check_same_text(gemma_pair, plain, reply, LOOKUP)
        assert reply.tally.counts[Kind.ACCEPTED] > 0

    def test_nor_past_the_window(self, gemma_pair: Pair) -> None:
        prompt = "A fox and a dog met by the river. " * 64 + self.LIST
        plain = run_answer(gemma_pair, prompt, AnswerSettings(GREEDY, PLAIN, 48))
        assert len(plain.prompt) > WINDOW + 64

        reply = run_answer(gemma_pair, prompt, LOOKUP)

        check_same_text(gemma_pair, plain, reply, LOOKUP)
        assert reply.tally.counts[Kind.ACCEPTED] > 0


@pytest.fixture(scope="module")
def mamba(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    with loaded(write_mamba(tmp_path_factory.mktemp("models") / "mamba.gguf")) as pair:
        yield pair


class TestRunningState:
    OFF = AnswerSettings(GREEDY, PLAIN, 24)

    def test_chats_and_says_that_it_can_not_roll_back(self, mamba: Pair) -> None:
        assert mamba.target is not None
        assert not mamba.target.facts.rollback
        assert len(run_answer(mamba, "hello", self.OFF).ids) == 24

    @pytest.mark.parametrize("source", [DraftSource.LOOKUP, DraftSource.MODEL])
    def test_speculation_is_refused_with_the_reason(self, mamba: Pair, source: DraftSource) -> None:
        plain = run_answer(mamba, "hello", self.OFF)

        reply = run_answer(mamba, "hello", AnswerSettings(GREEDY, speculating(4, source), 24))

        assert reply.ids == plain.ids
        assert all(round_.gamma == 0 for round_ in reply.rounds)
        assert reply.finished.speculation_problem is not None
        assert "mamba keeps a running state" in reply.finished.speculation_problem.message

    def test_another_prompt_starts_afresh(self, mamba: Pair) -> None:
        first = run_answer(mamba, "hello", self.OFF)
        run_answer(mamba, "something else", self.OFF)

        again = run_answer(mamba, "hello", self.OFF)

        assert again.reused == 0
        assert again.ids == first.ids

    def test_a_prompt_that_goes_on_where_the_cache_ends_is_reused(self, mamba: Pair) -> None:
        assert mamba.target is not None
        run_answer(mamba, "hello", self.OFF)
        held = mamba.target.context.held
        longer = user(mamba.target.model.vocabulary.decode(held)[1:] + "and more")

        reply = run_answer(mamba, longer, self.OFF)

        mamba.target.context.clear()
        assert run_answer(mamba, longer, self.OFF).ids == reply.ids

    def test_an_aborted_pass_is_forgotten_whole(self, mamba: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
        """The state may hold half of what was decoded: it must not pass for the state before."""
        assert mamba.target is not None
        first = run_answer(mamba, "hello", self.OFF)
        context = mamba.target.context
        context.clear()
        list(context.prefill(first.prompt[:4]))
        with monkeypatch.context() as patch:
            patch.setattr(context, "_abort", Unseen(mamba._abort))
            mamba._abort.set()
            with pytest.raises(Aborted):
                context.decode(first.prompt[4:-1], rows=0)
            mamba._abort.clear()
        check_positions(context)

        assert run_answer(mamba, "hello", self.OFF).ids == first.ids

    def test_timing_its_passes_leaves_it_usable(self, mamba: Pair) -> None:
        first = run_answer(mamba, "hello", self.OFF)

        costs = calibrate(mamba, interrupted=lambda: False)

        assert costs is not None
        assert costs.draft_step is None
        assert run_answer(mamba, "hello", self.OFF).ids == first.ids

    def test_can_not_be_a_draft(self, tmp_path: Path) -> None:
        target, draft = write_llama(tmp_path / "dense.gguf"), write_mamba(tmp_path / "recurrent.gguf")
        with loaded(target, draft) as pair:
            assert pair.draft is None
            assert pair.draft_problem is not None
            assert "recurrent keeps a running state" in pair.draft_problem.message
            reply = run_answer(pair, "hello", AnswerSettings(GREEDY, speculating(4), 8))
            assert reply.finished.speculation_problem == pair.draft_problem
