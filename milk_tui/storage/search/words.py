"""What is looked for and where it stands: texts as the index takes them, queries, and the words marked in a text.

A word is found by its beginning. Scripts that write no spaces between words (Chinese, Japanese, Thai, also Korean,
whose words grow endings) are taken character by character, so that any part of their texts is found. Case, accents
and the width of letters make no difference. No file and no SQL is known here.
"""

import re
import unicodedata
from functools import lru_cache

from milk_tui.core.cut import around
from milk_tui.core.messages import Value

EXCERPT_CHARS = 160
"""Characters of a text that are shown around the first word found in it."""
MOST_WORDS = 20
"""Words of a query that are looked for; what follows is left out."""

_BEGINNING = 3
"""Letters from which on a word stands for all that begin so; shorter ones stand for too many."""
_SPACELESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3100-\u318f"
    "\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_CHARACTER = re.compile(f"[{_SPACELESS}]")
_PART = re.compile(r'"([^"]*)"?|(\S+)')
_ACCENTED = re.compile("[^\x00-\x7f]")


class Excerpt(Value):
    """A piece of a text on one line."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()
    """Where the words stand in it: start and end of each, in order."""


def indexed(text: str) -> str:
    """A text as the index takes it: its tokenizer parts words at everything that is no letter and no digit."""
    if text.isascii():
        return text
    return _CHARACTER.sub(r" \g<0> ", unicodedata.normalize("NFKC", text))


class Query:
    """What somebody looks for: words, all of which must be there; those in double quotes next to each other."""

    def __init__(self, written: str) -> None:
        parts = [(quoted or word, bool(quoted)) for quoted, word in _PART.findall(written)]
        found = [(_tokens(unicodedata.normalize("NFKC", text)), exact) for text, exact in parts]
        self._words = [(tokens, exact) for tokens, exact in found if tokens][:MOST_WORDS]

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to look for."""
        return not self._words

    @property
    def expression(self) -> str:
        """The query as FTS5 has it."""
        phrases = (
            f'"{" ".join(tokens)}"{"*" * _is_beginning(tokens, exact)}' for tokens, exact in self._words
        )
        return " ".join(phrases)

    def place_in(self, text: str) -> int:
        """Where the first word that is found in a text begins; 0 if none is."""
        match = next((match for match in self._pattern.finditer(_flat(text)) if match[0]), None)
        return match.start() if match else 0

    def excerpt(self, text: str, chars: int = EXCERPT_CHARS) -> Excerpt:
        """The piece of a text around the first word that is found in it; its beginning if none is."""
        spans = [match.span() for match in self._pattern.finditer(_flat(text)) if match[0]]
        first = spans[0] if spans else (0, 0)
        start, end = around(text, *first, chars)
        pieces: list[str] = ["…"] if start else []
        marks: list[tuple[int, int]] = []
        length, place = len("".join(pieces)), start
        for left, right in [span for span in spans if start <= span[0] and span[1] <= end]:
            pieces += [_spaced(text[place:left]), _spaced(text[left:right])]
            begin = length + len(pieces[-2])
            length, place = begin + len(pieces[-1]), right
            marks.append((begin, length))
        pieces += [_spaced(text[place:end]).rstrip(), "…" if end < len(text) else ""]
        return Excerpt(text="".join(pieces), marks=tuple(marks))

    @property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile("|".join(_regex(*word) for word in self._words) or "(?!)", re.IGNORECASE)


def _tokens(text: str) -> list[str]:
    """The text as the index's tokenizer parts it."""
    letters = (c if unicodedata.category(c)[0] in "LNM" else " " for c in text)
    return _CHARACTER.sub(r" \g<0> ", "".join(letters)).split()


def _is_beginning(tokens: list[str], exact: bool) -> bool:
    last = tokens[-1]
    return not exact and len(last) >= _BEGINNING and not _CHARACTER.match(last)


def _regex(tokens: list[str], exact: bool) -> str:
    """What a word looks like in a text; between its tokens is whatever the index parts words at."""
    body = r"[\W_]*".join(re.escape(_flat(token)) for token in tokens)
    before = "" if _CHARACTER.match(tokens[0]) else r"(?<![^\W_])"
    is_open = _is_beginning(tokens, exact) or _CHARACTER.match(tokens[-1])
    return before + body + ("" if is_open else r"(?![^\W_])")


def _flat(text: str) -> str:
    """The text without accents and wide letters, character for character."""
    return text if text.isascii() else _ACCENTED.sub(lambda found: _bare(found[0]), text)


@lru_cache(maxsize=4_096)
def _bare(character: str) -> str:
    parts = unicodedata.normalize("NFKD", character)
    return parts[0] if all(map(unicodedata.combining, parts[1:])) else character


def _spaced(text: str) -> str:
    """The text on one line, with the spaces at its ends."""
    return re.sub(r"\s+", " ", text)
