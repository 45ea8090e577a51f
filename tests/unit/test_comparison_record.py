"""What is compared with what, and the figures that come of it."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from desktop_app.core.difference import TextPair
from desktop_app.core.rounds import Round
from desktop_app.core.settings import AnswerSettings, DraftSource, Rule, Sampling, Speculation
from desktop_app.protocol.messages import ChatMessage, Finished, Prefilling, Role, Stop
from desktop_app.services.comparison_record import (
    ComparisonRecord,
    Plan,
    Run,
    Side,
    Spread,
    Verdict,
    with_common_rule,
)
from desktop_app.services.comparison_report import json_of, report_of
from desktop_app.services.turn import Turn, TurnState
from tests.fakes.scripted_engine import WORDS, parted, rounds_of
from tests.fakes.timed_rounds import slowed

PLAIN = Speculation(enabled=False, rule=Rule.SHARED_NOISE)
DRAFTED = Speculation(gamma=3, rule=Rule.SHARED_NOISE)
MESSAGES = (ChatMessage(Role.USER, "Hi"), ChatMessage(Role.ASSISTANT, "Hello"), ChatMessage(Role.USER, "Count"))


def plan(a: Speculation = PLAIN, b: Speculation = DRAFTED, *, temperature: float = 0.0, repeats: int = 3) -> Plan:
    return Plan(MESSAGES, AnswerSettings(Sampling(temperature, seed=7)), a, b, repeats)


def run(side: Side, repeat: int, rounds: tuple[Round, ...], *, state: TurnState = TurnState.FINISHED) -> Run:
    turn = Turn(0, 0, repeat, "Count", plan().settings(side), state=state, prefill=Prefilling(1, 10, 10, 9))
    for round_ in rounds:
        turn.answer.add(round_, 0)
    turn.answer.close(len(turn.answer.text))
    turn.ending = Finished(1, Stop.END, turn.answer.visible, "", 7, 0.1, 0.05)
    return Run(side, repeat, turn)


def rounds(side: Side, slow: float = 1.0) -> tuple[Round, ...]:
    return tuple(slowed(round_, slow) for round_ in rounds_of(WORDS, 0 if side is Side.A else 3))


def test_sides_take_turns_at_going_first() -> None:
    order = [(side.value, repeat) for side, repeat in plan().order()]
    assert order == [("a", 0), ("b", 0), ("b", 1), ("a", 1), ("a", 2), ("b", 2)]


def test_only_the_speculation_differs_between_the_sides() -> None:
    a, b = (plan().settings(side) for side in Side)
    assert replace(a, speculation=b.speculation) == b
    assert (a.speculation, b.speculation) == (PLAIN, DRAFTED)


@pytest.mark.parametrize(
    ("a", "b", "temperature", "comparable"),
    [
        (PLAIN, DRAFTED, 0.0, True),
        (replace(PLAIN, rule=Rule.REJECTION), DRAFTED, 0.0, True),
        (PLAIN, DRAFTED, 0.8, True),
        (replace(PLAIN, rule=Rule.REJECTION), DRAFTED, 0.8, False),
        (replace(DRAFTED, rule=Rule.REJECTION), replace(DRAFTED, rule=Rule.REJECTION), 0.8, False),
    ],
)
def test_when_texts_should_be_the_same(a: Speculation, b: Speculation, temperature: float, comparable: bool) -> None:
    assert plan(a, b, temperature=temperature).comparable is comparable


def test_a_side_without_a_draft_samples_as_the_other() -> None:
    rejecting = replace(DRAFTED, rule=Rule.REJECTION)
    assert with_common_rule(PLAIN, rejecting) == (replace(PLAIN, rule=Rule.REJECTION), rejecting)
    none = replace(DRAFTED, source=DraftSource.NONE)
    assert with_common_rule(rejecting, none) == (rejecting, replace(none, rule=Rule.REJECTION))
    assert with_common_rule(DRAFTED, rejecting) == (DRAFTED, rejecting), "what drafts keeps its own rule"


class TestFigures:
    @pytest.fixture
    def record(self) -> ComparisonRecord:
        """Three pairs, the third twice as slow on both sides, and a run of a fourth that was stopped."""
        runs = [run(side, repeat, rounds(side, slow)) for repeat, slow in enumerate((1, 1, 2)) for side in Side]
        stopped = run(Side.A, 3, rounds(Side.A), state=TurnState.CANCELLED)
        return ComparisonRecord(plan(repeats=4), runs=[*runs, stopped])

    def test_only_partners_are_compared(self, record: ComparisonRecord) -> None:
        assert [(pair.a.repeat, pair.b.repeat) for pair in record.pairs] == [(0, 0), (1, 1), (2, 2)]
        speedup = record.speedup
        assert speedup is not None
        assert speedup.count == 3
        assert speedup.low == pytest.approx(speedup.high), "drift that hits both partners cancels"

    def test_speeds_are_medians_with_their_spread(self, record: ComparisonRecord) -> None:
        speed = record.figures(Side.A).tok_per_s
        assert speed is not None
        assert speed.count == 3
        assert [speed.median, speed.high] == pytest.approx([1 / 0.0115] * 2)
        assert speed.low == pytest.approx(speed.high / 2)

    def test_acceptance_is_over_all_runs(self, record: ComparisonRecord) -> None:
        tally = record.of(Side.B)[0].turn.answer.tally
        assert record.figures(Side.B).acceptance_rate == tally.acceptance_rate
        assert record.figures(Side.B).tokens_per_pass == tally.tokens_per_pass
        assert record.figures(Side.A).acceptance_rate is None
        assert record.figures(Side.A).tokens_per_pass == 1.0

    def test_equal_texts_do_not_part(self, record: ComparisonRecord) -> None:
        assert record.partings() == []

    def test_a_parting_that_repeats_counts_once(self) -> None:
        other = tuple(parted(rounds(Side.B), at=4))
        runs = [run(side, repeat, rounds(side) if side is Side.A else other) for repeat in range(2) for side in Side]
        record = ComparisonRecord(plan(), runs=runs)
        (pair,) = record.partings()
        assert pair.parting == 4
        assert pair.texts(record.plan) == TextPair(
            pair.a.token_ids, pair.b.token_ids, record.plan.answer.sampling, Rule.SHARED_NOISE, pass_size=4
        )

    def test_the_report_holds_everything(self, record: ComparisonRecord) -> None:
        record.verdict = Verdict(record.pairs[0], expected=True, parting=None)
        found = msgspec.json.decode(json_of(record))
        report = report_of(record)
        assert [each["content"] for each in found["messages"]] == ["Hi", "Hello", "Count"]
        assert (found["sampling"]["seed"], found["repeats"]) == (7, 4)
        assert (found["sides"]["b"]["speculation"]["gamma"], len(found["runs"])) == (3, 7)
        assert found["speedup"]["spread"]["median"] == report.speedup.pairs[0]
        assert found["verdict"] == {
            "expected_same": True,
            "same": True,
            "repeat": 0,
            "first_difference": None,
            "difference": None,
        }
        assert found["versions"]["draftglass"]
        last = found["runs"][-1]
        assert (last["state"], last["text"], last["reused"]) == ("cancelled", "".join(WORDS), 9)
        assert last["token_ids"] == list(range(10))
        assert last["seconds"] == pytest.approx(last["draft_s"] + last["verify_s"] + last["sample_s"] + last["rest_s"])
        assert [token["text"] for round_ in last["rounds"] for token in round_["tokens"]] == list(WORDS)


def test_a_spread_of_nothing_is_unknown() -> None:
    assert Spread.of([]) is None
    assert Spread.of([2.0, 1.0, 4.0]) == Spread(2.0, 1.0, 4.0, 3)
