"""The decode loop: rounds of drafting and verifying, plain steps where there is no draft.

A generator of events; it keeps the books of both caches and touches neither pipe nor window.

The books: `committed` is prompt and answer; its last token is not decoded yet. With L tokens before it, the target
decodes it and the γ drafted ones in one pass and holds L + 1 + γ; with `a` accepted it is cut back to L + 1 + a.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import zip_longest

from desktop_app.core.acceptance import AcceptanceRule, Drafted, Judgement, Pick, Refused, rule_for
from desktop_app.core.errors import Problem
from desktop_app.core.pacing import Pacer
from desktop_app.core.rounds import OWN, Kind, Round, Seconds, Token
from desktop_app.core.sampling import Logits
from desktop_app.core.settings import GAMMA_MAX, AnswerSettings
from desktop_app.engine.drafters.base import Drafter
from desktop_app.engine.drafting import Drafting
from desktop_app.engine.llama.context import Context
from desktop_app.engine.writer import Writer
from desktop_app.protocol.messages import Finished, Prefilling, RoundDone, Stop


@dataclass(frozen=True, slots=True)
class Task:
    """One answer to write."""

    request: int
    prompt: tuple[int, ...]
    """At least one token, fewer than the context holds."""
    settings: AnswerSettings
    seed: int
    speculation_problem: Problem | None = None
    """Why a drafter is missing although speculation was asked for."""


class Generation:
    """Writes one answer. `events()` runs it; Aborted leaves both caches consistent."""

    def __init__(self, task: Task, target: Context, drafters: Sequence[Drafter], pacer: Pacer) -> None:
        """`drafters` are asked in their order; none decodes plainly."""
        self._task = task
        self._target = target
        self._rule: AcceptanceRule = rule_for(task.settings.sampling, task.settings.speculation.rule, task.seed)
        self._drafting = Drafting(drafters, pacer, self._rule)
        self._writer = Writer(target.model.vocabulary, stops=task.settings.stop, max_tokens=task.settings.max_tokens)
        self._committed = list(task.prompt)
        self._clock = _Clock(target, self._drafting)

    def events(self) -> Iterator[Prefilling | RoundDone | Finished]:
        """Prefilling …, RoundDone …, one Finished. Raises Aborted where the abort flag was set."""
        began = time.perf_counter()
        yield from self._prefill()
        prefilled = time.perf_counter()
        first_token_s = None
        for round_ in self._rounds():
            if first_token_s is None:
                first_token_s = time.perf_counter() - began
            yield RoundDone(self._task.request, round_, self._writer.visible, len(self._committed), self._drafting.pace)
        tail = self._writer.close()
        yield Finished(
            request=self._task.request,
            stop=self._writer.stop or Stop.CONTEXT,
            visible=self._writer.visible,
            tail=tail,
            seed=self._task.seed,
            first_token_s=first_token_s,
            prefill_s=prefilled - began,
            speculation_problem=self._drafting.problem or self._task.speculation_problem,
        )

    def _prefill(self) -> Iterator[Prefilling]:
        """Read all but the last token of the prompt, which the first round decodes."""
        tokens = self._task.prompt[:-1]
        began = time.perf_counter()
        reused, draft_reused, done = None, None, 0
        for target_done, draft_done in zip_longest(self._target.prefill(tokens), self._drafting.prefill(tokens)):
            done = done if target_done is None else target_done
            reused = done if reused is None else reused
            draft_reused = draft_done if draft_reused is None else draft_reused
            seconds = time.perf_counter() - began
            yield Prefilling(self._task.request, done + 1, len(self._task.prompt), reused, draft_reused, seconds)

    def _rounds(self) -> Iterator[Round]:
        self._clock.start()
        index = 0
        while self._writer.stop is None and len(self._committed) < self._target.n_ctx:
            yield self._round(index)
            index += 1

    def _round(self, index: int) -> Round:
        position = len(self._committed)
        drafted = self._drafting.draft(self._committed, self._room())
        batch = [self._committed[-1], *(token.id for token in drafted)]
        if drafted:
            self._target.mark()
        rows = self._target.decode(batch, rows=len(batch))
        tokens = self._verify(drafted, rows)
        accepted = sum(token.kind is Kind.ACCEPTED for token in tokens)
        self._target.truncate(position + accepted)
        self._drafting.observe(batch, accepted)
        cut = tokens[-1].kind not in OWN
        round_ = Round(index, position, len(drafted), tuple(tokens), self._clock.lap(), cut)
        self._drafting.learn(round_)
        return round_

    def _room(self) -> int:
        """Tokens that may be drafted: the round's own token must still fit into the context and the token limit."""
        return max(0, min(self._target.n_ctx - len(self._committed), self._writer.tokens_left, GAMMA_MAX + 1) - 1)

    def _verify(self, drafted: Sequence[Drafted], rows: Logits) -> list[Token]:
        """Judge the drafted tokens by the target's rows, shape (γ + 1, n_vocab); the tokens of the round."""
        tokens: list[Token] = []
        for place, (draft, row) in enumerate(zip(drafted, rows, strict=False)):
            judgement = self._judge(draft, row)
            if isinstance(judgement, Refused):
                text = self._writer.preview(draft.id)
                tokens.append(Token(draft.id, text, Kind.REJECTED, judgement.p, draft.q, judgement.chance))
                tokens += self._discarded(drafted[place + 1 :])
                return [*tokens, self._own(judgement.instead, Kind.CORRECTED)]
            text = self._emit(draft.id)
            tokens.append(Token(draft.id, text, Kind.ACCEPTED, judgement.p, draft.q, judgement.chance))
            if self._writer.stop is not None:
                return tokens + self._discarded(drafted[place + 1 :])
        return [*tokens, self._own(self._pick(rows[-1]), Kind.BONUS if drafted else Kind.PLAIN)]

    def _judge(self, draft: Drafted, row: Logits) -> Judgement:
        with self._clock.sampling():
            return self._rule.judge(draft, row, self._committed)

    def _pick(self, row: Logits) -> Pick:
        with self._clock.sampling():
            return self._rule.pick(row, self._committed)

    def _discarded(self, drafted: Sequence[Drafted]) -> list[Token]:
        return [Token(token.id, self._writer.preview(token.id), Kind.DISCARDED, None, token.q) for token in drafted]

    def _own(self, pick: Pick, kind: Kind) -> Token:
        return Token(pick.id, self._emit(pick.id), kind, pick.p)

    def _emit(self, token: int) -> str:
        self._committed.append(token)
        return self._writer.write(token)


class _Clock:
    """Splits the wall time between two laps into the parts of a round."""

    def __init__(self, target: Context, drafting: Drafting) -> None:
        self._target = target
        self._drafting = drafting
        self._sample_s = 0.0
        self._before = self._read()

    def start(self) -> None:
        self._before = self._read()

    @contextmanager
    def sampling(self) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self._sample_s += time.perf_counter() - began

    def lap(self) -> Seconds:
        """The parts since the lap before."""
        before, self._before = self._before, self._read()
        wall, draft, verify, sample = (now - then for now, then in zip(self._before, before, strict=True))
        return Seconds(draft, verify, sample, max(0.0, wall - draft - verify - sample))

    def _read(self) -> tuple[float, float, float, float]:
        drafting = self._drafting
        return time.perf_counter(), drafting.busy_s, self._target.busy_s, self._sample_s + drafting.sample_s
