"""The theme of the first frame is the one that the settings name."""

import json
from pathlib import Path

import pytest

from milk_tui.storage import config, glance

CASES = {
    "nothing": ({}, {}, {}),
    "our own file": ({"theme": "nord"}, {}, {}),
    "the Go program's file, which has none": ({}, {"theme": "dracula"}, {}),
    "both files": ({"theme": "nord"}, {"theme": "dracula"}, {}),
    "the environment": ({"theme": "nord"}, {}, {"MILK_THEME": "gruvbox"}),
}


@pytest.mark.parametrize("name", CASES)
def test_a_glance_finds_the_theme_that_the_settings_say(name: str, tmp_path: Path) -> None:
    own, other, environ = CASES[name]
    (tmp_path / "tui.json").write_text(json.dumps(own))
    (tmp_path / "config.json").write_text(json.dumps(other))
    settings = config.load(config.home(None, {"MILK_HOME": str(tmp_path)}), {}, environ)
    assert glance.theme(None, {"MILK_HOME": str(tmp_path), **environ}) == (settings.theme or "")
    assert glance.theme(str(tmp_path), environ) == (settings.theme or "")


@pytest.mark.parametrize("text", ["", "[1]", "{", '{"theme": 3}', "\x00"])
def test_a_damaged_file_names_no_theme(text: str, tmp_path: Path) -> None:
    (tmp_path / "tui.json").write_text(text)
    assert glance.theme(str(tmp_path), {}) == ""
