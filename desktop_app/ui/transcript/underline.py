"""The underline of each kind of token: the cue beside colour. Used by answers and by the legend."""

from __future__ import annotations

import math

from PySide6.QtCore import QPointF
from PySide6.QtGui import QPainterPath

from desktop_app.core.rounds import Kind

WIDTH = 1.1
"""Of the pen, in device-independent pixels."""
_STEP = 2.0
_GAP = 2.5


def add_underline(path: QPainterPath, kind: Kind, left: float, right: float, y: float) -> None:
    """Accepted solid, corrected wavy, bonus double; nothing for the others."""
    if right <= left:
        return
    if kind is Kind.CORRECTED:
        _add_wave(path, left, right, y + 0.5)
    elif kind in (Kind.ACCEPTED, Kind.BONUS):
        _add_line(path, left, right, y)
        if kind is Kind.BONUS:
            _add_line(path, left, right, y + _GAP)


def _add_line(path: QPainterPath, left: float, right: float, y: float) -> None:
    path.moveTo(QPointF(left, y))
    path.lineTo(QPointF(right, y))


def _add_wave(path: QPainterPath, left: float, right: float, y: float) -> None:
    path.moveTo(QPointF(left, y - 0.6))
    for step in range(1, max(2, math.ceil((right - left) / _STEP)) + 1):
        path.lineTo(QPointF(min(left + _STEP * step, right), y + (1.4 if step % 2 else -0.6)))
