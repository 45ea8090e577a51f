"""The settings dialog: what goes in comes out, what is changed comes out changed, defaults keep what isn't shown."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QDialogButtonBox, QDoubleSpinBox, QPlainTextEdit, QWidget
from pytestqt.qtbot import QtBot

from desktop_app.core.rounds import Kind
from desktop_app.core.settings import (
    AnswerSettings,
    CacheType,
    DraftSource,
    FlashAttention,
    LoadSettings,
    Overflow,
    Rule,
    Sampling,
    Speculation,
)
from desktop_app.protocol.messages import Part
from desktop_app.services.settings_file import Settings, Theme
from desktop_app.ui.settings.dialog import SettingsDialog
from desktop_app.ui.settings.model_fields import ROWS

UNUSUAL = Settings(
    target_path="/models/a.gguf",
    draft_path="/models/b.gguf",
    loading={
        "/models/a.gguf": LoadSettings(n_ctx=2048, gpu_layers=7, threads=3, batch_threads=4, cache_k=CacheType.Q8_0),
        "/models/b.gguf": LoadSettings(gpu_layers=0, flash_attention=FlashAttention.OFF),
        "/models/other.gguf": LoadSettings(n_ctx=512),
    },
    answer=AnswerSettings(
        sampling=Sampling(0.35, 12, 0.8, 0.01, 1.15, 128, seed=42),
        speculation=Speculation(False, DraftSource.LOOKUP, 9, Rule.SHARED_NOISE, 6, 3),
        max_tokens=77,
        stop=("END", "a\nb", "tab\there", "back\\slash"),
        overflow=Overflow.STOP,
    ),
    system_prompt="Be brief.",
    theme=Theme.DARK,
    window_geometry=b"abc",
    hidden_kinds=frozenset({Kind.REJECTED}),
)


@pytest.fixture
def dialog(qtbot: QtBot) -> SettingsDialog:
    dialog = SettingsDialog()
    qtbot.addWidget(dialog)
    return dialog


def named(dialog: SettingsDialog, name: str) -> QWidget:
    return next(widget for widget in dialog.findChildren(QWidget) if widget.accessibleName() == name)


def press(dialog: SettingsDialog, which: QDialogButtonBox.StandardButton) -> None:
    (box,) = dialog.findChildren(QDialogButtonBox)
    button: QAbstractButton = box.button(which)
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


@pytest.mark.parametrize("settings", [Settings(), UNUSUAL], ids=["defaults", "unusual"])
def test_what_goes_in_comes_out(dialog: SettingsDialog, settings: Settings) -> None:
    dialog.show_values(settings)
    assert dialog.values() == settings


def test_ok_applies_what_was_changed(qtbot: QtBot, dialog: SettingsDialog) -> None:
    dialog.show_values(Settings())
    temperature = named(dialog, "Temperature")
    assert isinstance(temperature, QDoubleSpinBox)
    temperature.setValue(0.0)
    stop = named(dialog, "Stop strings")
    assert isinstance(stop, QPlainTextEdit)
    stop.setPlainText("one\n\ntwo\\n")
    with qtbot.waitSignal(dialog.applied) as applied:
        press(dialog, QDialogButtonBox.StandardButton.Ok)
    (settings,) = applied.args
    assert settings.answer.sampling.greedy
    assert settings.answer.stop == ("one", "two\n")


def test_cancel_applies_nothing(qtbot: QtBot, dialog: SettingsDialog) -> None:
    dialog.show_values(Settings())
    with qtbot.assertNotEmitted(dialog.applied):
        press(dialog, QDialogButtonBox.StandardButton.Cancel)


def test_the_shortest_match_is_never_longer_than_the_longest(dialog: SettingsDialog) -> None:
    speculation = Speculation(lookup_max_n=2, lookup_min_n=2)
    dialog.show_values(Settings(answer=AnswerSettings(speculation=speculation)))
    longest = named(dialog, "Longest match")
    longest.setProperty("value", 1)
    assert dialog.values().answer.speculation.lookup_min_n == 1


def test_defaults_leave_models_switch_and_window_alone(dialog: SettingsDialog) -> None:
    dialog.show_values(UNUSUAL)
    press(dialog, QDialogButtonBox.StandardButton.RestoreDefaults)
    kept = Speculation(enabled=False, source=DraftSource.LOOKUP, gamma=9)
    assert dialog.values() == replace(
        Settings(),
        target_path=UNUSUAL.target_path,
        draft_path=UNUSUAL.draft_path,
        loading={"/models/other.gguf": LoadSettings(n_ctx=512)},
        window_geometry=UNUSUAL.window_geometry,
        hidden_kinds=UNUSUAL.hidden_kinds,
        answer=AnswerSettings(speculation=kept),
    )


def test_every_field_explains_itself(dialog: SettingsDialog) -> None:
    names = (
        "Temperature",
        "Top-k",
        "Top-p",
        "Min-p",
        "Repetition penalty",
        "Penalty looks back",
        "Seed",
        "Longest answer",
        "Stop strings",
        "Longest match",
        "Shortest match",
        *(f"{row.label}, {part}" for row in ROWS for part in Part),
        "Theme",
        "System prompt",
    )
    assert [name for name in names if not named(dialog, name).toolTip()] == []
