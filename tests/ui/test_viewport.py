"""The window on the rows of the transcript, without a screen."""

from hypothesis import given, settings
from hypothesis import strategies as st

from milk_tui.ui.widgets.blocks import Block
from milk_tui.ui.widgets.viewport import Viewport
from tests.ui.transcript_stage import messages


def rows_on_screen(viewport: Viewport) -> list[str]:
    return [line.row.text for line in viewport.lines]


def all_rows(viewport: Viewport) -> list[str]:
    return [
        row.text for view in viewport.views for piece in range(len(view.heights)) for row in view.rows(piece)
    ]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(-90, 90), max_size=15))
def test_scrolling_by_rows_shows_exactly_the_rows_so_far_away(steps: list[int]) -> None:
    blocks = [
        Block(f"{n}", "local", "\n".join(f"{n}.{line} " * 9 for line in range(n % 7))) for n in range(40)
    ]
    viewport, whole = Viewport(), Viewport()
    for each in (viewport, whole):
        each.resize(40, 10)
        each.extend(blocks)
    viewport.settle()
    rows = all_rows(whole)
    place = len(rows) - 10
    for step in steps:
        # Row 1 and not 0, for to go to row 0 is to go to the beginning, wherever that is found to be.
        step = max(1, viewport.scroll_y + step) - viewport.scroll_y
        viewport.scroll(viewport.scroll_y + step)
        shown = rows_on_screen(viewport)
        if abs(step) <= 40:
            place = max(0, min(len(rows) - 10, place + step))
            assert shown == rows[place : place + 10]
        else:
            place = next(number for number in range(len(rows)) if _starts_with(rows[number:], shown))


def _starts_with(rows: list[str], shown: list[str]) -> bool:
    return rows[: len(shown)] == shown and any("." in row for row in shown)


@settings(deadline=None, max_examples=40)
@given(st.integers(20, 100), st.integers(20, 100), st.integers(1, 100))
def test_a_resize_keeps_what_is_read_at_the_top(width: int, other: int, row: int) -> None:
    words = " ".join(f"word{number}" for number in range(300))
    viewport = Viewport()
    viewport.resize(width, 8)
    viewport.extend([Block("a", "local", f"{words}\n\n{words}"), Block("b", "user", words)])
    viewport.settle()
    viewport.scroll(row)
    before = viewport.lines[0].row.text.split()
    viewport.resize(other, 8)
    viewport.settle()

    if not viewport.following and before and before[0].startswith("word"):
        assert before[0] in " ".join(rows_on_screen(viewport)[:2]).split()


def test_a_resize_with_a_notice_at_the_very_beginning_shows_it_again() -> None:
    viewport = Viewport()
    viewport.resize(40, 10)
    viewport.extend([Block("first", "notice", "a notice " * 9)])
    viewport.settle()
    viewport.scroll(0)
    viewport.resize(20, 10)
    viewport.settle()
    assert "".join(rows_on_screen(viewport)).count("notice") == 9


def test_ten_thousand_blocks_are_not_drawn_to_be_opened() -> None:
    viewport = Viewport()
    viewport.resize(80, 40)
    viewport.extend(messages(10_000))
    viewport.settle()

    assert sum(view.is_open for view in viewport.views) < 10


def test_rows_far_from_view_are_let_go() -> None:
    viewport = Viewport()
    viewport.resize(80, 40)
    viewport.extend(messages(1_000))
    viewport.settle()
    for _ in range(400):
        viewport.scroll(max(1, viewport.scroll_y - 39))

    assert viewport.drawn_rows < 7_000


def test_what_arrives_while_the_reader_is_elsewhere_is_not_drawn() -> None:
    viewport = Viewport()
    viewport.resize(80, 10)
    viewport.extend(messages(10))
    viewport.settle()
    viewport.scroll(5)
    before = rows_on_screen(viewport)
    viewport.extend([Block("a", "local")])
    for number in range(50):
        viewport.update(10, Block("a", "local", "text\n\n" * number))
        viewport.settle()

    assert rows_on_screen(viewport) == before
    assert not viewport.views[10].is_open
