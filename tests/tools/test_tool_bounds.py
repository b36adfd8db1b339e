"""Bounded results, and where paths lead."""

import os
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from milk_tui.core.text import sanitize
from milk_tui.tools.bounds import bounded
from milk_tui.tools.trouble import ToolError
from milk_tui.tools.workspace import Workspace

TEXT = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("\n😀👩‍👩‍👧🇩🇪é"), max_size=400)


@settings(max_examples=100, deadline=None)
@given(TEXT, st.integers(0, 5), st.integers(1, 600))
def test_a_result_never_exceeds_its_limit_and_is_valid_text(text: str, more: int, limit: int) -> None:
    text = sanitize(text) * (1 + more)
    with tempfile.TemporaryDirectory() as folder:
        result = bounded(text, limit, Path(folder), "tool")
        assert len(result) <= limit
        result.encode("utf-8")
        kept = list(Path(folder).iterdir())
        if len(text) <= limit:
            assert result == text and not kept
        else:
            assert kept[0].read_bytes() == text.encode()


@pytest.mark.parametrize(
    "piece", ["\x1b", "\x1b]a", "\x1b[31mx\x1b[0m", "\x07a", "\x1b[0", "\x9b2J", "\r\x1b[K"]
)
def test_megabytes_of_controls_take_seconds_and_reach_neither_model_nor_file(
    tmp_path: Path, piece: str
) -> None:
    began = time.process_time()
    result = bounded(piece * (6_000_000 // len(piece)), 2_000, tmp_path, "tool")
    assert time.process_time() - began < 5
    written = "".join(path.read_text() for path in tmp_path.iterdir())
    assert not {"\x1b", "\x07", "\x9b", "\r"} & (set(result) | set(written))


def test_a_sequence_without_end_does_not_hide_that_something_is_missing(tmp_path: Path) -> None:
    result = bounded("\x1b]0;" + "x" * 50_000 + "\x07tail", 2_000, tmp_path, "tool")
    assert "characters left out" in result and "shortened here" in result


def test_a_shortened_result_names_its_private_file(tmp_path: Path) -> None:
    result = bounded("head" + "x" * 50_000 + "tail", 2_000, tmp_path / "kept", "grep")
    (kept,) = (tmp_path / "kept").iterdir()
    assert result.startswith(f"[50,008 characters, shortened here. All of it is in {kept}]\nhead")
    assert result.endswith("tail")
    assert "characters left out" in result
    assert kept.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "kept").stat().st_mode & 0o777 == 0o700


def test_a_result_that_cannot_be_kept_says_so(tmp_path: Path) -> None:
    (tmp_path / "kept").touch()
    result = bounded("x" * 5_000, 1_000, tmp_path / "kept", "grep")
    assert "could not be kept" in result
    assert len(result) <= 1_000


PART = st.sampled_from(
    ["..", ".", "in", "out", "loop", "deep", "missing", "~", "/", "/etc", "", "link-up", "a b"]
)


@settings(max_examples=120, deadline=None)
@given(st.lists(PART, min_size=1, max_size=8), st.booleans())
@example([".", "~"], False)
def test_a_path_is_free_only_if_it_really_is_inside(parts: list[str], is_absolute: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder).resolve()
        inside = base / "project"
        (inside / "in/deep").mkdir(parents=True)
        (base / "secret").mkdir()
        (base / "secret/missing").touch()
        (inside / "out").symlink_to(base / "secret")
        (inside / "in/link-up").symlink_to("../..")
        (inside / "loop").symlink_to("loop")
        given_path = ("/" if is_absolute else "") + "/".join(parts)
        try:
            place = Workspace(inside).place(given_path)
        except ToolError:
            return
        # The system's own word on where the path leads, where it leads anywhere.
        really = inside / os.path.expanduser(given_path)  # noqa: PTH111 - pathlib expands `./~` as well
        if really.exists():
            assert place.path.samefile(really)
            is_inside = really.resolve().is_relative_to(inside)
            assert is_inside == (not place.reason)
        if not place.reason:
            assert place.path.is_relative_to(inside)


@pytest.mark.parametrize("prefix", ["", "x"])
def test_a_sibling_with_the_same_beginning_is_outside(tmp_path: Path, prefix: str) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project2").mkdir()
    place = Workspace(tmp_path / "project").place(f"../project2/{prefix}a.txt")
    assert "outside" in place.reason
