"""How many cells a text takes in a terminal, and where it may be cut.

Letters, ideographs and signs without marks are measured by Rich's tables, which are quick. For everything joined or
marked `wcwidth` has the word, because it follows what terminals really do. Knows text only.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from unicodedata import category

from rich.cells import cell_len, split_graphemes

_WILD = re.compile(
    "[^ -\u02ff\u0370-\u0482\u048a-\u058f\u2010-\u2027\u2030-\u205e\u20a0-\u20bf\u2190-\u22ff\u2500-\u25fc"
    "\u2610-\u2612\u2713\u2717\u2e80-\u3029\u3030-\u3098\u309b-\ua4cf\uac00-\ud7a3\uf900-\ufaff\uff00-\uffef]"
)
"""All but what every table measures alike, character by character."""

_PICTURES = "\U0001f000"
"""From here on characters are joined into one picture, and do not stand for themselves."""


def cell_count(text: str) -> int:
    """The cells that a text takes."""
    if text.isascii():
        return len(text)
    return cell_len(text) if _WILD.search(text) is None else _wild_count(text)


def graphemes(text: str) -> Iterator[tuple[int, int, int]]:
    """Where each grapheme begins and ends, and the cells it takes at the most: some take less beside others."""
    if text.isascii() or _WILD.search(text) is None:
        yield from split_graphemes(text)[0]
        return
    from wcwidth import iter_graphemes

    start = 0
    for grapheme in iter_graphemes(text):
        end = start + len(grapheme)
        yield start, end, _most(grapheme)
        start = end


@lru_cache(maxsize=4_096)
def _wild_count(text: str) -> int:
    from wcwidth import wcswidth

    return max(0, wcswidth(text))


@lru_cache(maxsize=4_096)
def _most(grapheme: str) -> int:
    """The cells of a grapheme, or of its characters one by one: a spacing mark may stand for itself."""
    whole = _wild_count(grapheme)
    if max(grapheme) >= _PICTURES:
        return whole
    return max(whole, sum(1 if category(char) == "Mc" else _wild_count(char) for char in grapheme))
