"""The details of a model say in plain words how it remembers and what a refusal takes."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from desktop_app.core.facts import MemoryKind, Rollback
from desktop_app.core.settings import ModelSettings
from desktop_app.ui.models.model_words import memory_words, model_details
from tests.fakes.scripted_engine import facts

MODEL = facts(ModelSettings("/m/a.gguf"))


def test_a_loaded_model_tells_name_kind_memory_and_file() -> None:
    assert model_details("/m/a.gguf", MODEL).splitlines() == [
        MODEL.name,
        MODEL.description,
        "Remembers every token; refused ones are removed",
        "/m/a.gguf",
    ]


def test_one_that_is_not_loaded_tells_its_file() -> None:
    assert model_details("/m/a.gguf", None) == "/m/a.gguf"


@pytest.mark.parametrize("memory", MemoryKind)
def test_every_kind_but_the_usual_one_is_named(memory: MemoryKind) -> None:
    named = memory in memory_words(replace(MODEL, memory=memory))

    assert named == (memory is not MemoryKind.ATTENTION)


def test_no_two_memories_read_the_same() -> None:
    words = [
        memory_words(replace(MODEL, memory=memory, rollback=rollback))
        for memory, rollback in product(MemoryKind, Rollback)
    ]

    assert len(set(words)) == len(words)
