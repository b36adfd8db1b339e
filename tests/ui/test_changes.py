"""How a change is drawn: every line in its place, with the number that it has or will have."""

from textual.style import Style

from milk_tui.core.line_diff import COMPARED
from milk_tui.ui.widgets.changes import change


def drawn(before: str | None, after: str | None, *, is_wide: bool = False) -> list[str]:
    lines = change(before, after, "a.txt", lambda _name: Style(), 41, is_wide=is_wide)
    return [line.plain.rstrip() for line in lines]


def test_lines_that_stay_have_the_numbers_of_the_new_text() -> None:
    assert drawn("a\nb\nc\nd", "a\nx\ny\nc\nd") == ["1  a", "2 -b", "2 +x", "3 +y", "4  c", "5  d"]


def test_a_small_change_in_a_large_text_is_a_small_change() -> None:
    head, tail = "head\n" * 60_000, "tail\n" * 60_000
    assert len(head) > COMPARED
    rows = drawn(f"{head}old\n{tail}", f"{head}new\n{tail}")
    assert [row.strip() for row in rows] == [
        "59999  head",
        "60000  head",
        "60001 -old",
        "60001 +new",
        "60002  tail",
        "60003  tail",
    ]


def test_changes_that_are_far_apart_have_a_gap_between_them() -> None:
    old = [str(number) for number in range(1, 31)]
    new = ["x", *old[1:28], "y", *old[29:]]
    rows = drawn("\n".join(old), "\n".join(new))
    assert rows.count("⋯") == 1 and " 1 +x" in rows and "29 +y" in rows


def test_a_new_and_a_gone_file_are_shown_in_full() -> None:
    assert drawn(None, "a\nb") == ["a new file:", "1 +a", "2 +b"]
    assert drawn("a\nb", None) == ["the file is gone:", "1 -a", "2 -b"]
    assert drawn(None, "") == ["a new file:"]


def test_what_cannot_be_compared_is_shown_as_it_becomes() -> None:
    rows = drawn("x" * COMPARED, "y\nz")
    assert rows == ["the whole file becomes:", "1 +y", "2 +z"]


def test_side_by_side_no_line_is_lost() -> None:
    rows = drawn("a\nb\nc", "a\nx\ny\nc", is_wide=True)
    assert [row.split("│")[0].strip() for row in rows] == ["1  a", "2 -b", "", "3  c"]
    assert [row.split("│")[1].strip() for row in rows] == ["1  a", "2 +x", "3 +y", "4  c"]


def test_controls_are_not_drawn() -> None:
    assert drawn("a\x1b[31m\r\n", "a\n") == ["Only line ends, or characters that cannot be shown, change."]
