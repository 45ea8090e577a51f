"""The speed panel on scripted rounds: what it shows, when it refreshes, and that nothing upsets it."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QApplication, QLabel, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from desktop_app.core.baseline import Baseline, BaselineSource
from desktop_app.core.facts import Costs
from desktop_app.core.rounds import Seconds
from desktop_app.core.settings import AnswerSettings, Speculation
from desktop_app.protocol.messages import Prefilling
from desktop_app.services.settings_file import Theme
from desktop_app.services.turn import Turn, TurnState
from desktop_app.ui.speed_panel import wording
from desktop_app.ui.speed_panel.bars import ShareBar
from desktop_app.ui.speed_panel.chart import SpeedChart
from desktop_app.ui.speed_panel.histogram import AcceptedHistogram
from desktop_app.ui.speed_panel.rows import FigureRow
from desktop_app.ui.speed_panel.speed_panel import REFRESH_MS, SpeedPanel
from desktop_app.ui.theme import DARK, LIGHT, Appearance
from tests.fakes.timed_rounds import plain_round, timed_round

SECONDS = Seconds(draft=0.02, verify=0.07, sample=0.006, rest=0.004)
COSTS = Costs(depth=64, passes=((1, 0.04),), draft_step=0.004)


@pytest.fixture
def appearance(qapp: QApplication) -> Appearance:
    return Appearance(qapp, Theme.LIGHT)


@pytest.fixture
def panel(qtbot: QtBot, appearance: Appearance) -> SpeedPanel:
    panel = SpeedPanel(appearance)
    qtbot.addWidget(panel)
    panel.resize(280, 700)
    with qtbot.waitExposed(panel):
        panel.show()
    return panel


def make_turn(state: TurnState = TurnState.STREAMING, *, gamma: int = 4, enabled: bool = True) -> Turn:
    return Turn(
        chat_id=1,
        user_message_id=1,
        answer_message_id=2,
        prompt="hello",
        settings=AnswerSettings(speculation=Speculation(gamma=gamma, enabled=enabled)),
        state=state,
        baseline=Baseline(20.0, BaselineSource.THIS_PROMPT),
    )


def grow(turn: Turn, *accepted: int, gamma: int = 4) -> None:
    for kept in accepted:
        turn.answer.add(timed_round(gamma, kept, SECONDS, index=len(turn.answer.rounds)), visible=0)


def shown(panel: SpeedPanel, name: str) -> str:
    """The text of the label that screen readers know by this name."""
    (label,) = [label for label in panel.findChildren(QLabel) if label.accessibleName() == name]
    return label.text()


def description(panel: SpeedPanel, kind: type[QWidget]) -> str:
    (widget,) = panel.findChildren(kind)
    return widget.accessibleDescription()


FIGURES = (
    "Tokens per second",
    "Speedup",
    "accepted  α",
    "tokens per target pass",
    "cost of a draft token  c",
    "by the cost model",
    "measured",
)


def test_without_an_answer_every_figure_is_a_dash(panel: SpeedPanel) -> None:
    assert {shown(panel, name) for name in FIGURES} == {"–"}
    assert shown(panel, "Plain decoding") == "plain –  ·  not measured yet"
    assert description(panel, ShareBar) == "not known yet"
    assert description(panel, AcceptedHistogram) == "not known yet"


def test_figures_follow_the_rounds(panel: SpeedPanel) -> None:
    turn = make_turn()
    panel.start_turn(turn)
    grow(turn, 4, 1, 0, 3)
    panel.end_turn(turn)
    assert shown(panel, "Tokens per second") == "30.0"
    assert shown(panel, "Speedup") == "1.5×"
    assert shown(panel, "Plain decoding") == "plain 20.0  ·  this prompt"
    assert shown(panel, "accepted  α") == "0.73"
    assert shown(panel, "tokens per target pass") == "3.00"
    assert shown(panel, "cost of a draft token  c") == "0.10"
    assert shown(panel, "drafted per round  γ") == "4"
    assert shown(panel, "measured") == "1.50×"
    assert description(panel, ShareBar) == "draft 20 %, verify 70 %, sample 6 %, rest 4 %"
    assert description(panel, AcceptedHistogram).startswith("0 accepted: 1 rounds, 1 accepted: 1 rounds, 2 accepted: 0")
    assert description(panel, SpeedChart) == "Latest 30.0 tokens per second; plain 20.0"


def test_speed_now_gives_way_to_the_mean_when_the_answer_ends(panel: SpeedPanel) -> None:
    turn = make_turn()
    panel.start_turn(turn)
    for index in range(10):
        turn.answer.add(plain_round(0.5, index=index), visible=0)
    for index in range(10, 30):
        turn.answer.add(plain_round(0.1, index=index), visible=0)
    panel.update_turn(turn)
    assert shown(panel, "Tokens per second") == "10.0"
    turn.state = TurnState.FINISHED
    panel.end_turn(turn)
    assert shown(panel, "Tokens per second") == "4.3"


def test_updates_are_gathered(qtbot: QtBot, panel: SpeedPanel) -> None:
    turn = make_turn()
    panel.start_turn(turn)
    grow(turn, 4)
    panel.update_turn(turn)
    assert panel.figures.tokens_per_pass == 5
    grow(turn, 0)
    panel.update_turn(turn)
    assert panel.figures.tokens_per_pass == 5, "the second round of the same tenth of a second waits"
    qtbot.waitUntil(lambda: panel.figures.tokens_per_pass == 3, timeout=20 * REFRESH_MS)


def test_a_turn_that_is_joined_late_is_shown_whole(panel: SpeedPanel) -> None:
    turn = make_turn()
    grow(turn, 4, 4, 4, 4)
    panel.update_turn(turn)
    assert panel.figures.tok_per_s == pytest.approx(50)
    assert panel.figures.now_tok_per_s == pytest.approx(50)


def test_a_new_turn_starts_from_nothing(panel: SpeedPanel) -> None:
    first = make_turn()
    grow(first, 4, 4, 4)
    panel.start_turn(first)
    panel.start_turn(make_turn(TurnState.PREFILLING))
    assert shown(panel, "accepted  α") == "–"
    assert shown(panel, "Plain decoding") == "plain 20.0  ·  this prompt"
    assert description(panel, SpeedChart) == "Latest – tokens per second; plain 20.0"


def test_an_empty_answer_can_end(panel: SpeedPanel) -> None:
    turn = make_turn(TurnState.FAILED)
    panel.start_turn(turn)
    panel.end_turn(turn)
    panel.grab()
    assert shown(panel, "Tokens per second") == "–"
    assert shown(panel, "Speedup") == "–"


def test_calibration_shows_before_the_first_answer(panel: SpeedPanel) -> None:
    panel.set_speculation(Speculation(gamma=7))
    panel.set_costs(COSTS)
    assert shown(panel, "Plain decoding") == "plain 25.0  ·  calibration at load"
    assert shown(panel, "cost of a draft token  c") == "0.10"
    assert shown(panel, "drafted per round  γ") == "7"
    panel.set_costs(None)
    assert shown(panel, "Plain decoding") == "plain –  ·  not measured yet"


def test_a_new_pair_does_not_touch_the_figures_of_an_old_answer(panel: SpeedPanel) -> None:
    turn = make_turn(TurnState.FINISHED)
    turn.baseline = None
    grow(turn, 4, 2)
    panel.start_turn(turn)
    panel.set_costs(COSTS)
    assert panel.figures.speedup is None
    panel.clear()
    assert panel.figures.baseline == Baseline(25.0, BaselineSource.CALIBRATION, depth=64)


def test_every_figure_explains_itself(panel: SpeedPanel) -> None:
    parts = [
        *panel.findChildren(FigureRow),
        *panel.findChildren(SpeedChart),
        *panel.findChildren(ShareBar),
        *panel.findChildren(AcceptedHistogram),
        *(label for label in panel.findChildren(QLabel) if label.accessibleName() in {*FIGURES[:2], "Plain decoding"}),
    ]
    assert len(parts) == 6 + 3 + 3
    for part in parts:
        assert len(part.toolTip()) > 60, part


def test_chart_survives_resizing_while_it_streams(panel: SpeedPanel) -> None:
    turn = make_turn()
    panel.start_turn(turn)
    for width in (280, 360, 240, 1, 900):
        grow(turn, *(index % 5 for index in range(40)))
        panel.update_turn(turn)
        panel.resize(width, 400 + width % 7)
        assert not panel.grab().isNull()
    panel.end_turn(turn)
    assert panel.figures.accepted_per_round == (40, 40, 40, 40, 40)


def test_hidden_panel_keeps_up_and_shows_when_unfolded(panel: SpeedPanel) -> None:
    turn = make_turn()
    panel.start_turn(turn)
    panel.hide()
    grow(turn, 4, 4)
    panel.end_turn(turn)
    assert shown(panel, "tokens per target pass") == "–"
    panel.show()
    assert shown(panel, "tokens per target pass") == "5.00"


def test_header_button_asks_to_fold(qtbot: QtBot, panel: SpeedPanel) -> None:
    (button,) = [button for button in panel.findChildren(QToolButton) if "Fold" in button.accessibleName()]
    with qtbot.waitSignal(panel.fold_requested):
        button.click()


def test_painted_parts_follow_the_theme(panel: SpeedPanel, appearance: Appearance) -> None:
    (bar,) = panel.findChildren(ShareBar)
    turn = make_turn()
    grow(turn, 4, 4)
    panel.start_turn(turn)
    inside = QPoint(bar.width() // 2, 5)
    assert bar.grab().toImage().pixelColor(inside) == LIGHT.shares[1]
    appearance.choose(Theme.DARK)
    assert bar.grab().toImage().pixelColor(inside) == DARK.shares[1]
    assert panel.palette().color(QPalette.ColorRole.Window) == DARK.window


@pytest.mark.parametrize(
    ("prefill", "words", "draft_words"),
    [
        (None, "–", ""),
        (Prefilling(1, 5_000, 6_000, 790, 790, 2.5), "5,000 of 6,000 tokens read, 790 reused", ""),
        (Prefilling(1, 812, 812, 790, 789, 0.42), "812 tokens: 790 reused, 22 read in 0.4 s", ""),
        (Prefilling(1, 812, 812, 790, 12, 12.3), "812 tokens: 790 reused, 22 read in 12 s", "draft: 12 reused"),
        (Prefilling(1, 812, 812, 811, None, 0.004), "812 tokens: 811 reused, 1 read in 4 ms", ""),
    ],
)
def test_how_the_prompt_was_read(prefill: Prefilling | None, words: str, draft_words: str) -> None:
    assert wording.prompt_text(prefill) == words
    assert wording.draft_prompt_text(prefill) == draft_words
