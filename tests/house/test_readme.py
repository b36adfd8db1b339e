"""The README says what is so: its tables are compared with the tables that they describe."""

from pathlib import Path

import pytest

from milk_tui.conversation.commands import COMMANDS
from milk_tui.storage.config import KEYS, Settings

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def row(key: str) -> str:
    """A setting as the README shows it."""
    field = Settings.model_fields[key]
    default = field.default
    if default is None or default in ((), {}):
        shown = ""
    else:
        shown = f"`{str(default).lower() if isinstance(default, bool) else default}`"
    return f"| `{key}` | {shown} | {field.description} |"


@pytest.mark.parametrize("key", KEYS)
def test_every_setting_is_in_the_readme_as_it_is(key: str) -> None:
    assert row(key) in README


@pytest.mark.parametrize("command", [command.name for command in COMMANDS])
def test_every_command_is_in_the_readme(command: str) -> None:
    assert f"`{command}`" in README or f"`{command} " in README


def test_every_picture_of_the_readme_is_there() -> None:
    for part in README.split("](")[1:]:
        target = part.split(")")[0]
        if not target.startswith("http"):
            assert (Path(__file__).parents[2] / target).is_file(), target
