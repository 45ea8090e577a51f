"""Which plain speed an answer is compared with."""

from __future__ import annotations

from dataclasses import replace

import pytest

from desktop_app.core.baseline import Baseline, BaselineSource
from desktop_app.core.facts import Costs
from desktop_app.core.metrics import Tally
from desktop_app.core.settings import ModelSettings, Sampling
from desktop_app.protocol.messages import ChatMessage, Role
from desktop_app.services.baselines import MIN_TOKENS, Baselines
from tests.fakes.scripted_engine import facts, rounds_of

TARGET = facts(ModelSettings("/m/target.gguf"))
PROMPT = (ChatMessage(Role.USER, "Hello"),)
OTHER_PROMPT = (ChatMessage(Role.USER, "Hello!"),)
COSTS = Costs(32, ((1, 0.1),), None)
GREEDY = Sampling(temperature=0.0)


def tally(tokens: int, gamma: int = 0) -> Tally:
    return Tally.of(rounds_of(("word ",) * tokens, gamma))


def test_a_plain_answer_to_this_prompt_tells_most() -> None:
    baselines = Baselines()
    baselines.record(TARGET, PROMPT, GREEDY, tally(8))
    found = baselines.find(TARGET, PROMPT, GREEDY, COSTS)
    assert found is not None
    assert found.source is BaselineSource.THIS_PROMPT
    assert found.tok_per_s == pytest.approx(1 / 0.0115)


@pytest.mark.parametrize(
    ("prompt", "sampling"), [(OTHER_PROMPT, GREEDY), (PROMPT, Sampling(temperature=0.5)), (PROMPT, Sampling())]
)
def test_another_prompt_or_sampling_takes_the_last_plain_answer(
    prompt: tuple[ChatMessage, ...], sampling: Sampling
) -> None:
    baselines = Baselines()
    baselines.record(TARGET, PROMPT, GREEDY, tally(8))
    found = baselines.find(TARGET, prompt, sampling, COSTS)
    assert found is not None
    assert found.source is BaselineSource.LAST_PLAIN


@pytest.mark.parametrize("other", [{"path": "/m/other.gguf"}, {"gpu_layers": 9}, {"threads": 7}])
def test_another_target_or_other_hardware_takes_the_calibration(other: dict[str, object]) -> None:
    baselines = Baselines()
    baselines.record(TARGET, PROMPT, GREEDY, tally(8))
    elsewhere = replace(TARGET, **other)  # type: ignore[arg-type]  # fields of ModelFacts
    assert baselines.find(elsewhere, PROMPT, GREEDY, COSTS) == Baseline(10.0, BaselineSource.CALIBRATION, 32)
    assert baselines.find(elsewhere, PROMPT, GREEDY, None) is None


@pytest.mark.parametrize("ignored", [tally(MIN_TOKENS - 1), tally(20, gamma=4), tally(0)])
def test_short_and_drafted_answers_are_no_baseline(ignored: Tally) -> None:
    baselines = Baselines()
    baselines.record(TARGET, PROMPT, GREEDY, ignored)
    assert baselines.find(TARGET, PROMPT, GREEDY, None) is None


def test_speedup_is_unknown_without_a_speed() -> None:
    baseline = Baseline(20.0, BaselineSource.LAST_PLAIN)
    assert baseline.speedup(50.0) == 2.5
    assert baseline.speedup(None) is None
    assert Baseline(0.0, BaselineSource.LAST_PLAIN).speedup(5.0) is None
