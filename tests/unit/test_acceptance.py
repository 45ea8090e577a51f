"""The acceptance rules against their closed forms."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from desktop_app.core import acceptance, noise
from desktop_app.core.acceptance import (
    AcceptanceRule,
    Drafted,
    GreedyRule,
    Kept,
    Refused,
    RejectionRule,
    SharedNoiseRule,
    rule_for,
)
from desktop_app.core.sampling import Distribution, Logits, filtered, residual, total_variation
from desktop_app.core.settings import Rule, Sampling
from tests.helpers.chi_square import critical_value, misfit

VOCABULARY = 12
DRAWS = 100_000

TRUNCATED = Sampling(temperature=0.9, top_k=7, top_p=0.97, min_p=0.02)
OPEN = Sampling(temperature=1.3, top_k=0, top_p=1.0, min_p=0.0)
RANDOM_PAIRS = [(seed, sampling) for seed, sampling in enumerate((TRUNCATED, OPEN, TRUNCATED))]


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remember what `filtered` gives for a row: a test judges the same few rows a hundred thousand times."""
    known: dict[tuple[int, Sampling], tuple[Logits, Distribution]] = {}

    def remembered(logits: Logits, sampling: Sampling) -> Distribution:
        key = (id(logits), sampling)
        if key not in known:
            known[key] = logits, filtered(logits, sampling)
        return known[key][1]

    monkeypatch.setattr(acceptance, "filtered", remembered)


def logits_pair(seed: int) -> tuple[Logits, Logits]:
    """Logits of a target and of a draft that resembles it."""
    random = np.random.default_rng(seed)
    target = random.normal(scale=1.8, size=VOCABULARY).astype(np.float32)
    return target, (target + random.normal(scale=1.2, size=VOCABULARY)).astype(np.float32)


def everywhere(distribution: Distribution) -> list[float]:
    return [distribution.prob(token) for token in range(VOCABULARY)]


class Outcome:
    """What `DRAWS` rounds of one drafted token gave."""

    def __init__(self, rule: AcceptanceRule, draft: Callable[[range], Drafted], target: Logits) -> None:
        self.emitted: Counter[int] = Counter()
        self.kept = 0
        self.chances = 0.0
        for position in range(DRAWS):
            # Only its length, the position, matters to a rule without penalty.
            history = range(position)
            drafted = draft(history)
            judgement = rule.judge(drafted, target, history)
            self.chances += judgement.chance
            if isinstance(judgement, Kept):
                self.kept += 1
                self.emitted[drafted.id] += 1
            else:
                self.emitted[judgement.instead.id] += 1

    def counts(self) -> list[int]:
        return [self.emitted[token] for token in range(VOCABULARY)]

    def agrees_with(self, rate: float) -> bool:
        """Whether as many were kept as a chance of `rate` lets expect, within four standard deviations."""
        return abs(self.kept - DRAWS * rate) <= 4 * math.sqrt(DRAWS * rate * (1 - rate))


@pytest.mark.usefixtures("quick")
class TestRejection:
    @pytest.mark.parametrize(("seed", "sampling"), RANDOM_PAIRS)
    def test_emits_the_targets_distribution_and_keeps_one_minus_tv(self, seed: int, sampling: Sampling) -> None:
        target, draft = logits_pair(seed)
        p, q = filtered(target, sampling), filtered(draft, sampling)
        assert sampling is OPEN or set(p.ids) != set(q.ids), "the supports should differ"
        rule = RejectionRule(sampling, seed=100 + seed)

        outcome = Outcome(rule, lambda history: rule.draft(draft, history), target)

        assert misfit(outcome.counts(), everywhere(p)) is None
        assert outcome.agrees_with(1 - total_variation(p, q))
        assert outcome.chances / DRAWS == pytest.approx(1 - total_variation(p, q), abs=0.01)

    def test_a_certain_draft_is_kept_with_p_and_leaves_p_without_it(self) -> None:
        target, _ = logits_pair(3)
        p = filtered(target, TRUNCATED)
        token = int(p.ids[1])
        rule = RejectionRule(TRUNCATED, seed=5)

        outcome = Outcome(rule, lambda _history: Drafted.copied(token, 2), target)

        assert misfit(outcome.counts(), everywhere(p)) is None
        assert outcome.agrees_with(p.prob(token))

    def test_an_argmax_draft_that_claims_its_q_is_biased(self) -> None:
        """The rule needs a draft *sampled* from q. This bias is what the tests above must be able to see."""
        target = np.log(np.array([0.5, 0.3, 0.2] + [1e-9] * 9)).astype(np.float32)
        draft = np.log(np.array([0.6, 0.25, 0.15] + [1e-9] * 9)).astype(np.float32)
        sampling = Sampling(temperature=1.0, top_k=3, top_p=1.0, min_p=0.0)
        q = filtered(draft, sampling)
        rule = RejectionRule(sampling, seed=1)

        outcome = Outcome(rule, lambda _history: Drafted(0, q.prob(0), q), target)

        assert misfit(outcome.counts(), everywhere(filtered(target, sampling))) is not None
        assert outcome.emitted[0] / DRAWS > 0.8

    def test_picks_from_the_targets_distribution(self) -> None:
        target, _ = logits_pair(4)
        rule = RejectionRule(TRUNCATED, seed=9)

        picks = Counter(rule.pick(target, range(position)).id for position in range(DRAWS))

        counts = [picks[token] for token in range(VOCABULARY)]
        assert misfit(counts, everywhere(filtered(target, TRUNCATED))) is None


@pytest.mark.usefixtures("quick")
class TestSharedNoise:
    @pytest.mark.parametrize(("seed", "sampling"), RANDOM_PAIRS[:2])
    def test_emits_the_targets_distribution_and_keeps_by_the_closed_form(self, seed: int, sampling: Sampling) -> None:
        target, draft = logits_pair(seed)
        p, q = filtered(target, sampling), filtered(draft, sampling)
        rule = SharedNoiseRule(sampling, seed=200 + seed)

        outcome = Outcome(rule, lambda history: rule.draft(draft, history), target)

        assert misfit(outcome.counts(), everywhere(p)) is None
        # Daliri et al. 2024: both pick x with probability 1 / Σ_y max(p(y)/p(x), q(y)/q(x)).
        both = sum(q.prob(token) * noise.agreement(p, q, token) for token in range(VOCABULARY))
        assert outcome.agrees_with(both)
        assert outcome.chances / DRAWS == pytest.approx(both, abs=0.01)
        tv = total_variation(p, q)
        assert (1 - tv) / (1 + tv) <= both <= 1 - tv + 1e-12

    def test_writes_what_it_would_have_picked_without_a_draft(self) -> None:
        target, draft = logits_pair(6)
        rule = SharedNoiseRule(TRUNCATED, seed=3)

        for position in range(2_000):
            history = range(position)
            drafted = rule.draft(draft, history)
            judgement = rule.judge(drafted, target, history)
            written = drafted.id if isinstance(judgement, Kept) else judgement.instead.id
            assert written == rule.pick(target, history).id

    def test_a_certain_draft_is_kept_as_often_as_p_says(self) -> None:
        target, _ = logits_pair(7)
        p = filtered(target, OPEN)
        token = int(p.ids[np.argmax(p.probs)])
        rule = SharedNoiseRule(OPEN, seed=8)

        outcome = Outcome(rule, lambda _history: Drafted.copied(token, 2), target)

        assert outcome.agrees_with(p.prob(token))
        assert outcome.chances / DRAWS == pytest.approx(p.prob(token))


@pytest.mark.parametrize("rule_class", [RejectionRule, SharedNoiseRule])
class TestEdges:
    def test_a_token_the_target_can_not_write_is_refused(
        self, rule_class: type[RejectionRule | SharedNoiseRule]
    ) -> None:
        target = np.full(VOCABULARY, -np.inf, np.float32)
        target[[2, 5]] = 1.0
        rule = rule_class(OPEN, seed=0)

        for position in range(500):
            judgement = rule.judge(Drafted.copied(7, 2), target, range(position))
            assert isinstance(judgement, Refused)
            assert (judgement.p, judgement.chance) == (0.0, 0.0)
            assert judgement.instead.id in {2, 5}
            assert judgement.instead.p == pytest.approx(0.5)

    def test_equal_distributions_keep_everything(self, rule_class: type[RejectionRule | SharedNoiseRule]) -> None:
        target, _ = logits_pair(11)
        rule = rule_class(TRUNCATED, seed=0)

        for position in range(500):
            judgement = rule.judge(rule.draft(target, range(position)), target, range(position))
            assert isinstance(judgement, Kept)
            assert judgement.chance == pytest.approx(1.0)

    def test_the_same_seed_repeats_itself_and_another_does_not(
        self, rule_class: type[RejectionRule | SharedNoiseRule]
    ) -> None:
        target, _ = logits_pair(12)

        def text(seed: int) -> list[int]:
            rule = rule_class(OPEN, seed)
            return [rule.pick(target, range(position)).id for position in range(64)]

        assert text(1) == text(1)
        assert text(1) != text(2)

    def test_the_penalty_reaches_draft_judgement_and_pick(
        self, rule_class: type[RejectionRule | SharedNoiseRule]
    ) -> None:
        logits = np.array([4.0, 3.0] + [-30.0] * 10, np.float32)
        sampling = Sampling(temperature=1.0, top_k=0, top_p=1.0, min_p=0.0, repeat_penalty=100.0, repeat_last_n=2)
        rule = rule_class(sampling, seed=0)

        written = [0, 1, 1]  # token 0 stands outside the window of two
        shares = {0: pytest.approx(0.98, abs=0.01), 1: pytest.approx(0.02, abs=0.01)}
        drafted, own = rule.draft(logits, written), rule.pick(logits, written)
        assert drafted.q == shares[drafted.id]
        assert own.p == shares[own.id]
        assert rule.judge(Drafted.copied(1, 2), logits, written).p == pytest.approx(0.02, abs=0.01)


class TestGreedy:
    RULE = GreedyRule(Sampling(temperature=0.0))

    def test_the_lowest_id_wins_a_tie(self) -> None:
        logits = np.array([1.0, 3.0, 3.0, 0.0], np.float32)

        assert self.RULE.pick(logits, []).id == 1
        assert isinstance(self.RULE.judge(Drafted.copied(1, 2), logits, []), Kept)
        assert isinstance(self.RULE.judge(Drafted.copied(2, 2), logits, []), Refused)

    def test_shows_the_softmax(self) -> None:
        logits = np.log(np.array([0.5, 0.3, 0.2])).astype(np.float32)

        judgement = self.RULE.judge(Drafted.copied(2, 2), logits, [])

        assert isinstance(judgement, Refused)
        assert judgement.p == pytest.approx(0.2, rel=1e-5)
        assert judgement.instead.p == pytest.approx(0.5, rel=1e-5)

    def test_penalises_what_was_just_written(self) -> None:
        rule = GreedyRule(Sampling(temperature=0.0, repeat_penalty=2.0, repeat_last_n=1))
        logits = np.array([4.0, 3.0, -1.0], np.float32)

        assert rule.pick(logits, [0]).id == 1
        assert rule.pick(logits, [0, 2]).id == 0

    def test_survives_logits_of_minus_infinity(self) -> None:
        logits = np.array([-np.inf, 2.0, -np.inf], np.float32)

        judgement = self.RULE.judge(Drafted.copied(0, 2), logits, [])

        assert isinstance(judgement, Refused)
        assert judgement.p == 0.0
        assert judgement.instead.p == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("sampling", "rule", "expected"),
    [
        (Sampling(temperature=0.0), Rule.REJECTION, GreedyRule),
        (Sampling(temperature=0.0), Rule.SHARED_NOISE, GreedyRule),
        (Sampling(temperature=0.7), Rule.REJECTION, RejectionRule),
        (Sampling(temperature=0.7), Rule.SHARED_NOISE, SharedNoiseRule),
    ],
)
def test_the_settings_name_the_rule(sampling: Sampling, rule: Rule, expected: type) -> None:
    assert type(rule_for(sampling, rule, seed=1)) is expected


def test_the_residual_is_what_p_has_over_q() -> None:
    p = Distribution(np.array([1, 4, 6]), np.array([0.5, 0.3, 0.2]))
    q = Distribution(np.array([1, 2, 6]), np.array([0.7, 0.2, 0.1]))

    rest = residual(p, q)

    assert everywhere(rest) == pytest.approx([0, 0, 0, 0, 0.75, 0, 0.25, 0, 0, 0, 0, 0])


def test_where_nothing_remains_the_residual_is_p() -> None:
    p = Distribution(np.array([1, 4]), np.array([0.5, 0.5]))

    assert residual(p, p) is p


def test_chi_square_limits_match_the_tables() -> None:
    assert critical_value(1) == pytest.approx(10.83, rel=0.04)
    assert critical_value(10) == pytest.approx(29.59, rel=0.01)
    assert critical_value(100) == pytest.approx(149.45, rel=0.01)
