"""Auto γ against worlds by script: what it gains, what it may lose, and how it finds out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from statistics import mean

import numpy as np
import pytest

from desktop_app.core.acceptance import Drafted, RejectionRule
from desktop_app.core.pacing import AutoPacer, Experience, FixedPacer, pacer_for
from desktop_app.core.rounds import Round
from desktop_app.core.sampling import Distribution
from desktop_app.core.settings import GAMMA_MAX, AnswerSettings, Sampling, Speculation
from desktop_app.core.speedup import expected_tokens
from tests.fakes.scripted_world import Curve, World

TOKENS = 512
ANSWERS = 4


def flat(n: int) -> float:
    """A GPU far from busy."""
    return 1 + 0.01 * (n - 1)


def gentle(n: int) -> float:
    return 1 + 0.1 * (n - 1)


def _measured(*points: tuple[int, float]) -> Curve:
    """Linear between measured sizes."""

    def curve(n: int) -> float:
        low, high = next(pair for pair in pairwise(points) if n <= pair[1][0])
        return low[1] + (high[1] - low[1]) * (n - low[0]) / (high[0] - low[0])

    return curve


f16 = _measured((1, 1), (2, 1.3), (3, 1.6), (4, 2.1), (5, 2.0), (6, 2.1), (8, 2.6), (16, 4.7), (17, 5.0))
"""A 1.5B with F16 weights on two cores, measured."""
q4 = _measured((1, 1), (2, 1.8), (3, 3.0), (4, 3.3), (5, 3.6), (6, 4.2), (8, 7.9), (16, 9.3), (17, 9.9))
"""Its Q4_K_M form, measured: passes over several tokens are dear."""

ALPHAS = (0.0, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97)


def always(alpha: float) -> Callable[[int], float]:
    return lambda _place: alpha


def turning(every: int, first: float, second: float) -> Callable[[int], float]:
    return lambda place: second if (place // every) % 2 else first


def seconds(rounds: list[Round]) -> float:
    return sum(round_.seconds.total for round_ in rounds)


def session(world: World, seed: int = 0, answers: int = ANSWERS) -> list[list[Round]]:
    """Answers one after the other, with what was learned kept from each to the next."""
    experience = Experience(world.costs)
    return [
        world.answer(AutoPacer(experience, has_model=True, answer_tokens=TOKENS), TOKENS, 100 * seed + answer)
        for answer in range(answers)
    ]


def best_fixed(world: World, alpha: float) -> float:
    """Seconds a token of the best γ, 0 included, by the cost model: with a steady α it is exact."""
    return min(
        (gamma * world.draft_cost + world.curve(gamma + 1)) / expected_tokens(alpha, gamma)
        for gamma in range(GAMMA_MAX + 1)
    )


class TestAuto:
    @pytest.mark.parametrize("curve", [flat, gentle, f16, q4], ids=["flat", "gentle", "f16", "q4"])
    @pytest.mark.parametrize("draft_cost", [0.02, 0.1, 0.25])
    def test_loses_little_against_the_best_fixed_gamma_and_never_much_against_plain(
        self, curve: Curve, draft_cost: float
    ) -> None:
        """The figure is of a session of four answers; over the α of the grid it stays below 5 %.

        Single worlds exceed it where only rounds pay that risk more than the time bank may hold.
        """
        regrets = []
        for alpha in ALPHAS:
            world = World(always(alpha), draft_cost, curve)
            times = [seconds(answer) / TOKENS for answer in session(world)]
            assert max(times) <= 1.03, f"slower than plain at α {alpha}"
            regrets.append(mean(times) / best_fixed(world, alpha) - 1)

        assert mean(regrets) <= 0.05, dict(zip(ALPHAS, regrets, strict=True))
        assert max(regrets) <= 0.2, dict(zip(ALPHAS, regrets, strict=True))

    @pytest.mark.parametrize("curve", [flat, gentle, f16], ids=["flat", "gentle", "f16"])
    @pytest.mark.parametrize("every", [50, 100])
    def test_follows_a_text_that_turns_from_hard_to_easy_and_back(self, curve: Curve, every: int) -> None:
        world = World(turning(every, 0.95, 0.1), 0.02, curve)
        fixed = [world.answer(FixedPacer(gamma, has_model=True), TOKENS, 1) for gamma in (1, 2, 3, 4, 6, 8, 12, 16)]
        answers = session(world)

        assert max(seconds(answer) for answer in answers) <= 1.03 * TOKENS
        assert mean(seconds(answer) for answer in answers) <= 1.05 * min(map(seconds, fixed))

    def test_is_faster_than_any_fixed_gamma_where_the_draft_knows_what_it_knows(self) -> None:
        world = World(always(0.7), 0.1, gentle, telling=True)
        fixed = [world.answer(FixedPacer(gamma, has_model=True), TOKENS, 1) for gamma in range(1, GAMMA_MAX + 1)]
        answers = session(world)

        assert mean(seconds(answer) for answer in answers[1:]) < min(map(seconds, fixed))

    @pytest.mark.parametrize("factor", [0.7, 1.4])
    @pytest.mark.parametrize("alpha", [0.2, 0.6, 0.9])
    def test_a_machine_that_slows_down_or_recovers_does_not_fool_it(self, factor: float, alpha: float) -> None:
        """Plain decoding would have been slower or faster just as well."""
        world = World(always(alpha), 0.1, f16, drift=lambda place: 1 + (factor - 1) * min(place / 200, 1))

        for answer in session(world):
            assert seconds(answer) <= 1.03 * world.plain_seconds(TOKENS)

    def test_a_wrong_calibration_is_found_out(self) -> None:
        """Calibrated as if passes over many tokens cost nothing; they cost what they cost."""
        world = World(always(0.5), 0.3, q4)
        hopeful = replace(world.costs, passes=tuple((n, 1.0) for n in range(1, GAMMA_MAX + 2)))
        pacer = AutoPacer(Experience(hopeful), has_model=True, answer_tokens=TOKENS)

        assert seconds(world.answer(pacer, TOKENS, 3)) <= 1.04 * TOKENS

    def test_without_a_calibration_it_begins_plainly_and_learns(self) -> None:
        world = World(always(0.9), 0.02, flat)
        rounds = world.answer(AutoPacer(Experience(), has_model=True, answer_tokens=TOKENS), TOKENS, 4)

        assert rounds[0].gamma == 0
        assert seconds(rounds) < 0.5 * TOKENS

    def test_turns_off_and_says_so_then_on_again_by_itself(self) -> None:
        world = World(turning(200, 0.0, 0.97), 0.0, gentle)
        pacer = AutoPacer(Experience(world.costs), has_model=True, answer_tokens=TOKENS)
        states = []
        learn = pacer.learn

        def noting(round_: Round, drafted: list[Drafted]) -> None:
            learn(round_, drafted)
            states.append((round_.position, pacer.pace.speculating))

        pacer.learn = noting  # type: ignore[method-assign, assignment]
        world.answer(pacer, 400, 5)

        assert mean(speculating for place, speculating in states if 100 <= place < 200) < 0.3
        assert pacer.pace.expected_speedup is not None
        assert all(speculating for place, speculating in states if place >= 320)

    def test_no_draft_is_asked_where_none_could_pay(self) -> None:
        world = World(always(1.0), 1.1, f16)
        pacer = AutoPacer(Experience(world.costs), has_model=True, answer_tokens=TOKENS)

        assert pacer.hopeless
        assert all(round_.gamma == 0 for round_ in world.answer(pacer, TOKENS, 6))
        assert not pacer.pace.speculating

    def test_sizes_above_the_lower_envelope_are_left_out(self) -> None:
        """Where four tokens cost more than five, as some kernels have it, four are never verified."""
        dented = _measured((1, 1), (2, 1.2), (3, 1.4), (4, 2.4), (5, 1.7), (9, 2.2), (17, 3.2))
        rounds = [round_ for answer in session(World(always(0.8), 0.02, dented)) for round_ in answer]
        sizes = {round_.gamma + 1 for round_ in rounds if round_.position + GAMMA_MAX < TOKENS}

        assert 4 not in sizes
        assert len(sizes) > 3

    def test_now_and_then_a_plain_step_keeps_the_plain_cost_known(self) -> None:
        world = World(always(1.0), 0.02, flat)
        rounds = session(world, answers=1)[0]
        plain = [round_.index for round_ in rounds if round_.gamma == 0]

        assert plain[:2] == [0, 1]
        assert all(after - before <= 65 for before, after in pairwise([*plain, len(rounds)]))


class TestExactness:
    """Whether a token is verified may depend on what it was drawn from, never on which token was drawn."""

    @pytest.mark.parametrize("world", [World(always(0.5), 0.1, f16), World(always(0.9), 0.1, q4)], ids=["f16", "q4"])
    def test_the_drawn_token_makes_no_difference(self, world: World) -> None:
        experience = Experience(world.costs)
        world.answer(AutoPacer(experience, has_model=True, answer_tokens=TOKENS), TOKENS, 7)
        q = Distribution(np.array([3, 4, 5]), np.array([0.5, 0.3, 0.2]))
        kept = set()
        for token, prob in zip(q.ids, q.probs, strict=True):
            pacer = AutoPacer(experience, has_model=True, answer_tokens=TOKENS)
            world.answer(pacer, 2, 9)  # the plain steps at the start
            pacer.begin(room=8, depth=10)
            pacer.limit(free=False, lag=1)
            kept.add(pacer.keep([Drafted(int(token), float(prob), q, confidence=0.5)] * 3))

        assert len(kept) == 1

    def test_a_sampled_draft_tells_how_sure_it_is_not_how_likely_its_token_was(self) -> None:
        rule = RejectionRule(Sampling(temperature=1.0, top_k=0, top_p=1, min_p=0), seed=1)
        logits = np.log(np.array([0.6, 0.3, 0.1])).astype(np.float32)
        drafted = [rule.draft(logits, [0]) for _ in range(50)]

        assert {round(token.confidence, 3) for token in drafted} == {0.6}
        assert {round(token.q, 3) for token in drafted} == {0.6, 0.3, 0.1}


class TestFixed:
    def test_drafts_what_was_chosen_as_far_as_there_is_room(self) -> None:
        pacer = pacer_for(AnswerSettings(speculation=Speculation(gamma=6)), Experience(), has_model=True)
        pacer.begin(room=4, depth=0)
        assert pacer.limit(free=False, lag=0) == 4
        pacer.begin(room=16, depth=0)
        assert pacer.limit(free=False, lag=0) == 6
        assert pacer.pace is None

    @pytest.mark.parametrize(("match", "kept"), [(2, 0), (3, 0), (4, 2), (9, 2)])
    def test_beside_a_draft_model_prompt_lookup_needs_a_long_match(self, match: int, kept: int) -> None:
        pacer = FixedPacer(4, has_model=True)
        assert pacer.keep([Drafted.copied(1, match), Drafted.copied(2, match + 1)]) == kept

    def test_alone_it_takes_any_match(self) -> None:
        assert FixedPacer(4, has_model=False).keep([Drafted.copied(1, 2)]) == 1


class TestBothDrafters:
    def test_auto_takes_the_long_match_and_leaves_the_short_one_to_a_good_model(self) -> None:
        world = World(always(0.9), 0.02, gentle)
        experience = Experience(world.costs)
        world.answer(AutoPacer(experience, has_model=True, answer_tokens=TOKENS), TOKENS, 8)

        def kept(match: int) -> int:
            pacer = AutoPacer(experience, has_model=True, answer_tokens=TOKENS)
            world.answer(pacer, 2, 9)  # the plain steps at the start
            pacer.begin(room=8, depth=10)
            pacer.limit(free=True, lag=0)
            return pacer.keep([Drafted.copied(token, match + token) for token in range(8)])

        assert kept(2) == 0
        assert kept(24) > 4
