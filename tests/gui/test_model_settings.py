"""How models are loaded, set in the window: the page of the models, its memory, and what applying does."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialogButtonBox, QLabel, QSpinBox, QWidget
from pytestqt.qtbot import QtBot

from desktop_app.app import Draftglass
from desktop_app.core.settings import CacheType, DraftSource, FlashAttention, LoadSettings
from desktop_app.protocol.messages import Load
from desktop_app.services.settings_file import Settings
from desktop_app.ui.actions import WindowActions
from desktop_app.ui.settings.dialog import SettingsDialog
from desktop_app.ui.settings.fields import ChoiceBox
from desktop_app.ui.tone_label import ToneLabel
from tests.fakes.scripted_engine import Script, journal_of
from tests.gui.conftest import Windows

Found = TypeVar("Found", bound=QWidget)


def named(dialog: QWidget, name: str, kind: type[Found]) -> Found:
    return next(widget for widget in dialog.findChildren(kind) if widget.accessibleName() == name)


def sizes(dialog: SettingsDialog, part: str) -> list[str]:
    rows = ("Weights", "KV cache", "Compute buffers", "Together")
    return [named(dialog, f"{row}, {part}", QLabel).text() for row in rows]


def announced(dialog: SettingsDialog) -> str:
    """What applying is said to do."""
    return next(label.text() for label in dialog.findChildren(ToneLabel) if "appl" in label.text().lower())


def opened(qtbot: QtBot, draftglass: Draftglass) -> SettingsDialog:
    """The page of the models, once the pair is in memory and the headers are read."""
    qtbot.waitUntil(lambda: draftglass.pair.target is not None and not draftglass.pair.loading)
    (actions,) = draftglass.window.findChildren(WindowActions)
    actions.model_settings.trigger()
    (dialog,) = draftglass.window.findChildren(SettingsDialog)
    qtbot.waitUntil(lambda: sizes(dialog, "target")[0] != "–")
    return dialog


def press(dialog: SettingsDialog, which: QDialogButtonBox.StandardButton) -> None:
    (box,) = dialog.findChildren(QDialogButtonBox)
    QTest.mouseClick(box.button(which), Qt.MouseButton.LeftButton)


def test_what_is_loaded_is_measured_and_a_change_estimated(qtbot: QtBot, windows: Windows) -> None:
    dialog = opened(qtbot, windows.open())
    assert sizes(dialog, "target") == ["1 MB", "20 MB", "10 MB", "31 MB"]
    named(dialog, "Cache of keys, target", ChoiceBox).show_value(CacheType.Q8_0)
    assert sizes(dialog, "target")[1:] == ["–", "–", "–"], "this file's header doesn't tell"
    assert sizes(dialog, "draft") == ["1 MB", "20 MB", "10 MB", "31 MB"]
    named(dialog, "Cache of keys, target", ChoiceBox).show_value(CacheType.F16)
    named(dialog, "Threads for many, target", QSpinBox).setValue(3)
    assert sizes(dialog, "target")[1] == "20 MB", "threads take none"


def test_applying_loads_the_pair_as_set(
    qtbot: QtBot, windows: Windows, tmp_path: Path, pair_files: tuple[Path, Path]
) -> None:
    draftglass = windows.open(Script(journal=str(tmp_path / "journal")))
    dialog = opened(qtbot, draftglass)
    named(dialog, "Cache of values, target", ChoiceBox).show_value(CacheType.Q8_0)
    named(dialog, "Threads for one token, draft", QSpinBox).setValue(1)
    assert announced(dialog).startswith("Applying loads the target and the draft anew;")
    with qtbot.waitSignal(draftglass.engine.loaded):
        press(dialog, QDialogButtonBox.StandardButton.Apply)
    target, draft = map(str, pair_files)
    assert [(load.target, load.draft) for load in journal_of(tmp_path / "journal", Load)] == [
        (LoadSettings().of(target), LoadSettings().of(draft)),
        (LoadSettings(cache_v=CacheType.Q8_0).of(target), LoadSettings(threads=1).of(draft)),
    ]
    assert "Applying" not in announced(dialog)
    qtbot.waitUntil(lambda: sizes(dialog, "target")[1] == "20 MB")


def test_a_draft_that_is_not_used_is_not_announced(qtbot: QtBot, windows: Windows) -> None:
    draftglass = windows.open()
    dialog = opened(qtbot, draftglass)
    named(dialog, "Threads for one token, draft", QSpinBox).setValue(1)
    assert announced(dialog).startswith("Applying loads the draft anew;")
    draftglass.pair.set_source(DraftSource.LOOKUP)
    assert "Applying" not in announced(dialog)


def test_values_below_f16_need_flash_attention(qtbot: QtBot, windows: Windows) -> None:
    dialog = opened(qtbot, windows.open())
    attention = named(dialog, "Flash attention, target", ChoiceBox)
    values = named(dialog, "Cache of values, target", ChoiceBox)
    values.show_value(CacheType.Q8_0)
    attention.show_value(FlashAttention.OFF)
    assert (values.value(), values.isEnabled()) == (CacheType.F16, False)
    assert values.toolTip() == "f16 while flash attention is off"
    attention.show_value(FlashAttention.AUTO)
    assert values.isEnabled()


def test_looking_changes_nothing(qtbot: QtBot, windows: Windows, tmp_path: Path) -> None:
    """The files were trained for 512 tokens, the settings ask for more."""
    draftglass = windows.open(Script(journal=str(tmp_path / "journal")))
    before = draftglass.settings.current
    dialog = opened(qtbot, draftglass)
    context = named(dialog, "Context, target", QSpinBox)
    assert (context.value(), context.suffix()) == (512, " of 512")
    press(dialog, QDialogButtonBox.StandardButton.Ok)
    assert draftglass.settings.current.loading == before.loading


def test_what_changes_elsewhere_stays_when_the_dialog_is_applied(
    qtbot: QtBot, windows: Windows, pair_files: tuple[Path, Path]
) -> None:
    draftglass = windows.open()
    dialog = opened(qtbot, draftglass)
    named(dialog, "Threads for one token, target", QSpinBox).setValue(1)
    draftglass.pair.set_gamma(3)
    press(dialog, QDialogButtonBox.StandardButton.Ok)
    current = draftglass.settings.current
    assert current.answer.speculation.gamma == 3
    assert current.loading == {str(pair_files[0]): LoadSettings(threads=1)}


def test_another_target_brings_its_own_settings(qtbot: QtBot, windows: Windows, pair_files: tuple[Path, Path]) -> None:
    big, small = map(str, pair_files)
    settings = Settings(target_path=big, draft_path=small).with_loading(small, LoadSettings(threads=2))
    draftglass = windows.open(settings=settings)
    dialog = opened(qtbot, draftglass)
    threads = [named(dialog, f"Threads for one token, {part}", QSpinBox) for part in ("target", "draft")]
    assert [box.value() for box in threads] == [0, 2]
    draftglass.pair.choose_target(small)
    assert [box.value() for box in threads] == [2, 2]
    assert [box.isEnabled() for box in threads] == [True, False], "one file is loaded one way"
    threads[0].setValue(1)
    assert threads[1].value() == 1


@pytest.mark.parametrize("part", ["target", "draft"])
def test_without_a_gpu_there_are_no_layers_to_choose(qtbot: QtBot, windows: Windows, part: str) -> None:
    dialog = opened(qtbot, windows.open())
    layers = named(dialog, f"Layers on the GPU, {part}", QSpinBox)
    assert not layers.isEnabled()
    assert layers.toolTip() == "llama.cpp sees no GPU here"
