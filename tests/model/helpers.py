"""Runs one answer in this process and checks, after every round, what must hold after every round."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from desktop_app.core.difference import TextPair
from desktop_app.core.facts import Rollback
from desktop_app.core.metrics import Tally
from desktop_app.core.pacing import pacer_for
from desktop_app.core.rounds import Kind, Round
from desktop_app.core.settings import GAMMA_MAX, AnswerSettings, DraftSource, ModelSettings, Rule, Sampling, Speculation
from desktop_app.engine.divergence import explain
from desktop_app.engine.drafters.base import Drafter
from desktop_app.engine.generation import Generation, Task
from desktop_app.engine.llama.abort import AbortFlag
from desktop_app.engine.llama.context import Context
from desktop_app.engine.pair import Pair
from desktop_app.engine.prompt import prompt_tokens
from desktop_app.protocol.messages import ChatMessage, Finished, Prefilling, Role, RoundDone, Stop

PLAIN = Speculation(enabled=False)
GREEDY = Sampling(temperature=0.0)


def speculating(gamma: int, source: DraftSource = DraftSource.MODEL, rule: Rule = Rule.REJECTION) -> Speculation:
    """γ = 0 is plain decoding."""
    return Speculation(enabled=gamma > 0, source=source, gamma=max(1, gamma), rule=rule)


def user(text: str) -> tuple[ChatMessage, ...]:
    return (ChatMessage(Role.USER, text),)


@dataclass(frozen=True)
class Reply:
    """One answer and how it came about."""

    prompt: tuple[int, ...]
    prefill: tuple[Prefilling, ...]
    rounds: tuple[Round, ...]
    finished: Finished
    text: str
    """What is visible at the end."""

    @property
    def ids(self) -> list[int]:
        return [token.id for round_ in self.rounds for token in round_.emitted]

    @property
    def tally(self) -> Tally:
        return Tally.of(self.rounds)

    @property
    def reused(self) -> int:
        return self.prefill[0].reused

    @property
    def draft_reused(self) -> int:
        """Fails without a draft model."""
        reused = self.prefill[0].draft_reused
        assert reused is not None
        return reused

    @property
    def last_kinds(self) -> list[Kind]:
        return [token.kind for token in self.rounds[-1].tokens]


@contextmanager
def loaded(target: Path | str, draft: Path | str | None = None, *, n_ctx: int = 2048) -> Iterator[Pair]:
    pair = Pair(AbortFlag())
    pair.load(
        settings_for(target, n_ctx), None if draft is None else settings_for(draft, n_ctx), lambda _part, _at: None
    )
    try:
        yield pair
    finally:
        pair.unload()


def settings_for(path: Path | str, n_ctx: int = 2048) -> ModelSettings:
    """One thread: with more, attention over some 256 tokens and up splits single-token passes and rounds otherwise."""
    return ModelSettings(str(path), n_ctx=n_ctx, gpu_layers=0, threads=1)


def run_answer(
    pair: Pair,
    messages: Sequence[ChatMessage] | str,
    settings: AnswerSettings,
    *,
    drafter: Drafter | None = None,
) -> Reply:
    """As the worker does it; `drafter` takes the place of the one that the settings name."""
    assert pair.target is not None
    prompt = prompt_tokens(pair.target, user(messages) if isinstance(messages, str) else messages)
    return run_prompt(pair, prompt, settings, drafter=drafter)


def run_prompt(
    pair: Pair, prompt: tuple[int, ...], settings: AnswerSettings, *, drafter: Drafter | None = None
) -> Reply:
    assert pair.target is not None
    seed = settings.sampling.seed or 0
    generation = pair.generation(1, prompt, settings, seed=seed)
    if drafter is not None:
        pacer = pacer_for(settings, pair.experience, has_model=not drafter.free)
        generation = Generation(Task(1, prompt, settings, seed), pair.target.context, (drafter,), pacer)
    return _follow(pair, prompt, settings, generation)


def check_same_text(pair: Pair, plain: Reply, reply: Reply, settings: AnswerSettings) -> None:
    """The same tokens, or texts that part where rounding explains it; overwrites the target's cache.

    For weights whose logits depend on the size of the batch, here or on another CPU. `settings` are those of `reply`.
    """
    assert pair.target is not None
    texts = TextPair(
        tuple(plain.ids),
        tuple(reply.ids),
        settings.sampling,
        settings.speculation.rule,
        pass_size=1 + max(round_.gamma for round_ in reply.rounds),
    )
    difference = explain(pair.target, plain.prompt, texts)
    assert difference is None or difference.near_tie, difference


def events_of(pair: Pair, text: str, settings: AnswerSettings) -> Iterator[Prefilling | RoundDone | Finished]:
    assert pair.target is not None
    return pair.generation(1, prompt_tokens(pair.target, user(text)), settings, seed=0).events()


def _follow(pair: Pair, prompt: tuple[int, ...], settings: AnswerSettings, generation: Generation) -> Reply:
    assert pair.target is not None
    committed = list(prompt)
    prefill: list[Prefilling] = []
    rounds: list[Round] = []
    visible = [0]
    finished = None
    for event in generation.events():
        assert finished is None, "nothing comes after Finished"
        match event:
            case Prefilling():
                assert not rounds
                prefill.append(event)
            case RoundDone():
                _check_round(event, len(rounds), len(committed), settings)
                committed += [token.id for token in event.round.emitted]
                assert event.context == len(committed)
                drafted = event.round.gamma > 0 and settings.speculation.source is DraftSource.MODEL
                _check_books(pair, committed, event.round, drafted)
                rounds.append(event.round)
                visible.append(event.visible)
            case Finished():
                finished = event
    assert finished is not None
    _check_prefill(prefill, len(prompt))
    assert visible == sorted(visible), "what was shown is never taken back"
    text = "".join(token.text for round_ in rounds for token in round_.emitted) + finished.tail
    assert max(visible) <= finished.visible <= len(text)
    written = pair.target.model.vocabulary.decode(committed[len(prompt) :])
    assert text == written or finished.stop is Stop.STOP_STRING, "the text is the one-shot decode"
    return Reply(prompt, tuple(prefill), tuple(rounds), finished, text[: finished.visible])


def _check_round(event: RoundDone, index: int, position: int, settings: AnswerSettings) -> None:
    round_ = event.round
    assert round_.broken_rule() is None, round_
    assert (round_.index, round_.position) == (index, position)
    assert round_.gamma <= (settings.speculation.gamma or GAMMA_MAX)
    assert min(round_.seconds.draft, round_.seconds.verify, round_.seconds.sample, round_.seconds.rest) >= 0
    assert round_.seconds.verify > 0
    for token in round_.tokens:
        assert (token.q is None) == (token.kind in {Kind.CORRECTED, Kind.BONUS, Kind.PLAIN})
        assert (token.p is None) == (token.kind is Kind.DISCARDED)
        assert all(value is None or 0 <= value <= 1.000001 for value in (token.p, token.q, token.chance)), token


def _check_books(pair: Pair, committed: Sequence[int], round_: Round, drafted: bool) -> None:
    """Both caches hold what was committed and nothing else; llama.cpp agrees with our books."""
    assert pair.target is not None
    target = pair.target.context
    # A round that ends with the target's own token leaves that one to be decoded next.
    assert target.held == list(committed[: len(committed) - (not round_.cut)])
    check_positions(target)
    if pair.draft is not None:
        draft = pair.draft.context
        check_positions(draft)
        if drafted:
            # Nothing that was refused, and all that was committed but the last token or two, or this round.
            assert draft.held == list(committed[: len(draft.held)])
            restored = draft.rollback is Rollback.CHECKPOINTS
            assert len(draft.held) >= (round_.position if restored else len(target.held) - 1)


class Unseen(AbortFlag):
    """A flag that only llama.cpp sees."""

    def __init__(self, flag: AbortFlag) -> None:
        self._buffer = flag._buffer

    def is_set(self) -> bool:
        return False


def check_positions(context: Context) -> None:
    """llama.cpp's cache ends where our books say."""
    assert context._memory.end == len(context.held)


def clear(pair: Pair) -> None:
    for half in (pair.target, pair.draft):
        assert half is not None
        half.context.clear()


def assert_consistent(pair: Pair) -> None:
    for half in (pair.target, pair.draft):
        assert half is not None
        check_positions(half.context)


def _check_prefill(events: Sequence[Prefilling], total: int) -> None:
    assert events
    assert all(event.total == total for event in events)
    assert all(before.done <= after.done for before, after in pairwise(events))
    assert {event.reused for event in events} == {events[0].reused}
    assert events[-1].done == total
