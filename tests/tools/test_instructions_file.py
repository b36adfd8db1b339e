"""The project's own instructions: what is read, and what is not."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from milk_tui.tools.instructions_file import (
    FILE_BYTES,
    ProjectFile,
    ProjectInstructions,
    project_instructions,
)


def test_a_project_without_instructions_has_none(tmp_path: Path) -> None:
    assert project_instructions(str(tmp_path)) is None
    assert project_instructions(str(tmp_path / "gone")) is None


def test_agents_md_comes_before_claude_md_unless_it_is_empty(tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").write_text("for Claude")
    assert project_instructions(str(tmp_path)) == ProjectFile(name="CLAUDE.md", text="for Claude")
    (tmp_path / "AGENTS.md").write_text(" \n")
    assert project_instructions(str(tmp_path)) == ProjectFile(name="CLAUDE.md", text="for Claude")
    (tmp_path / "AGENTS.md").write_bytes(b"\xef\xbb\xbfUse \x1b[31mtabs")
    assert project_instructions(str(tmp_path)) == ProjectFile(name="AGENTS.md", text="Use tabs")


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _outside(path: Path) -> None:
    secret = path.parent.parent / "secret"
    secret.write_text("hunter2")
    path.symlink_to(secret)


ODD: dict[str, Callable[[Path], object]] = {
    "not an ordinary file": _fifo,
    "directory": Path.mkdir,
    "out of the project": _outside,
    "UTF-8": lambda path: path.write_bytes(b"\xff\xfe\x00caf\xe9"),
    "1 MB": lambda path: path.write_bytes(b"x" * (FILE_BYTES + 1)),
}


@pytest.mark.parametrize("reason", ODD)
def test_what_is_no_instructions_is_a_sentence_and_no_text(tmp_path: Path, reason: str) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    ODD[reason](folder / "AGENTS.md")
    found = project_instructions(str(folder))
    assert found is not None
    assert found.text == ""
    assert found.problem.startswith("AGENTS.md is not used: ")
    assert reason in found.problem


def test_a_link_inside_the_project_is_followed(tmp_path: Path) -> None:
    (tmp_path / "docs.md").write_text("Use tabs.")
    (tmp_path / "AGENTS.md").symlink_to("docs.md")
    assert project_instructions(str(tmp_path)) == ProjectFile(name="AGENTS.md", text="Use tabs.")


def test_instructions_are_read_again_only_when_the_file_has_changed(tmp_path: Path) -> None:
    path = tmp_path / "AGENTS.md"
    instructions = ProjectInstructions(str(tmp_path))
    assert instructions.current() is None
    path.write_text("one")
    first = instructions.current()
    assert first is instructions.current()
    assert first is not None and first.text == "one"
    path.write_text("two!")
    assert instructions.current() == ProjectFile(name="AGENTS.md", text="two!")
    path.unlink()
    assert instructions.current() is None
