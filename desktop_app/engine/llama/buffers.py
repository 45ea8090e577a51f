"""What llama.cpp allocated, as its log tells: no call of its API does."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum

_LINE = re.compile(r" (\S+) +(model|KV|RS|output|compute) buffer size = +([\d.]+) MiB")
_MIB = 2**20


class Use(StrEnum):
    """What a buffer is for, in llama.cpp's words."""

    WEIGHTS = "model"
    CACHE = "KV"
    STATE = "RS"
    """Of recurrent layers."""
    LOGITS = "output"
    COMPUTE = "compute"


def allocated_bytes(log: Iterable[str], *uses: Use) -> int:
    """Bytes of the buffers for these uses on all devices, to about 10 kB."""
    found = (match for line in log if (match := _LINE.search(line)))
    return sum(round(float(match[3]) * _MIB) for match in found if match[2] in uses)
