"""Every module is small, and says what it is for."""

import ast
from pathlib import Path

import pytest

from tests.e2e.running import REPO

MODULES = sorted((REPO / "milk_tui").rglob("*.py"))


def relative(path: Path) -> str:
    return str(path.relative_to(REPO))


def test_there_are_modules_to_look_at() -> None:
    assert len(MODULES) > 50


@pytest.mark.parametrize("module", MODULES, ids=relative)
def test_a_module_has_300_lines_at_the_most_and_opens_by_saying_what_it_is_for(module: Path) -> None:
    source = module.read_text(encoding="utf-8")
    assert len(source.splitlines()) <= 300
    assert ast.get_docstring(ast.parse(source)), "it does not say what it is for"


def test_no_module_is_a_drawer_for_odds_and_ends() -> None:
    drawers = {"utils", "util", "helpers", "helper", "misc", "common"}
    assert [relative(path) for path in MODULES if path.stem in drawers] == []


def test_test_modules_have_names_of_their_own() -> None:
    names = [path.name for path in (REPO / "tests").rglob("*.py") if path.name != "conftest.py"]
    assert sorted(names) == sorted(set(names))
