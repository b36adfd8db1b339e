"""Text from outside is harmless afterwards, whatever the chunks, and no visible text is lost."""

from __future__ import annotations

import re
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milk_tui.core import text as text_module
from milk_tui.core.text import Sanitizer, sanitize
from tests.core.growth import grows_within

PIECES = st.sampled_from(
    [
        *(
            "\x1b",
            "\x1b[",
            "\x1b]",
            "\x1bP",
            "\x1b\\",
            "\x1b(",
            "[",
            "]",
            "P",
            "\\",
            "(",
            "\x07",
            "\x00",
            "\x7f",
        ),
        *("\x9b", "\x9d", "\x90", "\x98", "\x9e", "\x9f", "\x9c", "\x85", "\ud83d", "\ude00", "\U0001f600"),
        *(
            "\u202e",
            "\u2067",
            "\u2028",
            "\u2029",
            "\r",
            "\n",
            "\t",
            " ",
            "0",
            "31",
            ";",
            "m",
            "a",
            "Z",
            "é",
            "界",
        ),
    ]
)
TEXTS = st.lists(PIECES, max_size=30).map("".join)
ANY = st.text(st.characters(exclude_categories=[]), max_size=40) | TEXTS
SIZES = st.lists(st.integers(1, 5), min_size=1, max_size=4)


def in_chunks(text: str, sizes: list[int]) -> str:
    sanitizer = Sanitizer()
    clean, position, turn = "", 0, 0
    while position < len(text):
        size = sizes[turn % len(sizes)]
        clean += sanitizer.feed(text[position : position + size])
        position += size
        turn += 1
    return clean + sanitizer.close()


def reference(text: str, limit: int) -> str:
    """The rules one after another, each on what is left."""
    clean = ""
    while text:
        intro = re.match("\x1b[]PX^_]|[\x90\x98\x9d\x9e\x9f]", text)
        csi = re.match("(\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]?", text)
        short = re.match("\x1b[ -/]+[0-~]?|\x1b[0-~]?", text)
        if intro:
            text = text[intro.end() :]
            string = re.match(f"[^\n\u2028\u2029]{{0,{limit}}}?(\x07|\x9c|\x1b\\\\)", text)
            text = text[string.end() :] if string else text
        elif csi or short:
            text = text[(csi or short).end() :]  # type: ignore[union-attr]
        elif re.match("[\ud800-\udbff][\udc00-\udfff]", text):
            clean += chr(0x10000 + ((ord(text[0]) - 0xD800) << 10) + ord(text[1]) - 0xDC00)
            text = text[2:]
        else:
            clean += re.sub(
                "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]",
                "",
                re.sub("[\ud800-\udfff]", "\ufffd", re.sub("[\u2028\u2029]", "\n", text[0])),
            )
            text = text[1:]
    return clean


@settings(max_examples=300, deadline=None)
@given(ANY)
def test_the_result_is_what_the_rules_say(text: str) -> None:
    assert sanitize(text) == reference(text, text_module.STRING_LIMIT)


@settings(max_examples=300, deadline=None)
@given(ANY, SIZES)
def test_the_chunks_make_no_difference(text: str, sizes: list[int]) -> None:
    assert in_chunks(text, sizes) == in_chunks(text, [1]) == sanitize(text)


@settings(max_examples=300, deadline=None)
@given(TEXTS, SIZES, st.integers(1, 20))
def test_a_string_reaches_its_limit_in_the_same_place_whatever_the_chunks(
    text: str, sizes: list[int], limit: int
) -> None:
    with patch.object(text_module, "STRING_LIMIT", limit):
        assert in_chunks(text, sizes) == sanitize(text) == reference(text, limit)


@settings(max_examples=300, deadline=None)
@given(ANY)
def test_nothing_harmful_survives(text: str) -> None:
    clean = sanitize(text)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]", clean)
    clean.encode("utf-8")


@settings(max_examples=300, deadline=None)
@given(ANY)
def test_a_clean_text_is_left_alone(text: str) -> None:
    clean = sanitize(text)
    assert sanitize(clean) == clean


CASES = {
    "colours": ("a\x1b[1;31mred\x1b[0m b", "ared b"),
    "eight-bit colours": ("a\x9b31mred", "ared"),
    "a cursor shape": ("a\x1b[4 qb", "ab"),
    "a title": ("a\x1b]0;title\x07b", "ab"),
    "a link": ("\x1b]8;;http://x\x1b\\name\x1b]8;;\x1b\\", "name"),
    "an eight-bit title": ("a\x9d0;title\x9cb", "ab"),
    "a device string": ("a\x1bPq#0\x1b\\b", "ab"),
    "a reset": ("a\x1bcb", "ab"),
    "a character set": ("a\x1b(Bb", "ab"),
    "an escaped escape": ("a\x1b\x1b[31mb", "ab"),
    "an escape before a letter that ends nothing": ("a\x1béb", "aéb"),
    "line ends": ("a\r\nb\rc", "a\nbc"),
    "separators": ("a\u2028b\u2029c", "a\nb\nc"),
    "reordering": ("a\u202eb\u2066c\u2069", "abc"),
    "a pair": ("\ud83d\ude00", "\U0001f600"),
    "halves": ("\ud83da\ude00", "\ufffda\ufffd"),
    "a pair after a half": ("\ud83d\ud83d\ude00", "\ufffd\U0001f600"),
    "an unfinished colour": ("a\x1b[31", "a"),
    "a broken colour": ("a\x1b[31\nb", "a\nb"),
    "a title without an end": ("a\x1b]0;title", "a0;title"),
    "a title that ends on another line": ("a\x1b]0;b\nc\x07d", "a0;b\ncd"),
    "a title too long": ("\x1b]" + "a" * 4_097 + "\x07b", "a" * 4_097 + "b"),
    "a title just short enough": ("\x1b]" + "a" * 4_096 + "\x1b\\b", "b"),
    "an introducer in a title without an end": ("\x1b]a\x1b]b\nc", "ab\nc"),
    "tabs and newlines": ("a\tb\nc", "a\tb\nc"),
}


@pytest.mark.parametrize(("text", "clean"), CASES.values(), ids=CASES)
def test_a_sequence_goes_and_the_text_around_it_stays(text: str, clean: str) -> None:
    assert sanitize(text) == clean
    assert in_chunks(text, [1]) == clean


def test_only_the_start_of_an_unfinished_sequence_is_held_back() -> None:
    sanitizer = Sanitizer()
    assert sanitizer.feed("ab\x1b") == "ab"
    assert sanitizer.feed("[31") == ""
    assert sanitizer.feed("mcd\x1b]0;") == "cd"
    assert sanitizer.feed("title\nef") == "0;title\nef"
    assert sanitizer.close() == ""


@pytest.mark.parametrize("unit", ["\x1b", "\x1b[1;", "\x1b(", "\x9d", "\x1b]a", "\ud83d", "\x1b[ "])
def test_what_is_held_back_is_bounded(unit: str) -> None:
    sanitizer = Sanitizer()
    for _ in range(3):
        sanitizer.feed(unit * 4_000)
        assert len(sanitizer._held) <= text_module.STRING_LIMIT + 4


@pytest.mark.parametrize("size", [50, 1 << 30], ids=["in chunks", "whole"])
@pytest.mark.parametrize(
    "unit", ["\x1b", "\x1b[", "1;", "\x1b]", "\x9d", "\x9da\n", "\ud83d", "\x1b(", "\x1b[1mab"]
)
def test_the_cost_grows_no_faster_than_the_text(unit: str, size: int) -> None:
    short, long = "\x9b" + unit * 10_000, "\x9b" + unit * 100_000
    assert grows_within(25, lambda: in_chunks(short, [size]), lambda: in_chunks(long, [size]))
