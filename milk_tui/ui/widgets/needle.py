"""What is looked for, and where it is in a text: in any script, upper and lower case alike, accents as they are typed.

A text is folded first: each character is taken apart and its case dropped, so that é is found however it was encoded,
and e does not find it. Markdown may stand between the letters of its source. Knows texts and offsets, no widgets.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from unicodedata import normalize

Span = tuple[int, int]
"""The first character, and the one after the last."""

_MARKUP = "*_`~\\"
_BETWEEN_WORDS = r"[*_`~\\]{0,4}"
_IN_A_WORD = r"[*`~\\]{0,4}"
_SPACE = "[ \t\u00a0\u202f]"
_NO_MARK_FOLLOWS = "(?![\u0300-\u036f])"
_HIDDEN = re.compile(r"[*`~\\#>|\[\]]|(?<![^\W_])_|_(?![^\W_])")
"""What Markdown may hide: of these the source says less than the screen."""


class _Folds(dict[int, str]):
    def __missing__(self, code: int) -> str:
        folded = self[code] = normalize("NFD", normalize("NFD", chr(code)).casefold())
        return folded


_FOLDS = _Folds()


def folded(text: str) -> str:
    """The text taken apart and without case; as long as the text, or longer."""
    return text.lower() if text.isascii() else text.translate(_FOLDS)


class Needle:
    """A text to look for."""

    def __init__(self, text: str) -> None:
        self.folded = folded(text)
        parts = [_SPACE if char == " " else re.escape(char) for char in self.folded]
        self._shown = re.compile("".join(parts) + _NO_MARK_FOLLOWS)
        # Nothing goes on behind the last one, as nothing does beside a mark.
        gaps = map(_gap, self.folded, self.folded[1:] + _MARKUP[0])
        woven = "".join(part + gap for part, gap in zip(parts, gaps, strict=False))
        self._source = re.compile(woven + _NO_MARK_FOLLOWS)
        self._may_hide = _HIDDEN.search(self.folded) is not None

    def __bool__(self) -> bool:
        return bool(self.folded)

    def narrows(self, other: "Needle") -> bool:
        """Whether it can only be where the other one is."""
        return bool(other) and other.folded in self.folded

    def spans(self, text: str) -> list[Span]:
        """Where it is in a text as it is shown."""
        return _spans(self._shown, text)

    def source_spans(self, text: str) -> list[Span]:
        """Where it is in the source of a Markdown text, also with marks between its letters."""
        return _spans(self._source, text)

    def count(self, text: str) -> int:
        """How often it is in a text as it is shown."""
        return len(self._shown.findall(folded(text)))

    def source_count(self, text: str) -> tuple[int, bool]:
        """How often it is in the source of a Markdown text, and whether the screen must say as much."""
        found = self._source.findall(folded(text))
        size = len(self.folded)
        return len(found), not found or not (self._may_hide or any(len(each) != size for each in found))


def _gap(left: str, right: str) -> str:
    """What may stand between two characters: nothing beside a mark, or a long row of marks would never end."""
    if left in _MARKUP or right in _MARKUP:
        return ""
    return _IN_A_WORD if left.isalnum() and right.isalnum() else _BETWEEN_WORDS


def _spans(pattern: re.Pattern[str], text: str) -> list[Span]:
    flat = folded(text)
    found = [match.span() for match in pattern.finditer(flat)]
    if not found or len(flat) == len(text):
        return found
    starts = _starts(text)
    return [(bisect_right(starts, start) - 1, bisect_right(starts, end - 1)) for start, end in found]


def _starts(text: str) -> Sequence[int]:
    """Where in the folded text each character begins."""
    return list(accumulate((len(_FOLDS[ord(char)]) for char in text[:-1]), initial=0))
