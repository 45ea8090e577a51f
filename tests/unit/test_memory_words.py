"""How the models page words memory and what applying does."""

from __future__ import annotations

from desktop_app.core.facts import Device
from desktop_app.library.memory import Memory
from desktop_app.ui.settings.memory_words import Need, need_words, reload_words, room_words
from desktop_app.ui.words import Tone, Words

GB = 10**9
CPU = Device("CPU", "A processor", 16 * GB, 16 * GB, is_gpu=False)
GPU = Device("CUDA0", "RTX 4070", 12 * GB, 8 * GB, is_gpu=True)


def need(cache: int | None = GB, *, on_gpu: int | None = 3 * GB, measured: bool = False) -> Need:
    return Need(Memory(2 * GB, cache, GB), on_gpu, measured)


def test_estimates_are_marked_and_measured_sizes_are_not() -> None:
    assert need_words(need()) == ("2.0 GB", "≈ 1.0 GB", "≈ 1.0 GB", "≈ 4.0 GB")
    assert need_words(need(measured=True)) == ("2.0 GB", "1.0 GB", "1.0 GB", "4.0 GB")


def test_what_is_not_known_is_a_dash() -> None:
    assert need_words(need(cache=None)) == ("2.0 GB", "–", "≈ 1.0 GB", "–")


def test_both_models_stand_against_the_machine() -> None:
    assert room_words([need(), need()], [CPU]) == Words("Together ≈ 8.0 GB of this machine's 16.0 GB.")
    assert room_words([need(measured=True)], [CPU]) == Words("Together 4.0 GB of this machine's 16.0 GB.")


def test_too_much_is_said_before_it_is_tried() -> None:
    words = room_words([need(cache=20 * GB)], [CPU])
    assert words == Words("Together ≈ 23.0 GB of this machine's 16.0 GB: that does not fit.", Tone.DANGER)


def test_a_gpu_takes_its_share() -> None:
    fits = "Together ≈ 1.0 GB of this machine's 16.0 GB, ≈ 3.0 GB of the 8.0 GB that were free on the GPU"
    assert room_words([need(measured=True)], [CPU, GPU]) == Words(f"{fits}.")
    assert room_words([need(on_gpu=9 * GB, cache=10 * GB)], [CPU, GPU]).tone is Tone.DANGER


def test_nothing_is_said_of_what_is_not_known() -> None:
    nothing = Words("")
    assert room_words([], [CPU]) == room_words([need()], []) == nothing
    assert room_words([need(cache=None)], [CPU]) == room_words([need(on_gpu=None)], [CPU, GPU]) == nothing


def test_applying_is_announced() -> None:
    assert reload_words([]).tone is Tone.CALM
    assert reload_words(["target", "draft"]).text.startswith("Applying loads the target and the draft anew;")
