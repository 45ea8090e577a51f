"""The parts of auto γ: the time bank, what rounds cost, and what becomes of drafted tokens."""

from __future__ import annotations

import pytest

from desktop_app.core.acceptance import Drafted
from desktop_app.core.facts import Costs
from desktop_app.core.pacing.acceptance import START, AcceptanceModel, bin_of
from desktop_app.core.pacing.bank import ALLOWANCE, TimeBank
from desktop_app.core.pacing.costs import CostModel
from desktop_app.core.rounds import Seconds
from desktop_app.core.sampling import Distribution

COSTS = Costs(100, ((1, 0.1), (2, 0.12), (5, 0.18), (17, 0.42)), 0.01, plain_per_depth=0.0001)


class TestTimeBank:
    def test_what_an_answer_may_lose_is_its_allowance_however_it_goes(self) -> None:
        bank = TimeBank(1.0, answer_tokens=1000)
        lost = 0.0
        for _ in range(1000):
            loss = 0.2 if bank.covers(0.2) else 0.0
            lost += loss
            bank.settle(1, plain_s=1.0, wall_s=1.0 + loss)

        assert 0 < lost <= ALLOWANCE * 1000

    def test_a_short_answer_gets_no_more_credit_than_its_tokens_earn(self) -> None:
        assert TimeBank(1.0, answer_tokens=8).balance_s == pytest.approx(8 * ALLOWANCE)

    def test_a_good_stretch_pays_for_a_bad_one_only_up_to_the_cap(self) -> None:
        bank = TimeBank(1.0, answer_tokens=1000)
        for _ in range(1000):
            bank.settle(5, plain_s=1.0, wall_s=1.0)

        assert bank.balance_s == 24.0

    def test_no_single_round_may_risk_all_of_it(self) -> None:
        bank = TimeBank(1.0, answer_tokens=1000)
        assert bank.covers(bank.balance_s / 2)
        assert not bank.covers(bank.balance_s * 0.6)


class TestCosts:
    def test_sizes_between_timed_ones_are_on_the_line_between_them(self) -> None:
        costs = CostModel(COSTS)
        assert costs.verify_s(3, 100) == pytest.approx(0.14)
        assert costs.verify_s(17, 100) == pytest.approx(0.42)

    def test_plain_steps_cost_more_in_a_longer_context(self) -> None:
        assert CostModel(COSTS).plain_s(1100) == pytest.approx(0.2)

    def test_the_latest_plain_steps_correct_the_calibration(self) -> None:
        costs = CostModel(COSTS)
        for _ in range(3):
            costs.learn(1, depth=100, drafted=0, lag=1, seconds=Seconds(verify=0.14))
        assert costs.plain_s(100) == pytest.approx(0.14)
        assert costs.verify_s(5, 100) == pytest.approx(0.18 * 1.4), "a slower machine is slower at every size"

    def test_one_hiccup_changes_nothing(self) -> None:
        costs = CostModel(COSTS)
        for verify_s in (0.1, 9.0, 0.1):
            costs.learn(1, depth=100, drafted=0, lag=1, seconds=Seconds(verify=verify_s))
        costs.learn(5, depth=100, drafted=4, lag=1, seconds=Seconds(draft=0.04, verify=5.0))
        assert costs.plain_s(100) == pytest.approx(0.1)
        assert costs.verify_s(5, 100) == pytest.approx(0.18)

    def test_a_draft_that_lags_pays_for_what_it_has_to_read(self) -> None:
        costs = CostModel(COSTS)
        assert costs.draft_s(4) == pytest.approx(0.04)
        costs.learn(5, depth=100, drafted=4, lag=52, seconds=Seconds(draft=0.24, verify=0.18))
        assert costs.catch_up_s == pytest.approx(0.2 / 50)
        assert costs.draft_s(2, lag=102) == pytest.approx(0.02 + 100 * 0.2 / 50)

    def test_nothing_is_known_before_a_first_plain_step(self) -> None:
        costs = CostModel(None)
        costs.learn(5, depth=10, drafted=4, lag=1, seconds=Seconds(verify=0.2))
        first = costs.known
        costs.learn(1, depth=10, drafted=0, lag=1, seconds=Seconds(verify=0.1))
        assert (first, costs.known) == (False, True)
        assert costs.plain_s(10) == pytest.approx(0.1)


class TestAcceptance:
    SURE, UNSURE = 6, 0

    def test_bins_follow_the_confidence_or_the_match(self) -> None:
        point = Distribution.point(1)
        assert bin_of(Drafted(1, 0.999, point, confidence=0.999)) == self.SURE
        assert bin_of(Drafted(1, 0.1, point, confidence=0.1)) == self.UNSURE
        assert bin_of(Drafted.copied(1, 2)) < bin_of(Drafted.copied(1, 20))

    def test_what_was_kept_and_refused_is_remembered_by_bin(self) -> None:
        model = AcceptanceModel()
        for _ in range(40):
            model.learn([self.SURE], 1, refused=False)
            model.learn([self.UNSURE], 0, refused=True)
        assert model.of(self.SURE) > 0.9
        assert model.of(self.UNSURE) < 0.2

    def test_tokens_behind_a_refused_one_teach_nothing(self) -> None:
        model = AcceptanceModel()
        before = model.of(self.SURE)
        model.learn([3, self.SURE], 0, refused=True)
        untouched = AcceptanceModel()
        untouched.learn([3], 0, refused=True)
        assert model.of(self.SURE) == untouched.of(self.SURE) < before, "only the mood has changed"

    def test_a_run_of_refusals_darkens_every_estimate_and_it_lifts_with_the_text(self) -> None:
        model = AcceptanceModel()
        for _ in range(30):
            model.learn([3], 1, refused=False)
        before = model.of(self.SURE)
        for _ in range(8):
            model.learn([3], 0, refused=True)
        dark = model.of(self.SURE)
        model.fade(200)
        assert dark < before
        assert dark < model.of(self.SURE)

    def test_prompt_lookup_says_nothing_about_the_model(self) -> None:
        model = AcceptanceModel()
        before = model.usual, model.after(START)
        for _ in range(20):
            model.learn([bin_of(Drafted.copied(1, 5))], 0, refused=True)
        model.fade(2000)
        assert (model.usual, model.after(START)) == pytest.approx(before, abs=0.01)
