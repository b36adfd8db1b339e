"""A cut keeps to its limit, splits nothing and tells the truth about what is missing."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milk_tui.core.cut import cut_end, cut_lines, cut_middle, graphemes, one_line
from tests.core.growth import grows_within

CLUSTERS = st.sampled_from(
    [
        *(
            "a",
            "word ",
            "é",
            "e\u0301",
            "界",
            "한",
            "\u1112\u1161\u11ab",
            "क\u094dष",
            "👩‍👩‍👧",
            "👍🏽",
            "🇩🇪",
            "🇫🇷",
        ),
        *("\n", "\r\n", "line\n", " ", "\t", "z" + "\u0334" * 9, "\u0600", "\u200d", "🇩", "☺", "क", "\u094d"),
    ]
)
TEXTS = st.lists(CLUSTERS, max_size=90).map("".join)
LIMITS = st.integers(-3, 160)
CUTS = (cut_end, cut_middle, one_line)

Cut = Callable[[str, int], str]

MARKER = re.compile(r"… \[([\d,]+) characters left out\](?: …)?")


def kept(cut_text: str) -> tuple[str, int | None, str]:
    """The head, the number of missing characters, and the tail of a text that was cut."""
    if marker := MARKER.search(cut_text):
        return cut_text[: marker.start()], int(marker[1].replace(",", "")), cut_text[marker.end() :]
    return cut_text.removesuffix("…"), None, ""


def boundaries(text: str) -> set[int]:
    places, place = {0}, 0
    for grapheme in graphemes(text):
        place += len(grapheme)
        places.add(place)
    return places


@pytest.mark.parametrize("cut", CUTS)
@settings(max_examples=300, deadline=None)
@given(TEXTS, LIMITS)
def test_a_result_is_never_longer_than_its_limit(cut: Cut, text: str, limit: int) -> None:
    assert len(cut(text, limit)) <= max(limit, 0)


@pytest.mark.parametrize("cut", [cut_end, cut_middle])
@settings(max_examples=300, deadline=None)
@given(TEXTS, LIMITS)
def test_a_text_within_its_limit_is_never_changed(cut: Cut, text: str, limit: int) -> None:
    assert cut(text, len(text) + abs(limit)) == text


@pytest.mark.parametrize("cut", [cut_end, cut_middle])
@settings(max_examples=300, deadline=None)
@given(TEXTS, LIMITS)
def test_a_cut_never_splits_a_grapheme(cut: Cut, text: str, limit: int) -> None:
    if 0 < limit < len(text):
        head, _, tail = kept(cut(text, limit))
        assert text.startswith(head) and text.endswith(tail)
        assert {len(head), len(text) - len(tail)} <= boundaries(text)


@pytest.mark.parametrize("cut", [cut_end, cut_middle])
@settings(max_examples=300, deadline=None)
@given(TEXTS, LIMITS)
def test_the_number_of_missing_characters_is_true(cut: Cut, text: str, limit: int) -> None:
    if 0 < limit < len(text):
        head, missing, tail = kept(cut(text, limit))
        assert missing in (None, len(text) - len(head) - len(tail))
        assert missing is not None or limit < 80


@settings(max_examples=300, deadline=None)
@given(TEXTS, LIMITS)
def test_one_line_is_the_folded_text_cut_at_its_end(text: str, limit: int) -> None:
    folded = " ".join(text.split())
    head, missing, _ = kept(one_line(text, limit))
    assert folded.startswith(head)
    assert missing is None or len(folded) - len(head) <= missing <= len(text) - len(head)
    assert len(folded) > limit or one_line(text, limit) == folded


def test_a_cut_leaves_as_much_as_the_marker_allows() -> None:
    assert cut_end("a" * 10_000, 60) == "a" * 30 + "… [9,970 characters left out]"
    assert (
        cut_middle("a" * 5_000 + "b" * 5_000, 72) == "a" * 20 + "… [9,960 characters left out] …" + "b" * 20
    )


def test_a_cut_in_the_middle_prefers_the_end_of_a_line() -> None:
    lines = "\n".join(f"line {number}" for number in range(100))
    assert cut_middle(lines, 80) == (
        "line 0\nline 1\nline 2\n… [744 characters left out] …\nline 97\nline 98\nline 99"
    )


@pytest.mark.parametrize(("limit", "expected"), [(-1, ""), (0, ""), (1, "…"), (5, "aaaa…")])
@pytest.mark.parametrize("cut", CUTS)
def test_without_room_for_the_number_an_ellipsis_stands_for_it(cut: Cut, limit: int, expected: str) -> None:
    assert cut("a" * 50, limit) == expected


def test_a_row_of_flags_is_cut_between_flags() -> None:
    assert cut_end("🇩🇪" * 50, 62) == "🇩🇪" * 17 + "… [66 characters left out]"


def test_a_grapheme_longer_than_the_limit_is_left_out() -> None:
    monster = "e" + "\u0301" * 5_000
    assert cut_end(monster + "abc", 100) == "… [5,004 characters left out]"
    assert cut_middle("abc" + monster, 100) == "abc… [5,001 characters left out] …"
    assert one_line(f"a {monster}", 100) == "a … [5,001 characters left out]"


@pytest.mark.parametrize("unit", ["a", "界", "e\u0301", "🇩🇪", "\u0301", "a \n", "क\u094d", "👩\u200d"])
@pytest.mark.parametrize("cut", CUTS)
def test_the_cost_does_not_depend_on_the_length(cut: Cut, unit: str) -> None:
    short, long = unit * 20_000, unit * 2_000_000
    assert grows_within(5, lambda: cut(short, 2_000), lambda: cut(long, 2_000), spare=0.005)


@settings(max_examples=200, deadline=None)
@given(TEXTS, LIMITS)
def test_cutting_by_lines_keeps_whole_lines_and_counts_the_others(text: str, limit: int) -> None:
    short = cut_lines(text, limit)
    assert len(short) <= max(limit, 0) or short == text
    found = re.search(r"… \[([\d,]+) lines? left out\]$", short)
    if found:
        head = short[: found.start()]
        assert head == "" or head.endswith("\n")
        assert text.startswith(head) and text[len(head) :].count("\n") + 1 == int(found[1])
    elif short != text:
        assert short == cut_end(text, limit)
