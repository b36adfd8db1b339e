"""Tags are found whatever the chunks, and nothing but a tag is ever taken out."""

from __future__ import annotations

import re
from collections.abc import Callable
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milk_tui.core import tags
from milk_tui.core.tags import Tag, TagKind, TagParser, close_tag, new_nonce, open_tag, parse
from tests.core.growth import grows_within

KINDS: tuple[TagKind, ...] = ("need", "percept", "escalate")


def tag(kind: TagKind, body: str, nonce: str = "n") -> str:
    return open_tag(kind, nonce) + body + close_tag(kind, nonce)


def merged(pieces: list[str | Tag]) -> list[str | Tag]:
    """The pieces with neighbouring texts joined."""
    result: list[str | Tag] = []
    for piece in pieces:
        if isinstance(piece, str) and result and isinstance(result[-1], str):
            result[-1] += piece
        else:
            result.append(piece)
    return result


def in_chunks(text: str, sizes: list[int]) -> list[str | Tag]:
    parser = TagParser("n")
    pieces: list[str | Tag] = []
    position = turn = 0
    while position < len(text):
        size = sizes[turn % len(sizes)]
        pieces += parser.feed(text[position : position + size])
        position += size
        turn += 1
    return merged(pieces + parser.close())


# --- A slow, obvious reading of the rules, for whole texts ---------------------------------------------------


class Reference:
    """One character after another; it looks ahead as far as it likes."""

    lead = r"[ \t]*((>|[-*+][ \t]|\d{1,9}[.)][ \t])[ \t]*)*"

    def __init__(self, text: str) -> None:
        self.text = text
        self.pieces: list[str | Tag] = []

    def read(self) -> list[str | Tag]:
        position, line_start, fence = 0, True, ""
        while position < len(self.text):
            if fence or (line_start and (fence := self.opens_fence(position))):
                position = self.after_fence(position, fence, line_start)
                line_start, fence = True, ""
                continue
            line_start = False
            character = self.text[position]
            end = position + 1
            if character == "\n":
                line_start = True
            elif character == "`":
                end = self.after_backticks(position)
            elif character == "<" and (found := self.tag_at(position)):
                end, recorded = found
                self.pieces += recorded
                position = end
                continue
            self.pieces.append(self.text[position:end])
            position = end
        return merged(self.pieces)

    def line_at(self, position: int) -> str:
        return self.text[position:].split("\n")[0]

    def opens_fence(self, position: int) -> str:
        line = self.line_at(position)
        if len(line) >= tags.SPAN_LIMIT:
            return ""
        rest = line[len(re.match(self.lead, line)[0]) :]  # type: ignore[index]
        ticks = len(rest) - len(rest.lstrip("`"))
        tildes = len(rest) - len(rest.lstrip("~"))
        if ticks >= 3 and "`" not in rest[ticks:]:
            return "`" * ticks
        return "~" * tildes if tildes >= 3 else ""

    def after_fence(self, position: int, fence: str, line_start: bool) -> int:
        start, is_first = position, True
        while position < len(self.text):
            line = self.line_at(position)
            position += len(line) + 1
            mark = line.lstrip(" \t>").rstrip(" \t")
            is_short = len(line) < tags.SPAN_LIMIT
            if not is_first and is_short and mark.startswith(fence) and set(mark) == set(fence[0]):
                break
            is_first = False
        position = min(position, len(self.text))
        self.pieces.append(self.text[start:position])
        return position

    def after_backticks(self, position: int) -> int:
        opened = self.after_run(position)
        index = opened
        while index < opened + tags.SPAN_LIMIT and index < len(self.text):
            if self.text[index] == "`":
                end = self.after_run(index)
                if end - index == opened - position and end <= opened + tags.SPAN_LIMIT:
                    return end
                index = end
                continue
            if self.text[index] == "\n":
                # What comes after the reach of the run has no say in whether it is closed.
                line, more, _ = self.text[index + 1 :].partition("\n")
                if (more and not line.strip(" \t>")) or self.opens_fence(index + 1):
                    return opened
            index += 1
        return opened

    def after_run(self, position: int) -> int:
        end = position
        while end < len(self.text) and self.text[end] == "`":
            end += 1
        return end

    def tag_at(self, position: int) -> tuple[int, list[Tag]] | None:
        """Where the tag that begins here ends, and what is recorded on the way."""
        opening = self.mark_at(position)
        if opening is None or opening[0]:
            return None
        _, kind, nonce, start = opening
        nesting: list[tuple[str, str, int]] = [(kind, nonce, start)]
        recorded: list[Tag] = []
        removed: dict[int, int] = {}
        for index in range(start, start + tags.BODY_LIMIT + 1):
            if re.search(r"\n[ \t>]*\n", self.text[start:index]):
                return None
            mark = self.mark_at(index)
            if mark is None:
                continue
            is_closing, kind, nonce, end = mark
            if not is_closing:
                nesting.append((kind, nonce, end))
                continue
            if kind not in [each[0] for each in nesting]:
                continue
            while nesting[-1][0] != kind:
                nesting.pop()
            _, wanted, body_start = nesting.pop()
            body = self.bare(body_start, index, removed)
            removed[body_start - len(f"<milk:{kind}:{wanted}>")] = end
            if wanted == nonce == "n" and body:
                recorded.append(Tag(kind, body))  # type: ignore[arg-type]
            if not nesting:
                return end, recorded
        return None

    def mark_at(self, position: int) -> tuple[bool, str, str, int] | None:
        end = self.text.find(">", position)
        if end < 0:
            return None
        parts = self.text[position:end].split(":")
        if len(parts) != 3 or parts[0] not in ("<milk", "</milk") or parts[1] not in KINDS:
            return None
        is_nonce = re.fullmatch("[A-Za-z0-9_-]{1,64}", parts[2])
        return (parts[0] == "</milk", parts[1], parts[2], end + 1) if is_nonce else None

    def bare(self, start: int, end: int, removed: dict[int, int]) -> str:
        body = ""
        while start < end:
            if start in removed:
                start = removed[start]
            elif mark := self.mark_at(start):
                start = mark[3]
            else:
                body += self.text[start]
                start += 1
        while re.search(r"</?milk:(need|percept|escalate)(:[A-Za-z0-9_-]*)?>", body):
            body = re.sub(r"</?milk:(need|percept|escalate)(:[A-Za-z0-9_-]*)?>", "", body)
        return body.strip()


FRAGMENTS = st.sampled_from(
    [
        *(open_tag(kind, nonce) for kind in KINDS for nonce in ("n", "x")),
        *(close_tag(kind, nonce) for kind in KINDS for nonce in ("n", "x")),
        *(tag("need", "x"), tag("percept", " y "), tag("need", "z", "x"), tag("need", " ")),
        *("<", "<m", "<milk:", "<milk:need:", "need:n>", ">", "</", "<milk:percept>", "</milk:percept>"),
        *("`", "``", "```", "````", "~~~", "~", "\n", "\n\n", "\n \n", "\n```\n", "\n```x\n", "\n~~~\n"),
        *("a", " ", "- ", "> ", "1. ", "\n> ", "word ", "é"),
    ]
)
TEXTS = st.lists(FRAGMENTS, max_size=24).map("".join)
SIZES = st.lists(st.integers(1, 9), min_size=1, max_size=4)


@settings(max_examples=300, deadline=None)
@given(TEXTS, SIZES)
def test_the_chunks_make_no_difference(text: str, sizes: list[int]) -> None:
    assert in_chunks(text, sizes) == in_chunks(text, [1]) == in_chunks(text, [len(text) or 1])


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_the_parser_reads_what_the_rules_say(text: str) -> None:
    assert in_chunks(text, [len(text) or 1]) == Reference(text).read()


@settings(max_examples=300, deadline=None)
@given(TEXTS, SIZES, st.integers(1, 40), st.integers(1, 40))
def test_limits_fall_in_the_same_place_whatever_the_chunks(
    text: str, sizes: list[int], body: int, span: int
) -> None:
    with patch.multiple(tags, BODY_LIMIT=body, SPAN_LIMIT=span):
        assert in_chunks(text, sizes) == in_chunks(text, [len(text) or 1]) == Reference(text).read()


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_a_recorded_body_is_never_empty_nor_contains_a_tag(text: str) -> None:
    for found in parse(text, "n")[1]:
        assert found.body == found.body.strip() != ""
        assert not re.search("</?milk:(need|percept|escalate)(:[nx])?>", found.body)


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_text_without_tags_is_never_changed(text: str) -> None:
    plain = text.replace("</milk", "")
    assert parse(plain, "n") == (plain, ())


# --- Single facts --------------------------------------------------------------------------------------------

X = tag("need", "x")
RECORDED = (Tag("need", "x"),)

FOUND = {
    "around": (f"hello {X} world", "hello  world"),
    "alone": (X, ""),
    "a second bracket before": (f"a <{X}", "a <"),
    "a piece of itself before": (f"<m{X}", "<m"),
    "after an unmatched backtick": (f"it's ` odd {X}", "it's ` odd "),
    "after an unmatched backtick in the paragraph before": (f"a ` b\n\n{X} ` c", "a ` b\n\n ` c"),
    "after a span": (f"`code` {X}", "`code` "),
    "after a span of two": (f"``a`b`` {X}", "``a`b`` "),
    "after a run with no partner of its length": (f"``` a `` {X}", "``` a `` "),
    "after an empty run": (f"`` {X} x", "``  x"),
    "after a fence": (f"```py\ncode\n```\n{X}", "```py\ncode\n```\n"),
    "after a fence closed by more": (f"```\na ` b\n`````\n{X}", "```\na ` b\n`````\n"),
    "after a fence of tildes": (f"~~~\n```\n~~~\n{X}", "~~~\n```\n~~~\n"),
    "after a quoted fence": (f"> ```\n> a\n> ```\n{X}", "> ```\n> a\n> ```\n"),
    "after a fence in a list": (f"- ```\n  a\n  ```\n{X}", "- ```\n  a\n  ```\n"),
    "after a partner too far away": ("`" + "a" * 1_000 + f"{X}`", "`" + "a" * 1_000 + "`"),
    "after an unclosed other": (f"<milk:percept:n>{'y' * 500}{X}", f"<milk:percept:n>{'y' * 500}"),
    "after an unclosed one": (f"<milk:need:n> a\n\n{X}", "<milk:need:n> a\n\n"),
    "with spaces around the body": (tag("need", " \n x "), ""),
    "with a stray mark in the body": (tag("need", "<milk:percept:n>x</milk:escalate:n>"), ""),
    "with a mark without nonce in the body": (tag("need", "<milk:percept>x"), ""),
    "with a mark made of marks in the body": (tag("need", "x<milk:</milk:percept:n>percept>"), ""),
}


@pytest.mark.parametrize(("text", "visible"), FOUND.values(), ids=FOUND)
def test_a_tag_is_recorded_and_taken_out(text: str, visible: str) -> None:
    assert parse(text, "n") == (visible, RECORDED)
    assert in_chunks(text, [1]) == Reference(text).read()


TAKEN_OUT = {
    "another nonce": tag("need", "x", "old"),
    "an empty body": tag("need", " \n "),
    "another nonce at the end": open_tag("need", "n") + "x" + close_tag("need", "old"),
    "another nonce at the start": open_tag("need", "old") + "x" + close_tag("need", "n"),
}


@pytest.mark.parametrize("text", TAKEN_OUT.values(), ids=TAKEN_OUT)
def test_a_tag_that_does_not_count_is_still_taken_out(text: str) -> None:
    assert parse(f"a {text} b", "n") == ("a  b", ())


ORDINARY = {
    "no nonce": "<milk:percept>x</milk:percept>",
    "an unknown kind": "<milk:other:n>x</milk:other:n>",
    "in a span": f"`{X}`",
    "in a span over a line's end": f"`a\n{X}`",
    "in a longer span": f"``{X} ` ``",
    "in a span that begins after an unmatched run": f"`` a ` b {X} ` c",
    "in a span that explains the marks": "use `<milk:need:n>` and `</milk:need:n>` for it",
    "in a fence": f"```\n{X}\n```\n",
    "in a fence with a span before": f"`a`\n```\n{X}\n```",
    "in a fence that nothing closes": f"text\n```py\n{X}",
    "in a fence of tildes": f"~~~ a`b {X}\n{X}\n~~~",
    "on the line that opens a fence": f"```x {X}\ncode\n```",
    "in a span of three on one line": f"```x {X}```",
    "in a fence not closed by fewer": f"````\n```\n{X}\n````",
    "in a fence not closed by a line with text": f"```\n``` x\n{X}\n```",
    "in a quoted fence": f"> ```\n> {X}\n> ```",
    "with a body too long": tag("need", "x" * 401),
    "with a blank line": tag("need", "a\n \nb"),
    "with no end": "<milk:need:n> and so on",
    "with half a beginning": "before <milk:need:ab",
    "an end alone": "a </milk:need:n> b",
}


@pytest.mark.parametrize("text", ORDINARY.values(), ids=ORDINARY)
def test_ordinary_text_is_neither_recorded_nor_taken_out(text: str) -> None:
    assert parse(text, "n") == (text, ())
    assert in_chunks(text, [1]) == Reference(text).read()


def test_a_body_of_the_greatest_length_is_recorded() -> None:
    assert parse(tag("need", "x" * 400), "n") == ("", (Tag("need", "x" * 400),))


def test_backticks_inside_a_body_open_no_code() -> None:
    assert parse(tag("need", "fix `it") + X + "`", "n") == ("`", (Tag("need", "fix `it"), *RECORDED))


def test_an_inner_tag_is_recorded_first_and_leaves_the_outer_body() -> None:
    text = tag("percept", f"a {tag('need', 'goal')}b {tag('percept', 'c')}d")
    assert parse(text, "n") == ("", (Tag("need", "goal"), Tag("percept", "c"), Tag("percept", "a b d")))


def test_an_inner_tag_with_another_nonce_is_no_part_of_the_outer_body() -> None:
    assert parse(tag("need", "a" + tag("need", "b", "old")), "n") == ("", (Tag("need", "a"),))


def test_a_tag_held_back_in_an_open_span_comes_out_raw_when_the_span_closes() -> None:
    parser = TagParser("n")
    assert parser.feed("a ` b ") == ["a ` b "]
    assert parser.feed(X + " c") == []
    assert parser.feed("` d") == [X + " c` d"]


def test_a_tag_held_back_in_an_open_span_is_recorded_when_the_paragraph_ends() -> None:
    parser = TagParser("n")
    assert parser.feed("a ` b ") == ["a ` b "]
    assert parser.feed(X + " c") == []
    assert parser.feed("\n\n") == [*RECORDED, " c\n\n"]


@pytest.mark.parametrize(
    "text", ["hello wor", "12", "- ", "```", "``` py", "a ` b", "a < b", "<p>", "\n", "~~~"]
)
def test_text_that_cannot_be_part_of_a_tag_is_never_held_back(text: str) -> None:
    assert TagParser("n").feed(text) == [text]


def test_only_the_possible_beginning_of_a_tag_is_held_back() -> None:
    parser = TagParser("n")
    assert parser.feed("a <") == ["a "]
    assert parser.feed("milk:ne") == []
    assert parser.feed("ver") == ["<milk:never"]


@settings(max_examples=100, deadline=None)
@given(st.lists(FRAGMENTS, min_size=1, max_size=12).map("".join))
def test_what_is_held_back_is_bounded(text: str) -> None:
    parser = TagParser("n")
    for _ in range(6_000 // len(text)):
        parser.feed(text)
        assert len(parser._text) <= 2 * tags.SPAN_LIMIT + tags.BODY_LIMIT + len(text)


def test_a_nonce_is_not_used_twice_and_fits_a_tag() -> None:
    nonces = {new_nonce() for _ in range(100)}
    assert len(nonces) == 100
    assert all(parse(tag("need", "x", nonce), nonce) == ("", RECORDED) for nonce in nonces)


@pytest.mark.parametrize("nonce", ["", "a b", "a>", "n" * 65])
def test_a_word_that_fits_no_tag_is_refused_as_a_nonce(nonce: str) -> None:
    with pytest.raises(ValueError, match="not a nonce"):
        TagParser(nonce)


# --- Cost ----------------------------------------------------------------------------------------------------


def growing_runs(length: int) -> str:
    period = "".join("`" * size + "a" for size in range(1, 44))
    return (period * (length // len(period) + 1))[:length]


WORST: dict[str, Callable[[int], str]] = {
    "prose": lambda length: ("some words and more of them\n" * length)[:length],
    "brackets": lambda length: "<" * length,
    "one run": lambda length: "`" * length,
    "growing runs": growing_runs,
    "runs and lines": lambda length: "".join(run + "a\n" * 20 for run in ("`" * n for n in range(1, 30)))[
        :length
    ],
    "unclosed": lambda length: (open_tag("need", "n") * length)[:length],
    "unclosed in an open span": lambda length: (
        ("`" + open_tag("need", "n") * 90 + "\n\n") * (length // 1_000)
    ),
    "nested": lambda length: open_tag("need", "n") * (length // 28) + close_tag("need", "n") * (length // 28),
    "rarely closed": lambda length: (open_tag("need", "n") * 27 + close_tag("need", "n")) * (length // 360),
    "spaces": lambda length: " " * length,
    "quotes": lambda length: "> " * (length // 2),
    "unclosed fence": lambda length: "```\n" + "```" * (length // 3),
}


def read(text: str, size: int) -> None:
    parser = TagParser("n")
    for position in range(0, len(text), size):
        parser.feed(text[position : position + size])
    parser.close()


@pytest.mark.parametrize("size", [7, 1 << 30], ids=["in chunks", "whole"])
@pytest.mark.parametrize("kind", WORST)
def test_the_cost_grows_no_faster_than_the_text(kind: str, size: int) -> None:
    short, long = WORST[kind](4_000), WORST[kind](40_000)
    assert grows_within(25, lambda: read(short, size), lambda: read(long, size))
