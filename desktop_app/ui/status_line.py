"""The line at the bottom: how full the context is, and where the models run. Follows session, pair and engine."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from desktop_app.core.facts import Device, ModelFacts
from desktop_app.protocol.messages import Ready
from desktop_app.services.chat_session import ChatSession
from desktop_app.services.engine_client import EngineClient
from desktop_app.services.pair import PairService
from desktop_app.services.turn import ChatView, Turn
from desktop_app.ui.elided_label import ElidedLabel

_UNKNOWN = "–"
_GIB = 2**30


class StatusLine(QWidget):
    """Two short texts; each explains itself in its tooltip."""

    def __init__(
        self, session: ChatSession, pair: PairService, engine: EngineClient, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._pair = pair
        self._used: int | None = None
        self._devices: tuple[Device, ...] = ()
        self._context = QLabel()
        self._context.setAccessibleName("Context")
        self._place = ElidedLabel()
        self._place.setAccessibleName("Where the models run")
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 3, 14, 4)
        row.addWidget(self._context)
        row.addStretch(1)
        row.addWidget(self._place)
        for label in (self._context, self._place):
            label.setProperty("role", "muted")
        session.chat_opened.connect(self._on_chat_opened)
        session.turn_started.connect(self._on_turn_started)
        session.round_added.connect(self._on_round_added)
        pair.changed.connect(self._refresh)
        engine.ready.connect(self._on_engine_ready)
        self._refresh()

    def _on_chat_opened(self, view: ChatView) -> None:
        used = [turn.context for turn in view.turns if turn.context is not None]
        self._used = used[-1] if used else None
        self._refresh()

    def _on_turn_started(self, turn: Turn) -> None:
        self._on_round_added(turn)

    def _on_round_added(self, turn: Turn) -> None:
        if turn.chat_id == self._session.chat_id and turn.context is not None:
            self._used = turn.context
            self._show_context()

    def _on_engine_ready(self, ready: Ready) -> None:
        self._devices = ready.devices
        self._refresh()

    def _refresh(self) -> None:
        self._show_context()
        target = self._pair.target
        self._place.set_text(*device_words(target, self._devices) if target else ("", ""))

    def _show_context(self) -> None:
        target = self._pair.target
        used = _UNKNOWN if self._used is None else f"{self._used:,}"
        size = _UNKNOWN if target is None else f"{target.n_ctx:,}"
        self._context.setText(f"context {used} / {size}")
        self._context.setToolTip("Tokens of this chat in the target's context / tokens it can hold")


def device_words(target: ModelFacts, devices: tuple[Device, ...]) -> tuple[str, str]:
    """Where the target runs, and the longer explanation."""
    gpu = next((device for device in devices if device.is_gpu), None)
    if not target.gpu_layers or gpu is None:
        plural = "" if target.threads == 1 else "s"
        return f"CPU, {target.threads} thread{plural}", "All layers of the target run on the processor"
    # llama.cpp counts the output layer when it offloads everything.
    some = target.gpu_layers < target.n_layers
    layers = f"{target.gpu_layers} of {target.n_layers} layers" if some else "all layers"
    memory = f"{gpu.free_bytes / _GIB:.1f} of {gpu.memory_bytes / _GIB:.1f} GiB were free before loading"
    return f"{gpu.description} · {layers}", f"{gpu.name}: {memory}"
