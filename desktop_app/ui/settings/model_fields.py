"""The fields that say how one model is loaded: a column of the models page. Knows nothing of memory or loading."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, NamedTuple

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QLabel, QWidget

from desktop_app.core.settings import AUTO_LAYERS, CacheType, FlashAttention, LoadSettings
from desktop_app.library.models import ModelFile
from desktop_app.protocol.messages import Part
from desktop_app.ui.settings.fields import ChoiceBox, name_field, whole

_CONTEXT_MIN, _CONTEXT_MAX = 512, 1_048_576
_LAYERS_MAX = 512
_THREADS_MAX = 256
_CACHE_TYPES = {CacheType.F16: "f16", CacheType.Q8_0: "q8_0: half of f16", CacheType.Q4_0: "q4_0: a quarter of f16"}
_FLASH_ATTENTION = {FlashAttention.AUTO: "auto", FlashAttention.ON: "on", FlashAttention.OFF: "off"}


class Row(NamedTuple):
    label: str
    explanation: str


ROWS: Final = (
    Row(
        "Context",
        "Tokens of conversation it can hold, at most what it was trained for; the draft's follows the target's",
    ),
    Row("Layers on the GPU", "The output counts as one more layer; auto takes as many as its memory holds"),
    Row("Threads for one token", "For passes over a single token; automatic takes one for each physical core"),
    Row(
        "Threads for many",
        "For passes over many tokens, a prompt or a verification; automatic takes as many as for one",
    ),
    Row("Cache of keys", "How the KV cache stores keys; shorter numbers take less memory and cost some precision"),
    Row("Cache of values", "How the KV cache stores values; less than f16 needs flash attention"),
    Row("Flash attention", "Computes attention without a table of all scores in memory; auto where the device can"),
)


class ModelFields(QObject):
    """One widget for each of `ROWS`, in their order; `changed` when a person or `show_values` changed one."""

    changed = Signal()

    def __init__(self, part: Part, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._how = LoadSettings()
        self._context = None if part is Part.DRAFT else whole(_CONTEXT_MIN, _CONTEXT_MAX, step=1024)
        self._layers = whole(AUTO_LAYERS, _LAYERS_MAX, low_means="auto")
        self._threads = whole(0, _THREADS_MAX, low_means="automatic")
        self._batch_threads = whole(0, _THREADS_MAX, low_means="automatic")
        self._cache_k = ChoiceBox(_CACHE_TYPES)
        self._cache_v = ChoiceBox(_CACHE_TYPES)
        self._flash_attention = ChoiceBox(_FLASH_ATTENTION)
        self.widgets: tuple[QWidget, ...] = (
            self._context or QLabel("as the target"),
            self._layers,
            self._threads,
            self._batch_threads,
            self._cache_k,
            self._cache_v,
            self._flash_attention,
        )
        for row, widget in zip(ROWS, self.widgets, strict=True):
            name_field(widget, f"{row.label}, {part}", row.explanation)
        self._connect()

    def show_values(self, how: LoadSettings) -> None:
        self._how = how
        if self._context is not None:
            self._context.setValue(how.n_ctx)
        self._layers.setValue(how.gpu_layers)
        self._threads.setValue(how.threads)
        self._batch_threads.setValue(how.batch_threads)
        self._flash_attention.show_value(how.flash_attention)
        self._cache_k.show_value(how.cache_k)
        self._cache_v.show_value(how.cache_v)
        self._on_flash_attention_changed()

    def values(self) -> LoadSettings:
        return replace(
            self._how,
            n_ctx=self._n_ctx(),
            gpu_layers=self._layers.value(),
            threads=self._threads.value(),
            batch_threads=self._batch_threads.value(),
            cache_k=self._cache_k.value(),
            cache_v=self._cache_v.value(),
            flash_attention=self._flash_attention.value(),
        )

    def fit_to(self, model: ModelFile | None) -> None:
        """Offer what this model allows, as far as its header tells."""
        n_ctx, layers = (model.n_ctx_train, model.n_layers) if model else (None, None)
        if self._context is not None:
            self._context.setMaximum(max(n_ctx or _CONTEXT_MAX, _CONTEXT_MIN))
            self._context.setSuffix(f" of {n_ctx:,}" if n_ctx else "")
        self._layers.setMaximum(_LAYERS_MAX if layers is None else layers + 1)
        self._layers.setSuffix("" if layers is None else f" of {layers + 1}")

    def set_enabled(self, enabled: bool, *, gpu: bool) -> None:
        """Without a GPU the number of its layers is kept, but there is nothing to choose."""
        for widget in self.widgets:
            widget.setEnabled(enabled)
        self._layers.setEnabled(enabled and gpu)
        explanation = ROWS[self.widgets.index(self._layers)].explanation
        self._layers.setToolTip(explanation if gpu else "llama.cpp sees no GPU here")
        self._on_flash_attention_changed()

    def _connect(self) -> None:
        for box in filter(None, (self._context, self._layers, self._threads, self._batch_threads)):
            box.valueChanged.connect(self.changed)
        for choice in (self._cache_k, self._cache_v, self._flash_attention):
            choice.currentIndexChanged.connect(self.changed)
        self._flash_attention.currentIndexChanged.connect(self._on_flash_attention_changed)

    def _n_ctx(self) -> int:
        """Looking changes nothing: a context larger than the model can have stays asked for."""
        if self._context is None:
            return self._how.n_ctx
        shown = self._context.value()
        return self._how.n_ctx if shown == min(self._how.n_ctx, self._context.maximum()) else shown

    def _on_flash_attention_changed(self) -> None:
        """Values in less than f16 can't be computed without it."""
        off = self._flash_attention.value() is FlashAttention.OFF
        if off:
            self._cache_v.show_value(CacheType.F16)
        self._cache_v.setEnabled(self._flash_attention.isEnabled() and not off)
        self._cache_v.setToolTip(
            "f16 while flash attention is off" if off else ROWS[self.widgets.index(self._cache_v)].explanation
        )
