"""Files by a few letters, the likeliest first, and only those that are not ignored."""

import subprocess
from pathlib import Path

import pytest

from milk_tui.tools.file_finder import FileFinder, best

PATHS = "\n".join(
    [
        "README.md",
        "milk/core/session.py",
        "milk/core/session_reading.py",
        "milk/storage/store.py",
        "tests/core/test_session.py",
        "styles/chat.tcss",
        "a file with spaces.txt",
    ]
)


@pytest.mark.parametrize(
    ("letters", "first"),
    [
        ("session", "milk/core/session.py"),
        ("sess.py", "milk/core/session.py"),
        ("testsess", "tests/core/test_session.py"),
        ("coresession_r", "milk/core/session_reading.py"),
        ("rme", "README.md"),
        ("README", "README.md"),
        ("spaces", "a file with spaces.txt"),
        (".tcss", "styles/chat.tcss"),
        ("", "README.md"),
    ],
)
def test_the_likeliest_file_comes_first(letters: str, first: str) -> None:
    assert best(PATHS, letters, 50)[0] == first


def test_letters_in_another_order_find_nothing() -> None:
    assert best(PATHS, "zzz", 50) == [] and best(PATHS, "emdaer", 50) == []


def test_letters_never_match_across_two_paths() -> None:
    assert best("ab\ncd", "bc", 50) == []


async def test_ignored_files_and_git_itself_are_left_out(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    (tmp_path / ".gitignore").write_text("secret.txt\nbuild/\n", encoding="utf-8")
    (tmp_path / "build").mkdir()
    for name in ("secret.txt", "seen.txt", "build/seen-not.txt", "with\nline.txt"):
        (tmp_path / name).write_text("x", encoding="utf-8")
    assert sorted(await FileFinder(tmp_path).find("")) == [".gitignore", "seen.txt"]


async def test_a_folder_that_is_not_there_has_no_files(tmp_path: Path) -> None:
    assert await FileFinder(tmp_path / "gone").find("a") == []
