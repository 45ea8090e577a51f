"""How models are loaded: context, layers on a GPU, threads."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtWidgets import QWidget

from desktop_app.services.settings_file import Settings
from desktop_app.ui.settings.fields import add_field, form, note, whole

_CONTEXT_MIN, _CONTEXT_MAX = 512, 1_048_576
_LAYERS_MAX = 512
_THREADS_MAX = 256


class ModelPage(QWidget):
    """A change here loads the models anew."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = whole(_CONTEXT_MIN, _CONTEXT_MAX, step=1024, suffix=" tokens")
        self._layers = whole(-1, _LAYERS_MAX, low_means="all")
        self._threads = whole(0, _THREADS_MAX, low_means="automatic")
        rows = form(self)
        add_field(
            rows,
            "Context",
            self._context,
            "Tokens of conversation a model can hold; at most what it was trained for. More needs more memory",
        )
        add_field(
            rows,
            "Layers on the GPU",
            self._layers,
            "Layers of target and draft to offload where there is a GPU; fewer need less of its memory",
        )
        add_field(rows, "Threads", self._threads, "Processor threads; automatic takes one per physical core")
        rows.addRow(note("The models are loaded anew when one of these changes."))

    def show_values(self, settings: Settings) -> None:
        self._context.setValue(settings.n_ctx)
        self._layers.setValue(settings.gpu_layers)
        self._threads.setValue(settings.threads)

    def apply_to(self, settings: Settings) -> Settings:
        return replace(
            settings, n_ctx=self._context.value(), gpu_layers=self._layers.value(), threads=self._threads.value()
        )
