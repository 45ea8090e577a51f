"""How drafted tokens are judged, and how prompt lookup searches. The switch, γ and the draft stand in the top bar."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtWidgets import QButtonGroup, QFormLayout, QRadioButton, QWidget

from desktop_app.core.settings import Rule, Speculation
from desktop_app.ui.settings.fields import add_field, form, note, whole

_LOOKUP_N_MAX = 16

_RULES = {
    Rule.REJECTION: (
        "Rejection sampling",
        "Keeps a drafted token with probability min(1, p/q), else samples what is left of p: the most tokens are kept.",
    ),
    Rule.SHARED_NOISE: (
        "Shared noise",
        "Draft and target choose with the same random noise: one seed gives the same text with speculation on and off.",
    ),
}


class SpeculationPage(QWidget):
    """Shows and reads the acceptance rule and the n-gram lengths of prompt lookup."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rules = {rule: QRadioButton(title) for rule, (title, _) in _RULES.items()}
        self._group = QButtonGroup(self)
        self._longest = whole(1, _LOOKUP_N_MAX, suffix=" tokens")
        self._shortest = whole(1, _LOOKUP_N_MAX, suffix=" tokens")
        self._longest.valueChanged.connect(self._shortest.setMaximum)
        self._lay_out()

    def show_values(self, speculation: Speculation) -> None:
        self._rules[speculation.rule].setChecked(True)
        self._longest.setValue(speculation.lookup_max_n)
        self._shortest.setValue(speculation.lookup_min_n)

    def apply_to(self, speculation: Speculation) -> Speculation:
        """The same speculation with this page's values."""
        return replace(
            speculation,
            rule=next(rule for rule, button in self._rules.items() if button.isChecked()),
            lookup_max_n=self._longest.value(),
            lookup_min_n=min(self._shortest.value(), self._longest.value()),
        )

    def _lay_out(self) -> None:
        rows = form(self)
        rows.addRow(
            note(
                "Acceptance rule, used at temperatures above 0. At 0 a drafted token is kept if it is the "
                "target's most probable one."
            )
        )
        for rule, button in self._rules.items():
            self._add_rule(rows, button, _RULES[rule][1])
        rows.addRow(note("Prompt lookup drafts what followed the last words when they occurred before."))
        add_field(rows, "Longest match", self._longest, "Prompt lookup first searches for this many tokens in a row")
        add_field(rows, "Shortest match", self._shortest, "Fewer tokens in a row than this are not taken as a match")

    def _add_rule(self, rows: QFormLayout, button: QRadioButton, explanation: str) -> None:
        self._group.addButton(button)
        button.setToolTip(explanation)
        button.setAccessibleDescription(explanation)
        text = note(explanation)
        text.setIndent(24)
        rows.addRow(button)
        rows.addRow(text)
