"""The pacer behind "auto": as many drafted tokens as pay, none where none do, and never much slower than plain."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

from desktop_app.core.acceptance import Drafted
from desktop_app.core.facts import Costs
from desktop_app.core.pacing.acceptance import START, AcceptanceModel, bin_of
from desktop_app.core.pacing.bank import TimeBank
from desktop_app.core.pacing.costs import CostModel
from desktop_app.core.pacing.pacer import Pace
from desktop_app.core.rounds import Kind, Round
from desktop_app.core.settings import GAMMA_MAX
from desktop_app.core.speedup import WORTHWHILE

_FIRST_PLAIN = 2
"""Plain steps at the start of an answer: the machine may have changed since the last one."""

_REFIT_ROUNDS = 64
"""Drafting rounds after which one plain step is taken, so that the plain cost follows the machine."""

_PROBE_FIRST, _PROBE_LAST = 8, 256
"""Emitted tokens between two probes while speculation is off; each failed one doubles them."""

_PROBE_GAMMA = 2

_RICH_TOKENS = 8
"""With so many plain steps saved up, probing stays as frequent as at first: a good stretch pays for it."""

_RATE_TOKENS = 32
"""Emitted tokens over which the going rate is averaged."""

_OFF_ROUNDS = 4
"""Rounds in a row without a draft after which speculation counts as off."""


class Experience:
    """What was learned of a pair and a machine; outlives answers."""

    def __init__(self, costs: Costs | None = None) -> None:
        self.costs = CostModel(costs)
        self.acceptance = AcceptanceModel()

    def calibrate(self, costs: Costs) -> None:
        """Passes were timed: forget what rounds cost, keep what is known of the draft."""
        self.costs = CostModel(costs)

    @property
    def hopeless(self) -> bool:
        """Whether no γ of the draft model is worthwhile, even if every token were kept."""
        if not self.costs.known:
            return False
        speedups = (self.costs.speedup(gamma, tokens=gamma + 1, depth=0) for gamma in range(1, GAMMA_MAX + 1))
        return max(speedups) < WORTHWHILE


class AutoPacer:
    """Drafts one more token while that promises more tokens per second, and no answer is slower than plain.

    A round with γ drafted tokens emits 1 + Σ S_i tokens on average, with S_i the chance that the first i are all kept,
    and costs draft(γ) + verify(γ + 1). The draft model gets its turn where some γ beats plain decoding; a round goes on
    while some longer one emits more, at the going rate, than its extra time is worth: with the long-run rate r,
    maximising E[tokens] − r · E[seconds] maximises E[tokens] / E[seconds] (renewal-reward theorem). The time bank
    bounds what errors in these estimates can cost.
    """

    def __init__(self, experience: Experience, *, has_model: bool, answer_tokens: int) -> None:
        """`has_model`: a draft model can be asked; `answer_tokens` the most that the answer can have."""
        self._costs = experience.costs
        self._acceptance = experience.acceptance
        self._has_model = has_model
        self._answer_tokens = answer_tokens
        self._bank: TimeBank | None = None
        self._rate: float | None = None
        self._plan = _Plan()
        self._plain_due = _FIRST_PLAIN
        self._drafting_rounds = 0
        self._plain_rounds = 0
        self._probe_interval = _PROBE_FIRST
        self._since_probe = 0
        self.hopeless = has_model and experience.hopeless

    @property
    def pace(self) -> Pace:
        off = self._has_model and (self.hopeless or self._plain_rounds >= _OFF_ROUNDS)
        return Pace(not off, self._plan.model_speedup)

    def begin(self, *, room: int, depth: int) -> None:
        self._plan = _Plan(min(room, GAMMA_MAX), depth)
        if self._plain_due or not self._costs.known:
            self._plan.room = 0
            return
        if self._bank is None:
            self._bank = TimeBank(self._costs.plain_s(depth), answer_tokens=self._answer_tokens)
        if self._has_model:
            self._plan.model_speedup = self._best_speedup(self._acceptance.after(START), self._acceptance.steady)

    def limit(self, *, free: bool, lag: int) -> int:
        plan = self._plan
        plan.free, plan.lag = free, lag
        if free or plan.room < 1:
            return plan.room
        if self._pays() and self._affords(1):
            return plan.room
        if self._keeps_step() and self._affords(1):
            plan.trial = _Trial.IN_STEP
            return 1
        return self._probe()

    def wants_more(self, drafted: Sequence[Drafted]) -> bool:
        plan, count = self._plan, len(drafted)
        if plan.free or plan.trial is not None:
            return True
        if count == plan.room or not self._affords(count + 1):
            return False
        survival = math.prod(self._acceptance.of(bin_of(token)) for token in drafted)
        return self._gain(count, survival * self._acceptance.after(bin_of(drafted[-1]))) > 0

    def keep(self, drafted: Sequence[Drafted]) -> int:
        plan = self._plan
        if plan.trial is not None or not drafted:
            return len(drafted)
        best, best_value, survival, tokens = 0, 0.0, 1.0, 0.0
        plain_s = self._costs.plain_s(plan.depth)
        rate = self._going_rate(plain_s)
        for count, token in enumerate(drafted, start=1):
            survival *= self._acceptance.of(bin_of(token))
            tokens += survival
            verify_s = self._costs.verify_s(count + 1, plan.depth)
            value = tokens - rate * (verify_s - plain_s)
            if value > best_value and self._affords(count) and self._beats_model((1 + tokens) * plain_s / verify_s):
                best, best_value = count, value
        if plan.free and best == 0:
            plan.passed_over = drafted[0]
        return best

    def learn(self, round_: Round, drafted: Sequence[Drafted]) -> None:
        plan, acceptance, emitted = self._plan, self._acceptance, len(round_.emitted)
        accepted = round_.count(Kind.ACCEPTED)
        self._costs.learn(
            round_.gamma + 1,
            depth=plan.depth,
            drafted=0 if plan.free else len(drafted),
            lag=plan.lag,
            seconds=round_.seconds,
        )
        acceptance.fade(emitted)
        acceptance.learn([bin_of(token) for token in drafted], accepted, refused=round_.count(Kind.REJECTED) > 0)
        if accepted == round_.gamma < len(drafted):
            self._learn_from_unverified(drafted[accepted], round_, accepted)
        if plan.passed_over is not None and (not drafted or plan.passed_over is not drafted[0]):
            self._learn_from_unverified(plan.passed_over, round_, 0)
        if not self._costs.known:
            return
        plain_s, wall_s = self._costs.plain_s(plan.depth), round_.seconds.total
        if self._bank is not None:
            self._bank.settle(emitted, plain_s=plain_s, wall_s=wall_s)
        self._follow_rate(emitted, wall_s, plain_s)
        self._count(round_, emitted, accepted)

    def _pays(self) -> bool:
        """Whether the draft model is expected to beat plain decoding now."""
        return self._plan.model_speedup is not None and self._plan.model_speedup > 1

    def _keeps_step(self) -> bool:
        """Whether a single drafted token, though it loses a little now, is cheaper than to fall behind.

        Where the draft usually pays, it will have to read later what is written without it.
        """
        plan, usual = self._plan, self._acceptance.usual
        if self.hopeless or plan.model_speedup is None or self._best_speedup(usual, usual) <= 1:
            return False
        return plan.model_speedup > 1 - self._costs.catch_up_s / self._costs.plain_s(plan.depth)

    def _probe(self) -> int:
        """How many tokens to draft only to see how they fare; mostly none."""
        assert self._bank is not None, "nothing is drafted before plain decoding was timed"
        plan = self._plan
        rich = self._bank.balance_s > _RICH_TOKENS * self._costs.plain_s(plan.depth)
        if self.hopeless or self._since_probe < (_PROBE_FIRST if rich else self._probe_interval):
            return 0
        gamma = next((size for size in range(min(_PROBE_GAMMA, plan.room), 0, -1) if self._affords(size)), 0)
        plan.trial = _Trial.PROBE if gamma else None
        return gamma

    def _learn_from_unverified(self, token: Drafted, round_: Round, place: int) -> None:
        """The target's own token in the place of one that was drafted but not verified tells all the same.

        Only where one token was proposed for certain: the target picks it with the chance that it would be kept.
        """
        if place < len(round_.emitted) and len(token.distribution.ids) == 1:
            kept = round_.emitted[place].id == token.id
            self._acceptance.learn([bin_of(token)], int(kept), refused=not kept)

    def _follow_rate(self, emitted: int, wall_s: float, plain_s: float) -> None:
        """Averages seconds per token, so that the rate of a stretch is its tokens by its seconds."""
        old = self._going_rate(plain_s)
        weight = min(1.0, emitted / _RATE_TOKENS)
        self._rate = 1.0 / ((1 - weight) / old + weight * wall_s / emitted)

    def _going_rate(self, plain_s: float) -> float:
        """Tokens per second that time is worth now; never less than plain decoding brings."""
        return 1.0 / plain_s if self._rate is None else max(1.0 / plain_s, self._rate)

    def _count(self, round_: Round, emitted: int, accepted: int) -> None:
        if not round_.gamma:
            self._plain_due = max(0, self._plain_due - 1)
            self._plain_rounds += 1
            self._since_probe += emitted
            return
        self._drafting_rounds += 1
        if self._drafting_rounds == _REFIT_ROUNDS:
            self._plain_due, self._drafting_rounds = 1, 0
        self._since_probe = 0
        if self._plan.trial is not _Trial.PROBE:
            self._plain_rounds = 0
        elif accepted == round_.gamma:
            self._probe_interval = _PROBE_FIRST
        else:
            self._probe_interval = min(2 * self._probe_interval, _PROBE_LAST)

    def _best_speedup(self, first: float, later: float) -> float:
        """Of the draft model's best γ > 0, with these chances of the first drafted token and of each later one."""
        best, survival, tokens = 0.0, first, 1.0
        for gamma in range(1, self._plan.room + 1):
            tokens += survival
            survival *= later
            best = max(best, self._costs.speedup(gamma, tokens=tokens, depth=self._plan.depth))
        return best

    def _beats_model(self, speedup: float) -> bool:
        """Whether proposals that promise this speedup are better than what the draft model would bring."""
        return not self._plan.free or self._plan.model_speedup is None or speedup > self._plan.model_speedup

    def _gain(self, count: int, chance: float) -> float:
        """What the best longer round emits more than one of `count` drafted tokens, less what its time is worth.

        `chance` is that the next token is kept, with all before it.
        """
        plan, costs, steady = self._plan, self._costs, self._acceptance.steady
        rate = self._going_rate(costs.plain_s(plan.depth))
        verify_s = costs.verify_s(count + 1, plan.depth)
        best, tokens = 0.0, 0.0
        for more in range(1, plan.room - count + 1):
            tokens += chance
            chance *= steady
            seconds = costs.draft_s(more) + costs.verify_s(count + more + 1, plan.depth) - verify_s
            if not self._affords(count + more):
                break
            best = max(best, tokens - rate * seconds)
        return best

    def _affords(self, count: int) -> bool:
        """Whether the bank covers a round of `count` drafted tokens of which none is kept."""
        assert self._bank is not None, "nothing is drafted before plain decoding was timed"
        plan, costs = self._plan, self._costs
        drafting_s = 0.0 if plan.free else costs.draft_s(count, plan.lag)
        return self._bank.covers(drafting_s + costs.verify_s(count + 1, plan.depth) - costs.plain_s(plan.depth))


class _Trial(Enum):
    """Why to verify what is drafted, whatever it promises."""

    IN_STEP = auto()
    """The draft reads on, lest it falls behind."""
    PROBE = auto()
    """To see whether speculation would pay again."""


@dataclass(slots=True)
class _Plan:
    """The round that runs."""

    room: int = 0
    depth: int = 0
    free: bool = False
    """The drafter asked last costs nothing."""
    lag: int = 0
    trial: _Trial | None = None
    model_speedup: float | None = None
    passed_over: Drafted | None = None
    """First proposal of a free drafter that was not worth verifying."""
