"""What stands in the middle while there is no conversation: how to get a model, or what the colours mean."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QPushButton, QScrollArea, QSizePolicy, QStackedWidget, QVBoxLayout, QWidget

from desktop_app.core.rounds import Kind
from desktop_app.ui.theme import Appearance

_WIDTH_MAX = 520

_COLOURS = (
    "{accepted} tokens were drafted and accepted; a {bonus} one is the target's bonus after a round it accepted whole.",
    "A {rejected}, struck-through token was drafted and refused; the {corrected} one beside it is the correction.",
    "The text is what the target alone would have written: drafting only changes how fast it comes.",
)
_NAMES = {Kind.ACCEPTED: "Green", Kind.BONUS: "blue", Kind.REJECTED: "red", Kind.CORRECTED: "orange"}

EXAMPLES = (
    "Write a Python function that checks whether a string is a palindrome, with three examples.",
    "Explain in five sentences why the sky is blue and sunsets are red.",
    "List the planets of the solar system as JSON, each with its name and number of moons.",
)


class Welcome(QStackedWidget):
    """`model_requested` from the page without a model, `example_chosen` from the page with one."""

    model_requested = Signal()
    example_chosen = Signal(str)

    def __init__(self, appearance: Appearance, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._appearance = appearance
        self._sentences = [_paragraph("") for _ in _COLOURS]
        self._no_model = self._make_no_model_page()
        self._ready = self._make_ready_page()
        self.addWidget(_scrolled(self._no_model))
        self.addWidget(_scrolled(self._ready))
        appearance.changed.connect(self._on_appearance_changed)
        self._on_appearance_changed()

    def show_model(self, *, chosen: bool) -> None:
        self.setCurrentIndex(1 if chosen else 0)

    def _make_no_model_page(self) -> QWidget:
        page, column = _page("Welcome to Draftglass")
        column.addWidget(
            _paragraph(
                "Draftglass chats with models on this computer, as GGUF files. Choose the one that should answer; "
                "a second, smaller one of the same family can draft for it and make it faster."
            )
        )
        button = QPushButton("Choose a model…")
        button.setProperty("look", "primary")
        button.setToolTip("Choose the GGUF file of the target")
        button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        button.clicked.connect(self.model_requested)
        column.addWidget(button)
        column.addWidget(_paragraph("Or drop a .gguf file on this window.", quiet=True))
        column.addStretch(1)
        return page

    def _make_ready_page(self) -> QWidget:
        page, column = _page("What the colours mean")
        for sentence in self._sentences:
            column.addWidget(sentence)
        column.addSpacing(14)
        column.addWidget(_paragraph("Try one of these:", quiet=True))
        for example in EXAMPLES:
            column.addWidget(self._example(example))
        column.addStretch(1)
        return page

    def _on_appearance_changed(self) -> None:
        colours = self._appearance.colours
        words = {str(kind): f'<b style="color: {colours.ink(kind).name()}">{name}</b>' for kind, name in _NAMES.items()}
        for label, sentence in zip(self._sentences, _COLOURS, strict=True):
            label.setText(sentence.format_map(words))

    def _example(self, text: str) -> QPushButton:
        button = ExampleButton(text)
        button.clicked.connect(lambda: self.example_chosen.emit(text))
        return button


class ExampleButton(QPushButton):
    """A prompt to try; its text wraps, which a QPushButton can't do by itself."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._label = QLabel(text)
        self._label.setWordWrap(True)
        self._label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setProperty("look", "plain")
        self.setAccessibleName(text)
        self.setToolTip("Put this into the message field")
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 12, 8)
        column.addWidget(self._label)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        layout = self.layout()
        return layout.heightForWidth(width) if layout is not None else -1


def _page(title: str) -> tuple[QWidget, QVBoxLayout]:
    page = QWidget()
    page.setMaximumWidth(_WIDTH_MAX)
    column = QVBoxLayout(page)
    column.setContentsMargins(24, 24, 24, 24)
    column.setSpacing(8)
    column.addStretch(1)
    heading = QLabel(title)
    font = heading.font()
    font.setPointSizeF(font.pointSizeF() * 1.5)
    font.setBold(True)
    heading.setFont(font)
    column.addWidget(heading)
    return page, column


def _paragraph(text: str, *, quiet: bool = False) -> QLabel:
    label = QLabel(text)
    label.setWordWrap(True)
    if quiet:
        label.setProperty("role", "muted")
    return label


def _scrolled(page: QWidget) -> QScrollArea:
    area = QScrollArea()
    area.setFrameShape(QScrollArea.Shape.NoFrame)
    area.setWidgetResizable(True)
    area.setAlignment(Qt.AlignmentFlag.AlignCenter)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setWidget(page)
    area.viewport().setAutoFillBackground(False)
    page.setAutoFillBackground(False)
    return area
