"""How the next token is chosen and when an answer ends."""

from __future__ import annotations

from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QPlainTextEdit, QSizePolicy, QSpinBox, QWidget

from desktop_app.core.settings import AnswerSettings, Overflow, Sampling
from desktop_app.ui.settings.fields import ChoiceBox, add_field, decimal, form, whole

_SEED_MAX = 2**31 - 1
_TOKENS_MAX = 131_072
_OVERFLOWS = {Overflow.DROP_OLDEST: "Leave out the oldest turns", Overflow.STOP: "Refuse the message"}


class SeedField(QWidget):
    """A fixed seed, or a new one for every answer."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._random = QCheckBox("random")
        self._random.setAccessibleName("Random seed")
        self._random.setToolTip("Draw a new seed for every answer")
        self._value: QSpinBox = whole(0, _SEED_MAX)
        self._value.setAccessibleName("Seed")
        self._random.toggled.connect(self._value.setDisabled)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self._value)
        row.addWidget(self._random)
        self.setFocusProxy(self._value)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def show_value(self, seed: int | None) -> None:
        self._random.setChecked(seed is None)
        self._value.setDisabled(seed is None)
        if seed is not None:
            self._value.setValue(seed)

    def value(self) -> int | None:
        return None if self._random.isChecked() else self._value.value()


class SamplingPage(QWidget):
    """Shows and reads `Sampling`, the token limit, the stop strings and what a full context leads to."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._temperature = decimal(0.0, 2.0, 0.05)
        self._temperature.setSpecialValueText("0 (greedy)")
        self._top_k = whole(0, 1000, low_means="all")
        self._top_p = decimal(0.0, 1.0, 0.01)
        self._min_p = decimal(0.0, 1.0, 0.01)
        self._penalty = decimal(1.0, 2.0, 0.01)
        self._penalty_reach = whole(0, 4096, step=16, suffix=" tokens")
        self._seed = SeedField()
        self._max_tokens = whole(1, _TOKENS_MAX, step=64, suffix=" tokens")
        self._stop = QPlainTextEdit()
        self._stop.setProperty("look", "field")
        self._stop.setTabChangesFocus(True)
        self._stop.setFixedSize(260, 58)
        self._stop.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._overflow = ChoiceBox(_OVERFLOWS)
        self._lay_out()

    def show_values(self, settings: AnswerSettings) -> None:
        sampling = settings.sampling
        self._temperature.setValue(sampling.temperature)
        self._top_k.setValue(sampling.top_k)
        self._top_p.setValue(sampling.top_p)
        self._min_p.setValue(sampling.min_p)
        self._penalty.setValue(sampling.repeat_penalty)
        self._penalty_reach.setValue(sampling.repeat_last_n)
        self._seed.show_value(sampling.seed)
        self._max_tokens.setValue(settings.max_tokens)
        self._stop.setPlainText("\n".join(_escaped(stop) for stop in settings.stop))
        self._overflow.show_value(settings.overflow)

    def sampling(self) -> Sampling:
        return Sampling(
            temperature=round(self._temperature.value(), 2),
            top_k=self._top_k.value(),
            top_p=round(self._top_p.value(), 2),
            min_p=round(self._min_p.value(), 2),
            repeat_penalty=round(self._penalty.value(), 2),
            repeat_last_n=self._penalty_reach.value(),
            seed=self._seed.value(),
        )

    def max_tokens(self) -> int:
        return self._max_tokens.value()

    def overflow(self) -> Overflow:
        return self._overflow.value()

    def stop(self) -> tuple[str, ...]:
        lines = self._stop.toPlainText().splitlines()
        return tuple(_unescaped(line) for line in lines if line)

    def _lay_out(self) -> None:
        rows = form(self)
        add_field(
            rows,
            "Temperature",
            self._temperature,
            "Flattens (above 1) or sharpens (below 1) the distribution; 0 always takes the most probable token",
        )
        add_field(rows, "Top-k", self._top_k, "Keep only the k most probable tokens; 0 keeps all")
        add_field(
            rows,
            "Top-p",
            self._top_p,
            "Keep the smallest set of tokens whose probability reaches this share; 1 keeps all",
        )
        add_field(
            rows,
            "Min-p",
            self._min_p,
            "Keep tokens at least this probable relative to the most probable one; 0 keeps all",
        )
        add_field(
            rows,
            "Repetition penalty",
            self._penalty,
            "Makes tokens that occurred recently less probable; 1 changes nothing",
        )
        add_field(rows, "Penalty looks back", self._penalty_reach, "How many tokens back the repetition penalty looks")
        add_field(rows, "Seed", self._seed, "The same seed, prompt and settings give the same answer")
        add_field(rows, "Longest answer", self._max_tokens, "The answer ends after this many tokens")
        add_field(
            rows,
            "Stop strings",
            self._stop,
            "One a line: the answer ends before the first of them. \\n stands for a line break, \\t for a tab",
        )
        add_field(
            rows,
            "When the context is full",
            self._overflow,
            "A chat that outgrows the context: the model no longer sees its oldest turns, but always the system "
            "prompt and your newest message; or the message is refused and stays with you",
        )


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")


def _unescaped(line: str) -> str:
    known = {"n": "\n", "t": "\t", "\\": "\\"}
    out: list[str] = []
    characters = iter(line)
    for character in characters:
        if character != "\\":
            out.append(character)
            continue
        follower = next(characters, "")
        out.append(known.get(follower, "\\" + follower))
    return "".join(out)
