"""A difference is a true one: the patch makes one text of the other, and its lines are what is counted."""

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milk_tui.core.line_diff import COMPARED, counts, edges, unified

LINES = st.lists(st.sampled_from(["a\n", "b\n", "\n", "c\r\n", "\u2028x\n", "\x0cy\n"]), max_size=12)
TEXTS = st.builds(lambda lines, end: "".join(lines) + end, LINES, st.sampled_from(["", "z", "a"]))


@given(TEXTS, TEXTS)
def test_equal_edges_do_not_overlap(before: str, after: str) -> None:
    old, new = before.split("\n"), after.split("\n")
    head, tail = edges(old, new)
    assert head + tail <= min(len(old), len(new))
    assert old[:head] == new[:head] and old[len(old) - tail :] == new[len(new) - tail :]


@settings(max_examples=200, deadline=None)
@given(TEXTS, TEXTS)
def test_as_many_lines_are_counted_as_the_patch_has_or_the_edges_leave(before: str, after: str) -> None:
    added, removed = counts(before, after)
    assert added - removed == len(_lines(after)) - len(_lines(before))
    assert ((added, removed) == (0, 0)) == (before == after) == (unified(before, after, "x") == "")


def _lines(text: str) -> list[str]:
    return [line for line in text.replace("\n", "\n\0").split("\0") if line]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("one\ntwo\n", "one\nthree\n"),
        ("one", "one\n"),
        ("one\n", "one"),
        ("", "x\n"),
        (None, "new\n"),
        ("gone\nfor good", None),
        ("a\u2028b\nc\n", "a\u2028b\nd\n"),
    ],
)
def test_git_applies_the_patch(tmp_path: Path, before: str | None, after: str | None) -> None:
    if shutil.which("git") is None:
        pytest.skip("there is no git")
    file = tmp_path / "dir" / "a.txt"
    file.parent.mkdir()
    if before is not None:
        file.write_text(before, encoding="utf-8", newline="")
    patch = unified(before, after, "dir/a.txt").encode()
    subprocess.run(["git", "apply", "-"], cwd=tmp_path, input=patch, check=True, timeout=30)
    assert (file.read_bytes().decode() if file.exists() else None) == after


def test_what_is_too_much_to_compare_counts_as_changed_between_the_edges() -> None:
    old = "same\n" + "x" * COMPARED + "\nend\n"
    assert counts(old, "same\ny\nend\n") == (1, 1)
    assert counts("head\n" * 100_000 + "old\n", "head\n" * 100_000 + "new\n") == (1, 1)
