"""How the models page words memory: estimated before loading, measured after. Pure functions, no widgets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from desktop_app.core.facts import Device, ModelFacts
from desktop_app.core.settings import LoadSettings
from desktop_app.library.memory import Memory, gpu_share, memory_needed
from desktop_app.library.models import ModelFile
from desktop_app.ui.sizes import size_words
from desktop_app.ui.words import Tone, Words

MEANING = "≈ estimated from the file's header, – unknown before loading, else measured"


@dataclass(frozen=True, slots=True)
class Need:
    """What one model takes of memory."""

    memory: Memory
    on_gpu: int | None
    """Bytes of it where there is a GPU; None where that can't be told. Never measured."""
    measured: bool


def estimated(model: ModelFile, how: LoadSettings) -> Need:
    return Need(memory_needed(model.memory, how), gpu_share(model.memory, how), measured=False)


def measured(model: ModelFile, how: LoadSettings, facts: ModelFacts) -> Need:
    memory = Memory(facts.size_bytes, facts.cache_bytes, facts.compute_bytes)
    return Need(memory, gpu_share(model.memory, how), measured=True)


def need_words(need: Need) -> tuple[str, str, str, str]:
    """Weights, KV cache, compute buffers, together. Weights are as large in memory as in the file."""
    memory, sure = need.memory, need.measured
    return (
        size_words(memory.weights),
        _words(memory.cache, sure=sure),
        _words(memory.compute, sure=sure),
        _words(memory.total, sure=sure),
    )


def room_words(needs: Sequence[Need], devices: Sequence[Device]) -> Words:
    """What all models take against what there is; nothing while either is not known."""
    gpu = next((device for device in devices if device.is_gpu), None)
    machine = next((device for device in devices if not device.is_gpu), None)
    totals = [need.memory.total for need in needs]
    on_gpu = [need.on_gpu if gpu else 0 for need in needs]
    if machine is None or not needs or None in totals or None in on_gpu:
        return Words("")
    sure = all(need.measured for need in needs)
    taken = sum(filter(None, on_gpu))
    rest = sum(filter(None, totals)) - taken
    own = f"Together {_words(rest, sure=sure and not taken)} of this machine's {size_words(machine.memory_bytes)}"
    if gpu is None:
        return _judged(own, fits=rest <= machine.memory_bytes)
    theirs = f"{_words(taken, sure=False)} of the {size_words(gpu.free_bytes)} that were free on the GPU"
    return _judged(f"{own}, {theirs}", fits=rest <= machine.memory_bytes and taken <= gpu.free_bytes)


def reload_words(changed: Sequence[str]) -> Words:
    """What applying does; `changed` are the parts of the pair whose settings were changed here."""
    if not changed:
        return Words("A change is applied by loading the model anew; chats stay as they are.")
    parts = " and the ".join(changed)
    return Words(f"Applying loads the {parts} anew; chats stay as they are.", Tone.WARNING)


def _judged(text: str, *, fits: bool) -> Words:
    return Words(f"{text}.") if fits else Words(f"{text}: that does not fit.", Tone.DANGER)


def _words(size_bytes: int | None, *, sure: bool) -> str:
    return size_words(size_bytes) if sure or size_bytes is None else f"≈ {size_words(size_bytes)}"
