"""Speculation never changes the text: the same tokens as plain decoding."""

from __future__ import annotations

from dataclasses import replace

import pytest

from desktop_app.core.facts import Costs
from desktop_app.core.rounds import Kind
from desktop_app.core.settings import AnswerSettings, DraftSource, Rule, Sampling, Speculation
from desktop_app.engine.pair import Pair
from tests.model.helpers import GREEDY, PLAIN, run_answer, speculating

pytestmark = pytest.mark.model

PROMPTS = (
    "Write a haiku about the sea.",
    "What is the capital of France?",
    "Count from one to twenty.",
    "Explain photosynthesis to a child.",
    "Write a Python function that reverses a string.",
    "List five fruits.",
    "Translate 'good morning' to Spanish, German and Japanese.",
    "Tell me a short story about a lighthouse keeper.",
    "Give me a recipe for pancakes.",
    "Why is the sky blue?",
    "Write a JSON object that describes a book.",
    "Summarise: The cat sat on the mat. The dog barked at the cat. The cat ran away.",
    "What is 17 times 23?",
    "Name three emojis and say what they mean: 😀 🚀 🌊",
    "Continue: Once upon a time,",
    "Correct the spelling: I hav a bigg red bal.",
    "Who wrote Hamlet?",
    "Write a SQL query that counts users by country.",
    "Give two synonyms for 'happy'.",
    "Write a limerick about a programmer.",
)
REPEATING = "Repeat after me: the quick brown fox, the quick brown fox, the quick brown fox."
HOPEFUL = Costs(0, ((1, 1.0), (17, 1.1)), 0.001)
"""As if drafting cost next to nothing, so that auto tries it."""

TOKENS = 20
GAMMAS = tuple(range(1, 9))


@pytest.mark.parametrize("prompt", PROMPTS)
def test_greedy_text_is_the_same_on_and_off(starter: Pair, prompt: str) -> None:
    plain = run_answer(starter, prompt, AnswerSettings(GREEDY, PLAIN, TOKENS))

    for gamma in GAMMAS:
        reply = run_answer(starter, prompt, AnswerSettings(GREEDY, speculating(gamma), TOKENS))
        assert reply.ids == plain.ids, f"gamma {gamma}"
        assert reply.text == plain.text
        assert reply.finished.stop is plain.finished.stop


@pytest.mark.parametrize("source", [DraftSource.MODEL, DraftSource.LOOKUP, DraftSource.BOTH])
def test_auto_changes_no_text_either(starter: Pair, source: DraftSource) -> None:
    speculation = Speculation(source=source)
    drafted = 0
    for prompt in (*PROMPTS[4:8], REPEATING):
        plain = run_answer(starter, prompt, AnswerSettings(GREEDY, PLAIN, 48))
        starter.experience.calibrate(HOPEFUL)
        reply = run_answer(starter, prompt, AnswerSettings(GREEDY, speculation, 48))
        assert reply.ids == plain.ids, prompt
        drafted += reply.tally.drafted

    assert drafted > 0


def test_beside_a_model_prompt_lookup_drafts_where_text_repeats(starter: Pair) -> None:
    settings = AnswerSettings(GREEDY, replace(speculating(4), source=DraftSource.BOTH), 48)
    tokens = [token for round_ in run_answer(starter, REPEATING, settings).rounds for token in round_.tokens]

    assert {token.q == 1.0 for token in tokens if token.q is not None} == {True, False}


def test_the_greedy_runs_really_speculate(starter: Pair) -> None:
    tally = run_answer(starter, PROMPTS[7], AnswerSettings(GREEDY, speculating(3), 96)).tally

    assert tally.acceptance_rate is not None
    assert 0.4 < tally.acceptance_rate < 1.0
    assert min(tally.counts[kind] for kind in Kind if kind is not Kind.PLAIN) > 0


@pytest.mark.parametrize(("prompt", "seed"), [(PROMPTS[0], 1), (PROMPTS[1], 2), (PROMPTS[4], 3)])
def test_shared_noise_gives_the_same_text_for_every_gamma(starter: Pair, prompt: str, seed: int) -> None:
    sampling = Sampling(temperature=0.8, seed=seed)
    plain = run_answer(starter, prompt, AnswerSettings(sampling, speculating(0, rule=Rule.SHARED_NOISE), 24))

    for gamma in GAMMAS:
        speculation = speculating(gamma, rule=Rule.SHARED_NOISE)
        assert run_answer(starter, prompt, AnswerSettings(sampling, speculation, 24)).ids == plain.ids, f"gamma {gamma}"


def test_shared_noise_gives_the_same_text_with_prompt_lookup(starter: Pair) -> None:
    sampling = Sampling(temperature=0.8, seed=3)
    plain = run_answer(starter, REPEATING, AnswerSettings(sampling, speculating(0, rule=Rule.SHARED_NOISE), 48))

    lookup = speculating(6, DraftSource.LOOKUP, Rule.SHARED_NOISE)
    assert run_answer(starter, REPEATING, AnswerSettings(sampling, lookup, 48)).ids == plain.ids


@pytest.mark.parametrize("penalty", [1.3, 0.8])
def test_a_repetition_penalty_counts_on_and_off(starter: Pair, penalty: float) -> None:
    sampling = Sampling(temperature=0.0, repeat_penalty=penalty, repeat_last_n=24)
    prompt = "Say the word banana over and over again."
    plain = run_answer(starter, prompt, AnswerSettings(sampling, PLAIN, 48))
    without = run_answer(starter, prompt, AnswerSettings(GREEDY, PLAIN, 48))
    assert plain.ids != without.ids, "the penalty should matter here"

    for speculation in (speculating(3), speculating(7), speculating(5, DraftSource.LOOKUP)):
        assert run_answer(starter, prompt, AnswerSettings(sampling, speculation, 48)).ids == plain.ids


def test_a_penalty_reaches_shared_noise_alike(starter: Pair) -> None:
    sampling = Sampling(temperature=0.8, repeat_penalty=1.3, seed=5)
    plain = run_answer(starter, PROMPTS[5], AnswerSettings(sampling, speculating(0, rule=Rule.SHARED_NOISE), 48))
    reply = run_answer(starter, PROMPTS[5], AnswerSettings(sampling, speculating(5, rule=Rule.SHARED_NOISE), 48))

    assert reply.ids == plain.ids


def test_prompt_lookup_speeds_an_edit_up_and_changes_nothing(starter: Pair) -> None:
    prompt = (
        "Correct the mistakes in this text:\n\n"
        "Anna goed to the market on Monday morning. Anna buyed six red apples and a loaf of fresh bread. "
        "Then Anna walked home along the river and put the apples into a big wooden bowl."
    )
    plain = run_answer(starter, prompt, AnswerSettings(GREEDY, PLAIN, 64))

    reply = run_answer(starter, prompt, AnswerSettings(GREEDY, speculating(6, DraftSource.LOOKUP), 64))

    assert reply.ids == plain.ids
    assert reply.tally.counts[Kind.ACCEPTED] >= 10
    assert len(reply.rounds) < len(plain.rounds)
    assert all(token.q == 1.0 for round_ in reply.rounds for token in round_.tokens if token.q is not None)


class TestDraftIsTheTarget:
    """Any slip in the draft's bookkeeping shows as a refusal."""

    @pytest.mark.parametrize("gamma", [1, 2, 4, 8, 16])
    def test_greedy_accepts_everything(self, twins: Pair, gamma: int) -> None:
        reply = run_answer(twins, PROMPTS[7], AnswerSettings(GREEDY, speculating(gamma), 50))

        assert reply.tally.acceptance_rate == 1.0
        assert reply.tally.counts[Kind.CORRECTED] == 0

    @pytest.mark.parametrize("rule", Rule)
    def test_sampling_accepts_everything(self, twins: Pair, rule: Rule) -> None:
        sampling = Sampling(temperature=0.9, seed=4)
        reply = run_answer(twins, PROMPTS[7], AnswerSettings(sampling, speculating(4, rule=rule), 50))

        assert reply.tally.acceptance_rate == 1.0
        chances = [token.chance for round_ in reply.rounds for token in round_.tokens if token.kind is Kind.ACCEPTED]
        assert chances == pytest.approx([1.0] * len(chances))


def test_rejection_sampling_accepts_as_often_as_the_chances_say(starter: Pair) -> None:
    kept, expected, spread = 0, 0.0, 0.0
    for seed in range(3):
        sampling = Sampling(temperature=0.8, seed=seed)
        reply = run_answer(starter, PROMPTS[7], AnswerSettings(sampling, speculating(4), 64))
        judged = [token for round_ in reply.rounds for token in round_.tokens if token.chance is not None]
        for token in judged:
            assert token.p is not None
            assert token.q is not None
            assert token.chance is not None
            assert token.chance == pytest.approx(min(1.0, token.p / token.q))
            expected += token.chance
            spread += token.chance * (1 - token.chance)
        kept += reply.tally.counts[Kind.ACCEPTED]

    assert kept == pytest.approx(expected, abs=4 * spread**0.5)
