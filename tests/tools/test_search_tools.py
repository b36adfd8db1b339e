"""Searching: within the directory, within limits, and whatever the pattern, an answer."""

import asyncio
import os
import time
from pathlib import Path

import pytest

from tests.tools.tool_room import Room, is_running, pid_in


async def test_files_are_found_by_name_where_the_pattern_says(room: Room) -> None:
    for name in ("a.py", "src/b.py", "src/deep/c.py", "src/d.txt", ".hidden.py"):
        path = room.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert (await room.done("find_files", pattern="*.py")).splitlines() == [
        ".hidden.py",
        "a.py",
        "src/b.py",
        "src/deep/c.py",
        "[4 files]",
    ]
    assert await room.done("find_files", pattern="deep/*.py", path="src") == "src/deep/c.py\n[1 file]"
    assert await room.done("find_files", pattern="*.rs") == "[0 files]"
    assert room.questions == []


async def test_lines_are_found_with_paths_that_other_tools_understand(room: Room) -> None:
    (room.directory / "src").mkdir()
    (room.directory / "src/a.py").write_text("one\ntwo\n")
    (room.directory / "b.txt").write_text("two\n")
    assert await room.done("grep", pattern="tw.") == "b.txt:1:two\nsrc/a.py:2:two\n[2 matching lines]"
    assert await room.done("grep", pattern="two", path="src") == "src/a.py:2:two\n[1 matching line]"
    assert await room.done("grep", pattern="two", glob="*.py") == "src/a.py:2:two\n[1 matching line]"
    assert await room.done("grep", pattern="two", path="src/a.py") == "src/a.py:2:two\n[1 matching line]"
    assert await room.done("grep", pattern="none") == "[0 matching lines]"


async def test_what_is_ignored_secret_or_outside_is_left_out(room: Room, tmp_path: Path) -> None:
    here = room.directory
    (tmp_path / "outside.txt").write_text("needle\n")
    (here / "link").symlink_to(tmp_path)
    (here / "link.txt").symlink_to(tmp_path / "outside.txt")
    (here / ".git").mkdir()
    (here / ".ssh").mkdir()
    (here / ".gitignore").write_text("build/\n")
    (here / "build").mkdir()
    for name in ("build/a.txt", ".git/config", ".env", "server.PEM", ".ssh/config", "a.txt"):
        (here / name).write_text("needle\n")
    (here / "binary").write_bytes(b"\0needle\n")
    os.mkfifo(here / "pipe")
    expected = "a.txt:1:needle\n[1 matching line]"
    assert await room.done("grep", pattern="needle") == expected
    assert await room.done("grep", pattern="needle", glob="*") == expected
    assert await room.done("grep", pattern="needle", glob="*.{env,txt,PEM}") == expected
    assert room.questions == []
    assert "outside.txt:1:needle" in await room.done("grep", pattern="needle", path="link.txt")
    assert room.questions[0].path == str(tmp_path / "outside.txt")


async def test_searching_outside_asks_about_the_folder(room: Room, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/a.txt").write_text("needle\n")
    text = await room.done("grep", pattern="needle", path="../outside")
    assert text == f"{tmp_path}/outside/a.txt:1:needle\n[1 matching line]"
    (question,) = room.questions
    assert question.scope and question.scope.kind == "folder"
    assert question.path == str(tmp_path / "outside")


@pytest.mark.parametrize("pattern", ["(", "[a", "a{99999999}", "(?<=x)y", "*"])
async def test_a_pattern_that_is_none_is_a_sentence(room: Room, pattern: str) -> None:
    text = await room.refused("grep", pattern=pattern)
    assert text.startswith("The search was not understood: ")
    assert len(text) < 700


@pytest.mark.parametrize(
    "pattern", ["--pre=sh", "-f/etc/passwd", "--files", "-", "(a+)+$", "\\", "😀", "\\n"]
)
async def test_a_pattern_is_never_an_option(room: Room, pattern: str) -> None:
    (room.directory / "a.txt").write_text("a" * 5_000 + "!\nroot\n")
    began = time.monotonic()
    result = await room.call("grep", pattern=pattern)
    assert "root:" not in result.text and "[0 files]" not in result.text
    assert time.monotonic() - began < 5


@pytest.mark.parametrize("glob", ["--pre=sh", "../*", "/etc/*", "!*", "**/**/**/**", "-"])
async def test_a_glob_never_leads_outside(room: Room, glob: str, tmp_path: Path) -> None:
    (tmp_path / "outside.txt").touch()
    text = await room.done("find_files", pattern=glob)
    assert "outside.txt" not in text and "/etc" not in text


async def test_a_bad_glob_is_a_sentence(room: Room) -> None:
    assert "error parsing glob" in await room.refused("find_files", pattern="[")


async def test_long_lines_and_many_matches_are_bounded(room: Room) -> None:
    (room.directory / "long.txt").write_text("x" * 3_000_000 + "\n")
    text = await room.done("grep", pattern="x")
    assert len(text) < 1_000
    for number in range(20):
        (room.directory / f"many{number}.txt").write_text("x\n" * 20_000)
    text = await room.done("grep", pattern="x")
    assert len(text) <= room.limit_chars
    assert text.endswith("; there is more]")


async def test_a_directory_named_like_an_option_is_searched(room: Room) -> None:
    (room.directory / "--pre").mkdir()
    (room.directory / "--pre/-a.txt").write_text("needle\n")
    assert "--pre/-a.txt:1:needle" in await room.done("grep", pattern="needle", path="--pre")
    assert "--pre/-a.txt:1:needle" in await room.done("grep", pattern="needle", path="--pre/-a.txt")


@pytest.mark.parametrize(
    ("path", "words"), [("missing", "does not exist"), ("pipe", "named pipe"), ("/dev/zero", "device")]
)
async def test_what_cannot_be_searched_is_a_sentence(room: Room, path: str, words: str) -> None:
    os.mkfifo(room.directory / "pipe")
    assert words in await room.refused("grep", pattern="x", path=path)
    assert words in await room.refused("find_files", pattern="x", path=path)


async def test_settings_of_the_user_are_not_read(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = room.directory / "rgrc"
    settings.write_text("--files\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(settings))
    assert await room.done("grep", pattern="nothing") == "[0 matching lines]"


@pytest.fixture
def endless_search(room: Room, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program that says its process id in the file given here, and then searches for ever."""
    program = room.keep.with_name("rg")
    program.write_text("#!/bin/sh\necho $$ >pid\necho ./a.txt:1:found\nexec sleep 300\n")
    program.chmod(0o755)
    monkeypatch.setattr("milk_tui.tools.ripgrep._program", lambda: str(program))
    return room.directory / "pid"


async def test_a_cancelled_search_is_gone(room: Room, endless_search: Path) -> None:
    running = asyncio.create_task(room.call("grep", pattern="x"))
    pid = await asyncio.to_thread(pid_in, endless_search)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert not is_running(pid)


async def test_a_search_without_end_is_ended(
    room: Room, endless_search: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("milk_tui.tools.ripgrep.SEARCH_SECONDS", 0.2)
    assert await room.done("grep", pattern="x") == "a.txt:1:found\n[1 matching line; stopped after 0 s]"
    assert not is_running(pid_in(endless_search))


async def test_without_the_program_it_says_so(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("milk_tui.tools.ripgrep.shutil.which", lambda *_args, **_named: None)
    assert "rg is not installed" in await room.refused("grep", pattern="x")
