"""The gauge of the context in the status line: counts, a small bar, and a word when it is nearly full."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from desktop_app.services.context_use import ContextUse
from desktop_app.ui.context_words import gauge_tip, gauge_words
from desktop_app.ui.theme import Appearance, Space
from desktop_app.ui.tone_label import ToneLabel
from desktop_app.ui.words import Tone

_BAR = QSize(72, 6)
_INCOMING_ALPHA = 0.45


class ContextGauge(QWidget):
    """Follows `ContextUse`."""

    def __init__(self, context: ContextUse, appearance: Appearance, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._label = ToneLabel()
        self._label.setAccessibleName("Context")
        self._bar = _Bar(appearance)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(Space.S)
        row.addWidget(self._bar)
        row.addWidget(self._label)
        context.changed.connect(self._refresh)
        self._refresh()

    @property
    def text(self) -> str:
        return self._label.text()

    def _refresh(self) -> None:
        context = self._context
        words = gauge_words(context.used, context.size)
        self._label.show_words(words)
        self.setToolTip(gauge_tip(context.used, context.size, context.overflow))
        incoming = context.message.prompt if context.message else None
        self._bar.show_shares(_share(context.used, context.size), _share(incoming, context.size), words.tone)


class _Bar(QWidget):
    """What is used, and behind it what the message being written would come to."""

    def __init__(self, appearance: Appearance) -> None:
        super().__init__()
        self._appearance = appearance
        self._used = self._incoming = 0.0
        self._tone = Tone.CALM
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setFixedSize(_BAR)
        appearance.changed.connect(self.update)

    def show_shares(self, used: float, incoming: float, tone: Tone) -> None:
        """Shares of the context, from 0 to 1."""
        if (used, incoming, tone) != (self._used, self._incoming, self._tone):
            self._used, self._incoming, self._tone = used, incoming, tone
            self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        colours = self._appearance.colours
        ink = {Tone.WARNING: colours.warning, Tone.DANGER: colours.danger}.get(self._tone, colours.accent)
        faint = QColor(ink)
        faint.setAlphaF(_INCOMING_ALPHA)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(colours.border)
        painter.setBrush(colours.sunken)
        track = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.drawRoundedRect(track, track.height() / 2, track.height() / 2)
        for share, colour in ((self._incoming, faint), (self._used, ink)):
            if share > 0:
                painter.setPen(colour)
                painter.setBrush(colour)
                filled = QRectF(track)
                filled.setWidth(max(track.width() * min(share, 1.0), track.height()))
                painter.drawRoundedRect(filled, track.height() / 2, track.height() / 2)


def _share(tokens: int | None, size: int | None) -> float:
    return tokens / size if tokens is not None and size else 0.0
