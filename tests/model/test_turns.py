"""Turn after turn: the cached prefix is used again, a lagging draft catches up, a cancelled turn leaves nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import llama_cpp.llama_cpp as api
import pytest

from desktop_app.core.acceptance import AcceptanceRule, Drafted
from desktop_app.core.errors import DraftglassError, Problem
from desktop_app.core.rounds import emitted_ids
from desktop_app.core.settings import AnswerSettings, DraftSource
from desktop_app.engine.drafters.model import ModelDrafter
from desktop_app.engine.llama.context import Aborted
from desktop_app.engine.pair import Pair
from desktop_app.protocol.messages import ChatMessage, Prefilling, Role, RoundDone
from tests.helpers.log_watch import LogWatch
from tests.model.helpers import (
    GREEDY,
    PLAIN,
    Reply,
    Unseen,
    assert_consistent,
    clear,
    events_of,
    run_answer,
    speculating,
    user,
)

pytestmark = pytest.mark.model

FIRST = "Name a fruit and describe it."
SECOND = "And another one?"
ON = AnswerSettings(GREEDY, speculating(4), 32)
OFF = AnswerSettings(GREEDY, PLAIN, 32)


def follow_up(first: Reply, text: str = SECOND) -> tuple[ChatMessage, ...]:
    return (*user(FIRST), ChatMessage(Role.ASSISTANT, first.text), ChatMessage(Role.USER, text))


def test_a_follow_up_reads_only_what_is_new(starter: Pair) -> None:
    first = run_answer(starter, FIRST, ON)
    messages = follow_up(first)

    second = run_answer(starter, messages, ON)

    assert first.reused == first.draft_reused == 0
    assert second.reused >= len(first.prompt) + len(first.ids) // 2
    assert second.draft_reused >= second.reused - 1
    clear(starter)
    fresh = run_answer(starter, messages, OFF)
    assert fresh.reused == 0
    assert fresh.ids == second.ids


def test_an_edited_message_leaves_what_stands_before_it_in_both_caches(starter: Pair) -> None:
    first = run_answer(starter, FIRST, ON)
    second = run_answer(starter, follow_up(first), ON)
    messages = follow_up(first, "Name a vegetable instead.")

    edited = run_answer(starter, messages, ON)

    parting = next(at for at, (old, new) in enumerate(zip(second.prompt, edited.prompt, strict=False)) if old != new)
    assert edited.reused == edited.draft_reused == parting > len(first.prompt) + len(first.ids) // 2
    clear(starter)
    assert run_answer(starter, messages, OFF).ids == edited.ids


def test_an_answer_written_anew_reads_nothing_again(starter: Pair) -> None:
    first = run_answer(starter, FIRST, ON)

    again = run_answer(starter, FIRST, ON)

    assert again.reused == again.draft_reused == len(first.prompt) - 1
    assert again.ids == first.ids


def test_a_draft_that_lags_catches_up(starter: Pair) -> None:
    """On, off for a turn, on again."""
    assert starter.draft is not None
    first = run_answer(starter, FIRST, ON)
    held = len(starter.draft.context.held)
    second = run_answer(starter, follow_up(first), OFF)
    assert len(starter.draft.context.held) == held, "plain decoding leaves the draft alone"
    messages = (*follow_up(first), ChatMessage(Role.ASSISTANT, second.text), ChatMessage(Role.USER, "One more?"))

    third = run_answer(starter, messages, ON)

    clear(starter)
    fresh = run_answer(starter, messages, ON)
    assert kinds_of(third) == kinds_of(fresh)
    clear(starter)
    assert run_answer(starter, messages, OFF).ids == third.ids


def test_a_draft_that_missed_a_long_prompt_is_as_good_as_one_that_did_not(starter: Pair) -> None:
    long = "The quick brown fox jumps over the lazy dog. " * 26 + FIRST
    plain = run_answer(starter, long, OFF)
    lagging = run_answer(starter, long, ON)
    clear(starter)
    fresh = run_answer(starter, long, ON)

    assert lagging.ids == fresh.ids == plain.ids
    assert kinds_of(lagging) == kinds_of(fresh)


def kinds_of(reply: Reply) -> list[list[str]]:
    return [[f"{token.kind} {token.id}" for token in round_.tokens] for round_ in reply.rounds]


class TestCancelled:
    """Set the abort flag at one moment of an answer; both caches must stay consistent and the next answer right."""

    @pytest.mark.parametrize(("moment", "after"), [(Prefilling, 1), (Prefilling, 5), (RoundDone, 1), (RoundDone, 3)])
    def test_between_two_events(self, starter: Pair, moment: type, after: int) -> None:
        long = "The quick brown fox jumps over the lazy dog. " * 12 + FIRST
        expected = run_answer(starter, FIRST, ON)
        clear(starter)

        seen = 0
        with pytest.raises(Aborted):  # noqa: PT012 - the loop is what must stop
            for event in events_of(starter, long, ON):
                seen += isinstance(event, moment)
                if seen == after:
                    starter._abort.set()
        starter._abort.clear()

        assert_consistent(starter)
        assert run_answer(starter, FIRST, ON).ids == expected.ids
        assert run_answer(starter, long, ON).ids == run_answer(starter, long, OFF).ids

    @pytest.mark.parametrize(
        ("settings", "moment"), [(OFF, Prefilling), (ON, Prefilling), (OFF, RoundDone), (ON, RoundDone)]
    )
    @pytest.mark.parametrize("target_has_read", [False, True])
    def test_inside_a_pass(
        self,
        starter: Pair,
        settings: AnswerSettings,
        moment: type,
        target_has_read: bool,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """llama.cpp itself stops in its graph: the target's, or the draft's where the target has read the prompt.

        That is no error, so nothing is logged as one.
        """
        expected = run_answer(starter, FIRST, ON)
        clear(starter)
        if target_has_read:
            run_answer(starter, FIRST, OFF)

        assert starter.target is not None
        assert starter.draft is not None
        with monkeypatch.context() as patch, pytest.raises(Aborted):  # noqa: PT012 - the loop is what must stop
            for half in (starter.target, starter.draft):
                patch.setattr(half.context, "_abort", Unseen(starter._abort))
            for event in events_of(starter, FIRST, settings):
                if isinstance(event, moment):
                    starter._abort.set()
        starter._abort.clear()

        assert_consistent(starter)
        assert run_answer(starter, FIRST, ON).ids == expected.ids


class TestFailingDraft:
    """A draft that fails never costs the answer."""

    @pytest.mark.parametrize("moment", ["prefill", "first draft", "later draft"])
    def test_the_answer_goes_on_plainly_and_says_why(self, starter: Pair, moment: str, expect_log: LogWatch) -> None:
        assert starter.target is not None
        assert starter.draft is not None
        expect_log("the draft failed, going on without: No more memory")
        plain = run_answer(starter, FIRST, OFF)
        drafter = Failing(starter, moment)

        reply = run_answer(starter, FIRST, ON, drafter=drafter)

        assert reply.ids == plain.ids
        assert reply.finished.speculation_problem == drafter.PROBLEM
        assert any(round_.gamma for round_ in reply.rounds) == (moment == "later draft")
        assert run_answer(starter, FIRST, ON).ids == plain.ids
        assert run_answer(starter, FIRST, ON).finished.speculation_problem is None


class Failing(ModelDrafter):
    """A real drafter whose draft runs out of memory at some moment."""

    PROBLEM = Problem("No more memory.")

    def __init__(self, pair: Pair, moment: str) -> None:
        assert pair.target is not None
        assert pair.draft is not None
        super().__init__(pair.draft.context, n_vocab=pair.target.model.vocabulary.size)
        self._moment = moment
        self._drafts = 0

    def prefill(self, tokens: Sequence[int]) -> Iterator[int]:
        yield from super().prefill(tokens[:10])
        if self._moment == "prefill":
            raise DraftglassError(self.PROBLEM)
        yield from super().prefill(tokens)

    def draft(self, committed: Sequence[int], limit: int, rule: AcceptanceRule) -> Iterator[Drafted]:
        self._drafts += 1
        for place, drafted in enumerate(super().draft(committed, limit, rule)):
            if place == 1 and (self._moment == "first draft" or self._drafts == 3):
                raise DraftglassError(self.PROBLEM)
            yield drafted


def test_a_cache_that_can_not_be_cut_back_is_rebuilt(starter: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    """llama.cpp may refuse to remove tokens; the text must not suffer."""
    plain = run_answer(starter, FIRST, OFF)
    remove, calls = api.llama_memory_seq_rm, iter(range(1_000))

    def moody(*args: object) -> bool:
        return next(calls) % 3 != 2 and bool(remove(*args))

    monkeypatch.setattr(api, "llama_memory_seq_rm", moody)

    rounds = [event.round for event in events_of(starter, FIRST, ON) if isinstance(event, RoundDone)]
    assert emitted_ids(rounds) == plain.ids
    assert next(calls) > 6


@pytest.mark.parametrize("gamma", [17, 600])
def test_a_gamma_beyond_the_most_is_the_most(starter: Pair, gamma: int) -> None:
    plain = run_answer(starter, FIRST, OFF)

    reply = run_answer(starter, FIRST, AnswerSettings(GREEDY, speculating(gamma), 32))

    assert reply.ids == plain.ids
    assert max(round_.gamma for round_ in reply.rounds) == 16


def test_lookup_after_a_model_draft_uses_no_draft_cache(starter: Pair) -> None:
    assert starter.draft is not None
    first = run_answer(starter, FIRST, ON)
    held = list(starter.draft.context.held)

    reply = run_answer(starter, FIRST, AnswerSettings(GREEDY, speculating(4, DraftSource.LOOKUP), 32))

    assert reply.ids == first.ids
    assert starter.draft.context.held == held
