"""What the parts of the speed panel share: fonts relative to the widget's own, tooltip text."""

from __future__ import annotations

from html import escape

from PySide6.QtGui import QFont

SMALL = 0.86
"""Size of axis labels and captions relative to the widget's font."""


def scaled_font(font: QFont, factor: float, *, bold: bool = False) -> QFont:
    """A copy of `font`, whichever unit its size is given in."""
    scaled = QFont(font)
    if font.pointSizeF() > 0:
        scaled.setPointSizeF(font.pointSizeF() * factor)
    else:
        scaled.setPixelSize(round(font.pixelSize() * factor))
    if bold:
        scaled.setWeight(QFont.Weight.DemiBold)
    return scaled


def tooltip(text: str) -> str:
    """Rich text, since Qt wraps no other."""
    return f"<qt>{escape(text)}</qt>"
