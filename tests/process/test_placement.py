"""Threads, cache types and flash attention reach the model in the engine process, as its facts tell."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from desktop_app.core.facts import ModelFacts
from desktop_app.core.settings import CacheType, FlashAttention, LoadSettings
from desktop_app.library.memory import memory_needed
from desktop_app.library.models import describe
from desktop_app.protocol.messages import Failed, Load, Loaded
from tests.process.engine import Engine, settings

pytestmark = [pytest.mark.process, pytest.mark.model]


def load(engine: Engine, request: int, target: Path, **changes: object) -> ModelFacts:
    engine.send(Load(request, replace(settings(target), **changes)))  # type: ignore[arg-type]  # the settings' fields
    return engine.until(Loaded).target


def test_nothing_asked_for_means_the_cores_and_an_f16_cache(engine: Engine, starter_target: Path) -> None:
    facts = load(engine, 1, starter_target)
    assert 1 <= facts.threads <= (psutil.cpu_count() or 1)
    assert facts.batch_threads == facts.threads
    assert (facts.cache_k, facts.cache_v, facts.flash_attention) == (CacheType.F16, CacheType.F16, True)


def test_numbers_of_threads_are_those_asked_for(engine: Engine, starter_target: Path) -> None:
    facts = load(engine, 1, starter_target, threads=1, batch_threads=3)
    assert (facts.threads, facts.batch_threads) == (1, 3)
    assert engine.answer(2)
    facts = load(engine, 3, starter_target, threads=2)
    assert (facts.threads, facts.batch_threads) == (2, 2)


def test_a_quantised_cache_takes_less_memory_and_answers(engine: Engine, starter_target: Path) -> None:
    full = load(engine, 1, starter_target)
    half = load(engine, 2, starter_target, cache_k=CacheType.Q8_0, cache_v=CacheType.Q4_0)
    assert (half.cache_k, half.cache_v, half.flash_attention) == (CacheType.Q8_0, CacheType.Q4_0, True)
    # 34 and 18 bytes for a block of 32 numbers, which take 64 each as F16.
    assert half.cache_bytes == pytest.approx(full.cache_bytes * (34 + 18) / 128, rel=0.01)
    assert engine.answer(3)


def test_without_flash_attention_the_scores_take_memory(engine: Engine, starter_target: Path) -> None:
    fused = load(engine, 1, starter_target, flash_attention=FlashAttention.ON)
    plain = load(engine, 2, starter_target, flash_attention=FlashAttention.OFF)
    assert (fused.flash_attention, plain.flash_attention) == (True, False)
    assert plain.compute_bytes > 1.5 * fused.compute_bytes
    assert engine.answer(3)


@pytest.mark.parametrize("n_ctx", [512, 2048])
@pytest.mark.parametrize("attention", [FlashAttention.ON, FlashAttention.OFF])
@pytest.mark.parametrize("model", ["starter_target", "gemma"])
def test_the_header_foretells_what_is_allocated(
    engine: Engine, request: pytest.FixtureRequest, model: str, attention: FlashAttention, n_ctx: int
) -> None:
    path: Path = request.getfixturevalue(model)
    how = LoadSettings(n_ctx=n_ctx, flash_attention=attention)
    engine.send(Load(1, how.of(str(path))))
    facts = engine.until(Loaded).target
    need = memory_needed(describe(path).memory, how)
    assert need.weights == facts.size_bytes
    assert need.cache == pytest.approx(facts.cache_bytes, abs=50_000)
    assert need.compute == pytest.approx(facts.compute_bytes, rel=0.11)


def test_a_quantised_v_without_flash_attention_is_refused_with_the_remedy(engine: Engine, starter_target: Path) -> None:
    how = replace(settings(starter_target), cache_v=CacheType.Q8_0, flash_attention=FlashAttention.OFF)
    engine.send(Load(1, how))
    problem = engine.until(Failed).problem
    assert "flash attention" in problem.message
    assert problem.hint
    assert load(engine, 2, starter_target).cache_v is CacheType.F16
