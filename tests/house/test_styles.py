import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from textual.app import App, ComposeResult
from textual.theme import BUILTIN_THEMES

from milk_tui.core.errors import MilkError
from milk_tui.ui import styling
from milk_tui.ui.styling import SHEETS, THEME_TOKENS, stylesheets, theme_tokens
from milk_tui.ui.widgets.status_line import StatusLine

ROOT = Path(__file__).resolve().parents[2]
LONGEST = 120


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built by the build backend itself."""
    folder = tmp_path_factory.mktemp("wheel")
    build = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", build, str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return next(folder.glob("*.whl"))


def test_the_list_names_every_sheet_of_the_checkout() -> None:
    assert set(stylesheets()) == set((ROOT / "styles").rglob("*.tcss"))
    assert len(set(SHEETS)) == len(SHEETS)


def test_the_wheel_holds_every_sheet_and_nothing_beside_the_package(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {f"milk_tui/styles/{sheet}" for sheet in SHEETS} <= set(names)
    top = {name.split("/")[0] for name in names}
    assert {name for name in top if not name.endswith(".dist-info")} == {"milk_tui"}


def test_the_wheel_finds_its_own_sheets(wheel: Path, tmp_path: Path) -> None:
    installed = tmp_path / "installed"
    zipfile.ZipFile(wheel).extractall(installed)
    ask = "from milk_tui.ui.styling import stylesheets; print(*stylesheets(), sep='\\n')"
    done = subprocess.run(
        [sys.executable, "-P", "-c", ask],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    paths = [Path(line) for line in done.stdout.splitlines()]
    assert [path.name for path in paths] == list(SHEETS)
    assert all(path.is_file() and path.is_relative_to(installed) for path in paths)


def test_sheets_that_are_nowhere_are_an_error_that_names_both_places(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(styling, "_PACKAGE", tmp_path / "milk_tui")
    with pytest.raises(MilkError) as raised:
        stylesheets()
    assert str(tmp_path / "milk_tui" / "styles") in str(raised.value)
    assert str(tmp_path / "styles") in str(raised.value)


@pytest.mark.parametrize("sheet", SHEETS)
def test_a_sheet_is_short_and_names_no_colour_of_its_own(sheet: str) -> None:
    text = (ROOT / "styles" / sheet).read_text(encoding="utf-8")
    assert len(text.splitlines()) <= LONGEST
    assert "!important" not in text
    assert not re.search(r":[^;{]*#[0-9a-fA-F]{3,8}\b", text)
    assert not re.search(r":\s*(rgb|hsl)a?\(", text)


def test_no_widget_brings_a_sheet_of_its_own() -> None:
    sources = (ROOT / "milk_tui").rglob("*.py")
    assert [path for path in sources if "DEFAULT_CSS" in path.read_text(encoding="utf-8")] == []


@pytest.mark.parametrize("name", sorted(BUILTIN_THEMES))
def test_every_theme_has_every_colour_that_the_sheets_name(name: str) -> None:
    theme = BUILTIN_THEMES[name]
    known = {**theme.to_color_system().generate(), **theme.variables, **theme_tokens(theme)}
    named = {
        colour for sheet in stylesheets() for colour in re.findall(r"\$([\w-]+)", sheet.read_text("utf-8"))
    }
    assert named - known.keys() == set()


def test_a_theme_that_has_no_such_colour_lends_its_dimmest() -> None:
    tokens = theme_tokens(BUILTIN_THEMES["ansi-dark"])
    assert tokens.keys() >= THEME_TOKENS.keys()
    assert tokens["foreground-disabled"] == tokens["ghost"] == "ansi_default 50%"


async def test_the_sheets_are_applied() -> None:
    class Styled(App[None]):
        CSS_PATH = [str(path) for path in stylesheets()]

        def get_theme_variable_defaults(self) -> dict[str, str]:
            return theme_tokens(self.current_theme)

        def compose(self) -> ComposeResult:
            yield StatusLine()

    app = Styled()
    async with app.run_test(size=(80, 24)):
        assert app.query_one(StatusLine).size.height == 1
