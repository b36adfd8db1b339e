"""Large pastes: shown in a draft as a label, sent in full.

A label is ordinary text to the editor. What makes it a label is a character that no text from outside can
contain, so a label typed or copied by hand is only text. It knows nothing of widgets and keys.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from milk_tui.core.text import sanitize

LARGE_CHARS = 2_000
LARGE_LINES = 40

_SPACE = "\ufdd0"
"""A space inside a label. Unicode keeps this character for a program's internal use."""

_LABEL = re.compile(rf"\[pasted{_SPACE}[^\[\]\n]*#(\d+)\]")


@dataclass(frozen=True)
class Draft:
    """An unsent prompt that can be put back as it was, large pastes folded."""

    text: str = ""
    pastes: Mapping[int, str] = field(default_factory=dict)
    """What each label in the text stands for, by its number."""


def received(text: str) -> str:
    """A text that came from outside the program, fit to be put into a draft."""
    return sanitize(text.replace("\r\n", "\n").replace("\r", "\n")).replace(_SPACE, "")


def is_large(text: str) -> bool:
    """Should this paste be folded?"""
    return len(text) > LARGE_CHARS or text.count("\n") >= LARGE_LINES


def label_spans(line: str) -> list[tuple[int, int]]:
    """Where labels begin and end in one line of a draft."""
    return [match.span() for match in _LABEL.finditer(line)] if _SPACE in line else []


def as_shown(line: str) -> str:
    """A line of a draft for the eye, as long as the line itself."""
    return line.replace(_SPACE, " ")


class Pastes:
    """The pastes that the labels of one draft stand for. They are kept until cleared, so that edits can be undone."""

    def __init__(self) -> None:
        self._texts: dict[int, str] = {}

    def fold(self, text: str) -> str:
        """Keep a paste and give its label."""
        number = max(self._texts, default=0) + 1
        self._texts[number] = text
        return _label(number, text)

    def fold_again(self, text: str) -> str:
        """A text from outside with every paste that stands in it as it was under its label again."""
        for number, paste in sorted(self._texts.items(), key=lambda each: len(each[1]), reverse=True):
            text = text.replace(paste, _label(number, paste), 1)
        return text

    def unfold(self, text: str) -> str:
        """The text with every label replaced by what it stands for."""
        return _LABEL.sub(lambda match: self._texts[int(match[1])], text)

    def unfolded_chars(self, text: str) -> int:
        """The length of `unfold(text)`, which is not built for it."""
        return len(text) + sum(len(self._texts[n]) - size for n, size in self._labels(text))

    def draft(self, text: str) -> Draft:
        """The text as a value, with the pastes that it uses."""
        return Draft(text, {number: self._texts[number] for number, _ in self._labels(text)})

    def restore(self, draft: Draft) -> None:
        """Take over a draft's pastes in place of the present ones."""
        self._texts = dict(draft.pastes)

    @staticmethod
    def _labels(text: str) -> Iterator[tuple[int, int]]:
        """The number and the length of each label in the text."""
        for match in _LABEL.finditer(text):
            yield int(match[1]), len(match[0])


def _label(number: int, text: str) -> str:
    lines = text.count("\n") + 1
    size = f"{len(text):,} characters" + (f", {lines:,} lines" if lines > 1 else "")
    return f"[pasted {size} #{number}]".replace(" ", _SPACE)
