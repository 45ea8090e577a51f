"""Small builders for the settings pages: a labelled, explained field on a form. Know nothing of any setting."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Generic, TypeVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QFormLayout, QLabel, QSpinBox, QWidget

Choice = TypeVar("Choice", bound=StrEnum)


class ChoiceBox(QComboBox, Generic[Choice]):
    """One value of an enumeration, by the texts given for them."""

    def __init__(self, texts: Mapping[Choice, str]) -> None:
        super().__init__()
        self._choices = tuple(texts)
        self.addItems(list(texts.values()))

    def show_value(self, value: Choice) -> None:
        self.setCurrentIndex(self._choices.index(value))

    def value(self) -> Choice:
        return self._choices[self.currentIndex()]


def form(page: QWidget) -> QFormLayout:
    layout = QFormLayout(page)
    layout.setContentsMargins(18, 16, 18, 16)
    layout.setHorizontalSpacing(18)
    layout.setVerticalSpacing(10)
    layout.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.FieldsStayAtSizeHint)
    layout.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
    return layout


def add_field(layout: QFormLayout, label: str, field: QWidget, explanation: str) -> None:
    """Both the label and the field show the explanation."""
    caption = QLabel(label)
    caption.setToolTip(explanation)
    caption.setBuddy(field)
    name_field(field, label, explanation)
    layout.addRow(caption, field)


def name_field(field: QWidget, name: str, explanation: str) -> None:
    """For those who point at it and those who have it read aloud."""
    field.setToolTip(explanation)
    field.setAccessibleName(name)
    field.setAccessibleDescription(explanation)


def decimal(low: float, high: float, step: float, *, digits: int = 2) -> QDoubleSpinBox:
    box = QDoubleSpinBox()
    box.setRange(low, high)
    box.setSingleStep(step)
    box.setDecimals(digits)
    box.setMinimumWidth(110)
    return box


def whole(low: int, high: int, *, step: int = 1, low_means: str = "", suffix: str = "") -> QSpinBox:
    """`low_means` is shown in place of the lowest value."""
    box = QSpinBox()
    box.setRange(low, high)
    box.setSingleStep(step)
    box.setSpecialValueText(low_means)
    box.setSuffix(suffix)
    box.setMinimumWidth(110)
    return box


def note(text: str) -> QLabel:
    """An explaining sentence in the quieter text colour."""
    label = QLabel(text)
    label.setWordWrap(True)
    label.setProperty("role", "muted")
    return label
