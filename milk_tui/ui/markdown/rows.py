"""A row of text on the screen, and how a line of text is broken into rows.

Everything drawn in the transcript becomes rows: runs of text, each with the names of its styles. Text that comes
in here is data; what goes out holds no control character. Knows neither Markdown nor colours.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from milk_tui.ui.markdown.measure import cell_count, graphemes

Run = tuple[str, str]
"""Text, and the names of its styles with spaces between them."""

MEASURE = 100
"""The most cells that a row of prose takes: longer rows are hard to read."""

_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_WIDE = re.compile("[\u2e80-\ua4cf\uf900-\ufaff\uff00-\uff60]")


class Row(NamedTuple):
    """One row. Tuples, because a long answer has ten thousands of them."""

    runs: tuple[Run, ...]
    cells: int
    """The width of the runs."""
    line: int = -1
    """The line of the piece's source that this row shows; -1 for rows that show none."""
    inset: int = 0
    """Characters at the start that are not text: indentation, the bar of a quote."""
    join: str = "\n"
    """What stands between the row before and this one in the source: a line break, a space, or nothing."""
    fill: str = ""
    """The style of the space to the right."""

    @property
    def text(self) -> str:
        """All that is shown."""
        return "".join(text for text, _ in self.runs)


BLANK = Row((), 0)


class Part(NamedTuple):
    """What of a line fits on one row."""

    runs: tuple[Run, ...]
    cells: int
    join: str


class _Cut(NamedTuple):
    start: int
    end: int
    join: str


def clean(text: str) -> str:
    """The text without anything a terminal would obey; other control characters become visible pictures.

    Marks that turn the direction of writing are left out: one without its end would mirror the rest of the screen.
    """
    return _UNSAFE.sub(_picture, text) if _UNSAFE.search(text) else text


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code == 0x0D or code in (0x061C, 0x200E, 0x200F) or 0x202A <= code <= 0x2069:
        return ""
    if code in (0x2028, 0x2029):
        return " "
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else "\ufffd"


def cells(runs: Iterable[Run]) -> int:
    """The width of runs beside each other: characters join over the border of two runs as well."""
    return cell_count("".join(text for text, _ in runs))


def wrap(runs: Sequence[Run], width: int, *, chop: bool = False) -> list[Part]:
    """Break a line into parts of at most `width` cells: at spaces, or anywhere with `chop`.

    A word wider than the row is cut between graphemes. At least one part comes back, and no visible character is
    lost. A grapheme wider than `width` gets a part of its own.
    """
    total = cells(runs)
    if total <= width:
        return [Part(tuple(runs), total, "\n")]
    text = "".join(text for text, _ in runs)
    width = max(1, width)
    cuts = _cuts_ascii(text, width, chop) if text.isascii() else _cuts_measured(runs, text, width, chop)
    return _divide(runs, cuts)


def crop(runs: Sequence[Run], width: int) -> tuple[Run, ...]:
    """The line on one row, with an ellipsis where it was cut."""
    if cells(runs) <= width:
        return tuple(runs)
    first = wrap(runs, width - 1, chop=True)[0]
    return (*first.runs, ("…", first.runs[-1][1] if first.runs else ""))


def _cuts_ascii(text: str, width: int, chop: bool) -> list[_Cut]:
    cuts, start, join, size = [], 0, "\n", len(text)
    while size - start > width:
        space = -1 if chop else text.rfind(" ", start, start + width + 1)
        if space <= start or not text[start:space].strip():
            cuts.append(_Cut(start, start + width, join))
            start, join = start + width, ""
            continue
        cuts.append(_Cut(start, space, join))
        start, join = _past_spaces(text, space), " "
    if start < size or not cuts:
        cuts.append(_Cut(start, size, join))
    return cuts


def _past_spaces(text: str, index: int) -> int:
    while index < len(text) and text[index] == " ":
        index += 1
    return index


def _cuts_measured(runs: Sequence[Run], text: str, width: int, chop: bool) -> list[_Cut]:
    """Cuts for text with wide, joined or marked characters, each run measured by itself as a terminal cell is."""
    cuts: list[_Cut] = []
    start, join, used = 0, "\n", 0
    allowed, used_there = -1, 0
    for begin, end, size in _graphemes(runs):
        if begin < start:
            continue
        space = text[begin] == " " and not chop
        if used + size > width and begin > start:
            cut = begin if space or allowed <= start else allowed
            cuts.append(_Cut(start, cut, join))
            start = cut if chop else _past_spaces(text, cut)
            join = " " if start > cut else ""
            used = used - used_there if cut == allowed else 0
            allowed = -1
            if begin < start:
                continue
        used += size
        if not chop and (space or _WIDE.match(text, begin)) and text[start:end].strip():
            allowed, used_there = (begin if space else end), used
    if start < len(text) or not cuts:
        cuts.append(_Cut(start, len(text), join))
    return cuts


def _graphemes(runs: Sequence[Run]) -> Iterable[tuple[int, int, int]]:
    offset = 0
    for text, _ in runs:
        for begin, end, size in graphemes(text):
            yield offset + begin, offset + end, size
        offset += len(text)


def _divide(runs: Sequence[Run], cuts: Sequence[_Cut]) -> list[Part]:
    parts: list[Part] = []
    index, offset = 0, 0
    for start, end, join in cuts:
        pieces: list[Run] = []
        while index < len(runs):
            text, style = runs[index]
            piece = text[max(0, start - offset) : end - offset]
            if piece:
                pieces.append((piece, style))
            if offset + len(text) > end:
                break
            offset += len(text)
            index += 1
        parts.append(Part(tuple(pieces), cells(pieces), join))
    return parts
