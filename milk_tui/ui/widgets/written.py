"""Markdown in what is being written: which parts of a line stand out, so that its shape is seen. Nothing is hidden.

Looked at line by line; what reaches over several lines is a fence alone. It knows nothing of widgets and colours.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

LONGEST = 2_000
"""Characters of a line that is looked at; a longer one is data."""

Kind = Literal["heading", "mark", "code", "bold", "mention"]

_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]")
_MARK = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)]|>)(?=\s)")
_INLINE = re.compile(
    r"(?P<code>(?<!`)(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`))"
    r"|(?P<bold>\*\*(?=\S).+?(?<=\S)\*\*)"
    r'|(?P<mention>(?<!\S)@(?:"[^"]+"|[^\s"]+))'
)


class Span(NamedTuple):
    """A part of a line."""

    start: int
    end: int
    kind: Kind


def fenced(lines: Sequence[str]) -> list[bool]:
    """Which lines are code: those between fences, and the fences."""
    is_code = [False] * len(lines)
    first, fence = 0, ""
    for index in [index for index, line in enumerate(lines) if "```" in line or "~~~" in line]:
        mark = _FENCE.match(lines[index])
        if mark and not fence:
            first, fence = index, mark[1]
        elif mark and mark[1].startswith(fence) and not mark[2].strip():
            is_code[first : index + 1] = [True] * (index + 1 - first)
            fence = ""
    if fence:
        is_code[first:] = [True] * (len(lines) - first)
    return is_code


@lru_cache(maxsize=1_024)
def spans(line: str, is_code: bool) -> tuple[Span, ...]:
    """What stands out in a line, in order; `is_code` as `fenced` says."""
    if is_code:
        return (Span(0, len(line), "code"),)
    if len(line) > LONGEST:
        return ()
    if _HEADING.match(line):
        return (Span(0, len(line), "heading"),)
    mark = _MARK.match(line)
    marks = (Span(*mark.span(), "mark"),) if mark else ()
    return (*marks, *(_span(each) for each in _INLINE.finditer(line, mark.end() if mark else 0)))


def _span(match: re.Match[str]) -> Span:
    kind: Kind = "code" if match["code"] else "bold" if match["bold"] else "mention"
    return Span(*match.span(), kind)
