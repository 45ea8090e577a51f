"""The top bar and its parts: pickers with verdicts, γ, chip."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QColor
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from desktop_app.app import Draftglass
from desktop_app.core.errors import Problem
from desktop_app.core.facts import Costs
from desktop_app.core.pairing import Verdict
from desktop_app.core.settings import DraftSource
from desktop_app.services.model_shelf import ShelfItem
from desktop_app.ui.elided_label import ElidedLabel
from desktop_app.ui.gamma_picker import GammaPicker
from desktop_app.ui.models.choice import Choice
from desktop_app.ui.models.choices import draft_choices, target_choices
from desktop_app.ui.models.picker import DraftPicker, ModelPicker
from desktop_app.ui.state_chip import StateChip
from desktop_app.ui.switch import Switch
from tests.fakes.gguf_files import TOKENS, write_gguf
from tests.fakes.scripted_engine import Script
from tests.gui.conftest import Windows


def picker(draftglass: Draftglass, kind: type[ModelPicker]) -> ModelPicker:
    (found,) = (part for part in draftglass.window.findChildren(kind) if type(part) is kind)
    return found


def lines(part: ModelPicker) -> list[QAction]:
    """The menu as it opens."""
    part.menu().aboutToShow.emit()
    return [action for action in part.menu().actions() if not action.isSeparator()]


def wait_for_menu(qtbot: QtBot, draftglass: Draftglass, kind: type[ModelPicker], entry: str) -> list[QAction]:
    def listed() -> bool:
        return any(entry in action.text() for action in lines(picker(draftglass, kind)))

    qtbot.waitUntil(listed)
    return lines(picker(draftglass, kind))


def test_the_draft_menu_gives_every_model_its_verdict(
    qtbot: QtBot, windows: Windows, pair_files: tuple[Path, Path]
) -> None:
    folder = pair_files[0].parent
    write_gguf(folder / "Foreign-Q8_0.gguf", tokens=[*TOKENS[:-1], "something else"])
    (folder / "Broken.gguf").write_bytes(b"GGUF")
    draftglass = windows.open()
    texts = [action.text() for action in wait_for_menu(qtbot, draftglass, DraftPicker, "Small")]
    extras = ["Prompt lookup", "No draft", "Prompt lookup beside the draft", "Choose a GGUF file…", "Model settings…"]
    assert texts[-5:] == extras
    entries = {text.split("\t")[0].split()[0]: text.split("\t")[1] for text in texts[:-5]}
    assert entries["Small"].startswith("fits")
    assert entries["Big"].startswith("the target itself")
    assert entries["Foreign"].startswith("does not fit: the draft has another vocabulary (token")
    assert "Broken.gguf" in entries["Broken.gguf"]


def test_what_does_not_fit_cannot_be_chosen(qtbot: QtBot, windows: Windows, pair_files: tuple[Path, Path]) -> None:
    write_gguf(pair_files[0].with_name("Foreign-Q8_0.gguf"), tokens=[*TOKENS[:-1], "something else"])
    actions = wait_for_menu(qtbot, windows.open(), DraftPicker, "Foreign")
    usable = {action.text().split()[0]: action.isEnabled() for action in actions}
    assert usable["Small"]
    assert not usable["Foreign"]


def test_a_model_from_the_menu_becomes_the_target(
    qtbot: QtBot, windows: Windows, pair_files: tuple[Path, Path]
) -> None:
    draftglass = windows.open()
    actions = wait_for_menu(qtbot, draftglass, ModelPicker, "Small")
    assert [action.text().split()[0] for action in actions if action.isChecked()] == ["Big"]
    next(action for action in actions if action.text().startswith("Small")).trigger()
    assert draftglass.pair.target_path == str(pair_files[1])
    qtbot.waitUntil(lambda: picker(draftglass, ModelPicker).shown.startswith("Small"))


@pytest.mark.parametrize(("entry", "source"), [("Prompt lookup", DraftSource.LOOKUP), ("No draft", DraftSource.NONE)])
def test_a_draft_that_needs_no_file_is_a_line_of_the_menu(
    qtbot: QtBot, windows: Windows, entry: str, source: DraftSource
) -> None:
    draftglass = windows.open()
    actions = wait_for_menu(qtbot, draftglass, DraftPicker, entry)
    next(action for action in actions if action.text() == entry).trigger()
    assert draftglass.pair.speculation.source is source
    assert picker(draftglass, DraftPicker).shown == entry
    (gamma,) = draftglass.window.findChildren(GammaPicker)
    assert gamma.isEnabled() == (source is DraftSource.LOOKUP)


def test_a_foreign_draft_is_named_in_the_chip_before_any_weights(
    qtbot: QtBot, windows: Windows, tmp_path: Path, pair_files: tuple[Path, Path]
) -> None:
    write_gguf(pair_files[1], tokens=[*TOKENS[:-1], "something else"])
    costs = Costs(depth=64, passes=((1, 0.04),), draft_step=None)
    draftglass = windows.open(Script(journal=str(tmp_path / "journal"), costs=costs))
    (chip,) = draftglass.window.findChildren(StateChip)
    qtbot.waitUntil(lambda: f"token {len(TOKENS) - 1} differs" in chip.text)
    assert '"draft":null' in (tmp_path / "journal").read_text().replace(" ", "")


def test_gamma_is_chosen_from_its_menu(windows: Windows) -> None:
    draftglass = windows.open(start=False)
    (gamma,) = draftglass.window.findChildren(GammaPicker)
    entries = gamma.menu().actions()
    assert [action.text() for action in entries] == ["auto", *(str(n) for n in range(1, 17))]
    assert gamma.shown == "auto"
    entries[9].trigger()
    assert draftglass.pair.speculation.gamma == 9
    assert gamma.shown == "9"
    entries[0].trigger()
    assert draftglass.pair.speculation.gamma is None


def test_prompt_lookup_can_stand_beside_the_draft(qtbot: QtBot, windows: Windows) -> None:
    draftglass = windows.open()
    actions = wait_for_menu(qtbot, draftglass, DraftPicker, "Small")
    next(action for action in actions if action.text() == "Prompt lookup beside the draft").trigger()
    assert draftglass.pair.speculation.source is DraftSource.BOTH
    assert picker(draftglass, DraftPicker).shown.startswith("lookup + Small")
    assert [action.text().split()[0] for action in lines(picker(draftglass, DraftPicker)) if action.isChecked()] == [
        "Small",
        "Prompt",
    ]


def test_the_switch_is_flipped_by_the_space_key(qtbot: QtBot) -> None:
    switch = Switch()
    qtbot.addWidget(switch)
    switch.show()
    with qtbot.waitSignal(switch.toggled):
        QTest.keyClick(switch, Qt.Key.Key_Space)
    assert switch.isChecked()


def test_a_long_state_is_shortened_and_whole_in_the_tooltip(qtbot: QtBot) -> None:
    chip = StateChip()
    qtbot.addWidget(chip)
    reason = "Off: the draft has another vocabulary (token 139 differs), so that its proposals would mean nothing"
    chip.show_state(reason, "", QColor("grey"))
    chip.resize(chip.sizeHint())
    assert chip.text == reason
    chip.resize(200, chip.height())
    chip.show()
    assert reason in chip.toolTip()
    chip.show_state("Speculating, γ 4", "The draft proposes up to 4 tokens a round.", QColor("green"))
    chip.resize(chip.sizeHint())
    assert chip.toolTip() == "The draft proposes up to 4 tokens a round."


def test_an_elided_label_keeps_its_text(qtbot: QtBot) -> None:
    label = ElidedLabel()
    qtbot.addWidget(label)
    label.set_text("a text that is far too long for its place", "an explanation")
    label.resize(60, 20)
    label.show()
    assert label.shown_text.endswith("…")
    assert label.toolTip() == "a text that is far too long for its place\nan explanation"
    label.resize(900, 20)
    assert label.shown_text == label.text()
    assert label.toolTip() == "an explanation"


def test_sizes_and_verdicts_make_the_lines_of_the_menus() -> None:
    fits = ShelfItem("/m/small.gguf", "Small Q4_0", 90_000_000, verdict=Verdict(ok=True))
    same = ShelfItem("/m/big.gguf", "Big Q8_0", 1_100_000_000, verdict=Verdict(ok=True))
    other = Verdict(ok=False, reason="token 9 differs")
    foreign = ShelfItem("/m/foreign.gguf", "Foreign Q8_0", 5_000_000, verdict=other)
    broken = ShelfItem("/m/broken.gguf", "broken.gguf", None, Problem("broken.gguf is cut short."))
    items = (same, broken, foreign, fits)
    assert [(line.name, line.note, line.usable) for line in draft_choices(items, "/m/big.gguf")] == [
        ("Small Q4_0", "fits, 90 MB", True),
        ("Big Q8_0", "the target itself, 1.1 GB", True),
        ("broken.gguf", "broken.gguf is cut short.", False),
        ("Foreign Q8_0", "does not fit: token 9 differs", False),
    ]
    assert target_choices(items)[0] == Choice("/m/big.gguf", "Big Q8_0", "1.1 GB")
