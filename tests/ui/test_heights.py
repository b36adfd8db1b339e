"""Prefix sums of heights, against a plain list."""

from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from milk_tui.ui.widgets.heights import Heights

lists = st.lists(st.integers(0, 9), max_size=40)


def plain_find(heights: list[int], row: int) -> tuple[int, int]:
    for index, height in enumerate(heights):
        if row < height:
            return index, row
        row -= height
    return len(heights), row


@given(lists, lists, st.integers(0, 200))
def test_sums_and_places_are_those_of_a_plain_list(first: list[int], then: list[int], row: int) -> None:
    heights = Heights(first)
    for height in then:
        heights.append(height)
    plain = first + then

    assert [heights.before(index) for index in range(len(plain) + 1)] == [0, *accumulate(plain)]
    assert heights.total == sum(plain)
    assert heights.find(row) == plain_find(plain, row)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=40), st.data())
def test_a_changed_height_moves_all_that_follows(plain: list[int], data: st.DataObject) -> None:
    heights = Heights(plain)
    for _ in range(3):
        index = data.draw(st.integers(0, len(plain) - 1))
        heights[index] = plain[index] = data.draw(st.integers(0, 9))

    assert [heights.before(index) for index in range(len(plain) + 1)] == [0, *accumulate(plain)]


@given(lists, st.integers(0, 40), lists)
def test_a_shortened_list_grows_again(plain: list[int], count: int, more: list[int]) -> None:
    heights = Heights(plain)
    heights.truncate(count)
    heights.extend(more)
    plain = plain[:count] + more

    assert len(heights) == len(plain)
    assert [heights.before(index) for index in range(len(plain) + 1)] == [0, *accumulate(plain)]


def test_what_has_no_height_holds_no_row() -> None:
    assert Heights([0, 0, 2, 0, 1]).find(0) == (2, 0)
    assert Heights([0, 0, 2, 0, 1]).find(2) == (4, 0)
