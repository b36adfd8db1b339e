"""Our own themes can be read: contrast as the Web Content Accessibility Guidelines measure it."""

import re

import pytest
from textual.color import Color
from textual.theme import Theme

from milk_tui.ui.styling import THEME_TOKENS, theme_tokens
from milk_tui.ui.themes import OWN
from tests.ui.scenes import SCENES, picture

GROUNDS = ("background", "surface", "panel")
MARKS = {
    "foreground-disabled",
    "text-disabled",
    "brick-border",
    "ghost",
    "border",
    "primary",
    "success",
    "warning",
    "error",
}
"""Borders and marks; where they are words, the words say nothing that is not said otherwise."""
WORDS = {
    "foreground", "foreground-muted", "text-muted", "text-primary", "text-secondary", "text-accent",
    "text-success", "text-warning", "text-error", *THEME_TOKENS,
} - MARKS  # fmt: skip


def colors(theme: Theme) -> dict[str, str]:
    return {**theme.to_color_system().generate(), **theme.variables, **theme_tokens(theme)}


def luminance(color: Color) -> float:
    def linear(value: int) -> float:
        share = value / 255
        return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4

    return 0.2126 * linear(color.r) + 0.7152 * linear(color.g) + 0.0722 * linear(color.b)


def contrast(one: str, other: str) -> float:
    lights = sorted((luminance(Color.parse(one)), luminance(Color.parse(other))))
    return (lights[1] + 0.05) / (lights[0] + 0.05)


def test_the_measure_is_that_of_the_guidelines() -> None:
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("theme", OWN, ids=lambda theme: theme.name)
def test_every_word_and_every_mark_can_be_told_from_its_ground(theme: Theme, ground: str) -> None:
    known = colors(theme)
    weak = {
        f"{name} {known[name]}": round(contrast(known[name], known[ground]), 2)
        for names, least in ((WORDS, 4.5), (MARKS, 3.0))
        for name in names
        if contrast(known[name], known[ground]) < least
    }
    assert not weak


async def test_without_colour_nothing_has_any(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    scene = next(scene for scene in SCENES if scene.name == "question")
    svg = await picture(scene, (100, 30), OWN[0].name)
    colors = [Color.parse(each) for each in re.findall(r"r\d+ \{ fill: (#[0-9a-f]{6})", svg)]
    # The picture's own default for words is a grey with a little green in it.
    assert colors and all(max(each.rgb) - min(each.rgb) <= 3 for each in colors)
