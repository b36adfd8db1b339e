"""Parts of widgets that are styled when they are drawn."""

import pytest
from textual.app import App, ComposeResult
from textual.content import Content
from textual.pilot import Pilot

from milk_tui.ui.dyed import Dyed
from tests.ui.scenes import until


class Swatch(Dyed):
    """One cell in the colour of its part."""

    def render(self) -> Content:
        return Content.styled("x", self.get_visual_style("swatch--part", partial=True))


class Swatches(App[None]):
    CSS = """
    Swatch > .swatch--part { color: $primary; }
    Swatch.-other > .swatch--part { color: red; }
    .-night Swatch > .swatch--part { color: blue; }
    """

    def compose(self) -> ComposeResult:
        yield Swatch()


def colour(pilot: Pilot[None]) -> str:
    """The colour on the screen."""
    style = next(iter(pilot.app.query_one(Swatch).render_line(0))).style
    assert style is not None and style.color is not None
    return style.color.get_truecolor().hex


async def test_a_part_has_the_colour_that_the_sheet_gives_it() -> None:
    async with Swatches().run_test() as pilot:
        primary = pilot.app.theme_variables["primary"].lower()
        await until(pilot, lambda: colour(pilot) == primary, "it has the theme's colour")


async def test_a_part_follows_another_theme() -> None:
    async with Swatches().run_test() as pilot:
        before = colour(pilot)
        pilot.app.theme = "gruvbox"
        await until(pilot, lambda: colour(pilot) != before, "it has another colour")
        primary = pilot.app.theme_variables["primary"].lower()
        await until(pilot, lambda: colour(pilot) == primary, "it has the other theme's colour")


@pytest.mark.parametrize(
    ("where", "name", "wanted"), [("Swatch", "-other", "#ff0000"), ("Screen", "-night", "#0000ff")]
)
async def test_a_part_follows_the_classes_of_its_widget_and_of_what_is_around_it(
    where: str, name: str, wanted: str
) -> None:
    async with Swatches().run_test() as pilot:
        assert colour(pilot) != wanted
        (pilot.app.screen if where == "Screen" else pilot.app.query_one(where)).add_class(name)
        await until(pilot, lambda: colour(pilot) == wanted, "it has the other colour")
