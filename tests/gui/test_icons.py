"""The icons: each one draws something, in the colour of the palette in force."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QIcon, QImage
from PySide6.QtWidgets import QApplication

from desktop_app.services.settings_file import Theme
from desktop_app.ui.icons import Icon, app_icon, icon
from desktop_app.ui.theme import DARK, LIGHT, Appearance

SIZE = QSize(48, 48)


@pytest.fixture
def appearance(qapp: QApplication) -> Appearance:
    return Appearance(qapp, Theme.LIGHT)


def solid_colours(image: QImage) -> set[str]:
    """Colours of the pixels that are fully covered."""
    pixels = (image.pixelColor(x, y) for x in range(image.width()) for y in range(image.height()))
    return {pixel.name() for pixel in pixels if pixel.alpha() == 255}


@pytest.mark.parametrize("which", Icon)
def test_drawn_in_the_text_colour(which: Icon, appearance: Appearance) -> None:
    assert solid_colours(icon(which).pixmap(SIZE).toImage()) == {appearance.colours.text.name()}


def test_follows_a_change_of_theme(appearance: Appearance) -> None:
    send = icon(Icon.SEND)
    assert solid_colours(send.pixmap(SIZE).toImage()) == {LIGHT.text.name()}
    appearance.choose(Theme.DARK)
    assert solid_colours(send.pixmap(SIZE).toImage()) == {DARK.text.name()}


def test_greyed_when_disabled(appearance: Appearance) -> None:
    image = icon(Icon.STOP).pixmap(SIZE, QIcon.Mode.Disabled).toImage()
    assert solid_colours(image) == {appearance.colours.disabled.name()}


@pytest.mark.usefixtures("appearance")
def test_app_icon_fills_its_square() -> None:
    image = app_icon().pixmap(SIZE).toImage()
    assert image.pixelColor(image.width() // 2, 3).alpha() == 255
    assert len(solid_colours(image)) > 4
