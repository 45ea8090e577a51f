"""The line at the bottom: how full the context is, and where the models run. Follows pair and engine."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QWidget

from desktop_app.core.facts import Device, ModelFacts
from desktop_app.protocol.messages import Ready
from desktop_app.services.context_use import ContextUse
from desktop_app.services.engine_client import EngineClient
from desktop_app.services.pair import PairService
from desktop_app.ui.context_gauge import ContextGauge
from desktop_app.ui.elided_label import ElidedLabel
from desktop_app.ui.theme import Appearance

_GIB = 2**30


class StatusLine(QWidget):
    """The gauge on the left, the place on the right; each explains itself in its tooltip."""

    def __init__(
        self,
        context: ContextUse,
        pair: PairService,
        engine: EngineClient,
        appearance: Appearance,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._pair = pair
        self._devices: tuple[Device, ...] = ()
        self._place = ElidedLabel()
        self._place.setAccessibleName("Where the models run")
        self._place.setProperty("role", "muted")
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 3, 14, 4)
        row.addWidget(ContextGauge(context, appearance))
        row.addStretch(1)
        row.addWidget(self._place)
        pair.changed.connect(self._refresh)
        engine.ready.connect(self._on_engine_ready)
        self._refresh()

    def _on_engine_ready(self, ready: Ready) -> None:
        self._devices = ready.devices
        self._refresh()

    def _refresh(self) -> None:
        target = self._pair.target
        self._place.set_text(*device_words(target, self._devices) if target else ("", ""))


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
