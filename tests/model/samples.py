"""One tiny model for each way of keeping a running state."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from desktop_app.core.facts import MemoryKind, Rollback
from tests.fakes.tiny_recurrent import write_jamba, write_lfm2, write_mamba, write_qwen35


class Sample(NamedTuple):
    write: Callable[..., Path]
    memory: MemoryKind
    rollback: Rollback
    """Of such a target. Drafts have no snapshots."""


SAMPLES = {
    "mamba": Sample(write_mamba, MemoryKind.RECURRENT, Rollback.CHECKPOINTS),
    "jamba": Sample(write_jamba, MemoryKind.HYBRID, Rollback.CHECKPOINTS),
    "lfm2": Sample(write_lfm2, MemoryKind.HYBRID, Rollback.SNAPSHOTS),
    "qwen35": Sample(write_qwen35, MemoryKind.HYBRID, Rollback.SNAPSHOTS),
}
