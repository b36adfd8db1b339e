"""Shortening text to a budget of characters (code points), without splitting what a reader sees as one.

Every cut says how many characters are missing, and costs what the budget costs however long the text is. It
knows nothing of what the text is about; text from outside goes through `milk_tui.core.text` first.
"""

from __future__ import annotations

from collections.abc import Iterator

from wcwidth import iter_graphemes

_ELLIPSIS = "…"

_JOINERS = ("", "☺", "क\u094d")
"""What, standing before two characters, may join them: nothing, the start of an emoji sequence or of a conjunct."""


def graphemes(text: str) -> Iterator[str]:
    """The user-perceived characters of a text, in order."""
    return iter_graphemes(text)


def cut_end(text: str, limit: int) -> str:
    """The text, at most `limit` characters of it: the head, and how many characters are missing."""
    return text if len(text) <= limit else _head(text, limit, beyond=0)


def cut_middle(text: str, limit: int) -> str:
    """The text, at most `limit` characters of it: head and tail, and between them how many are missing.

    A cut is moved to the end of a line when one is near.
    """
    if len(text) <= limit:
        return text
    room = limit - len(_middle_marker(len(text)))
    if room < limit // 2:
        return _head(text, limit, beyond=0)
    head = _head_end(text, room - room // 2)
    tail = _tail_start(text, len(text) - room // 2)
    return text[:head] + _middle_marker(tail - head) + text[tail:]


def cut_lines(text: str, limit: int) -> str:
    """The text, at most `limit` characters of it: whole lines of its head, and how many lines are missing.

    A first line that alone is too long is cut as by `cut_end`.
    """
    if len(text) <= limit:
        return text
    end = text.rfind("\n", 0, max(limit - len(_lines_marker(text.count("\n"))), 0))
    if end < 0:
        return cut_end(text, limit)
    return text[: end + 1] + _lines_marker(text.count("\n", end + 1) + 1)


def one_line(text: str, limit: int) -> str:
    """The text on one line of at most `limit` characters: runs of whitespace folded, the rest as `cut_end`.

    A long text is folded only as far as it is shown; the number of missing characters counts the rest as it
    stands.
    """
    length = max(4 * limit, 256)
    folded = " ".join(text[:length].split())
    while len(folded) <= limit and length < len(text):
        length *= 2
        folded = " ".join(text[:length].split())
    return folded if len(folded) <= limit else _head(folded, limit, beyond=max(0, len(text) - length))


def around(text: str, start: int, end: int, limit: int) -> tuple[int, int]:
    """Where a piece of about `limit` characters begins and ends that has a place in it, a third of it before."""
    first = max(0, min(start - limit // 3, len(text) - limit))
    last = min(len(text), max(first + limit, end))
    space = text.find(" ", first, start) if first else -1
    first = space + 1 if 0 <= space < first + limit // 8 else _boundary_after(text, first)
    return min(first, start), _boundary_before(text, last) if last < len(text) else last


def _head(text: str, limit: int, *, beyond: int) -> str:
    """The head of a text that is too long, with a marker that also counts the characters `beyond` the text."""
    total = len(text) + beyond
    room = limit - len(_end_marker(total))
    if room >= limit // 2 and limit > 0:
        head = _boundary_before(text, room)
        return text[:head] + _end_marker(total - head)
    # A number that takes more room than the text it leaves says less than the text.
    return text[: _boundary_before(text, limit - 1)] + _ELLIPSIS if limit > 0 else ""


def _end_marker(missing: int) -> str:
    return f"{_ELLIPSIS} [{missing:,} characters left out]"


def _lines_marker(missing: int) -> str:
    return f"{_ELLIPSIS} [{missing:,} {'line' if missing == 1 else 'lines'} left out]"


def _middle_marker(missing: int) -> str:
    return f"{_end_marker(missing)} {_ELLIPSIS}"


def _head_end(text: str, room: int) -> int:
    """Where a head of at most `room` characters ends: after a line if one ends in its last quarter."""
    line_end = text.rfind("\n", room - room // 4, room)
    return line_end + 1 if line_end >= 0 else _boundary_before(text, room)


def _tail_start(text: str, earliest: int) -> int:
    """Where a tail begins that begins no earlier: before a line's end if there is one in its first quarter."""
    line_end = text.find("\n", earliest, earliest + (len(text) - earliest) // 4)
    return _boundary_after(text, max(line_end, earliest))


def _boundary_before(text: str, position: int) -> int:
    """The last grapheme boundary that is not after the position, which is inside the text."""
    start = position
    while start > 0 and not _is_boundary(text, start):
        start -= 1
    *_, last = iter_graphemes(text, start, position + 1)
    return position + 1 - len(last)


def _boundary_after(text: str, position: int) -> int:
    """The first place not before the position that is surely a grapheme boundary.

    In a row of flags only its start tells which two letters belong together. That start may be far away, so
    nothing inside the row is sure.
    """
    while 0 < position < len(text) and not _is_boundary(text, position):
        position += 1
    return position


def _is_boundary(text: str, position: int) -> bool:
    """Whether the two characters around the position are apart whatever stands before them."""
    pair = text[position - 1 : position + 1]
    if pair.isascii():
        return pair != "\r\n"
    return all(_last_grapheme(joiner + pair) == pair[1] for joiner in _JOINERS)


def _last_grapheme(text: str) -> str:
    *_, last = iter_graphemes(text)
    return last
