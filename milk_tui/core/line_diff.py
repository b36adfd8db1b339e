"""Two texts line by line: how many lines differ, and the difference as other programs read it.

A large text with a small change costs little more than reading it: what both begin and end with is left out first.
"""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher, unified_diff

COMPARED = 200_000
"""The most characters that are compared line by line; beyond, all lines between the equal edges differ."""

_NO_END = "\\ No newline at end of file\n"


def edges(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """How many lines both begin with, and how many of the rest both end with."""
    shorter = min(len(old), len(new))
    head = next((n for n in range(shorter) if old[n] != new[n]), shorter)
    tail = next((n for n in range(shorter - head) if old[-1 - n] != new[-1 - n]), shorter - head)
    return head, tail


def is_comparable(old: Sequence[str], new: Sequence[str]) -> bool:
    """Whether these lines are few enough to be compared one by one."""
    return sum(map(len, old)) + sum(map(len, new)) <= COMPARED


def counts(before: str | None, after: str | None) -> tuple[int, int]:
    """Lines that were added and removed; `None` is a file that is not there."""
    old, new = _lines(before), _lines(after)
    head, tail = edges(old, new)
    old, new = old[head : len(old) - tail], new[head : len(new) - tail]
    if not is_comparable(old, new):
        return len(new), len(old)
    kept = sum(block.size for block in SequenceMatcher(None, old, new).get_matching_blocks())
    return len(new) - kept, len(old) - kept


def unified(before: str | None, after: str | None, name: str) -> str:
    """The difference as a patch; empty if there is none."""
    old = "/dev/null" if before is None else f"a/{name}"
    new = "/dev/null" if after is None else f"b/{name}"
    return "".join(_ended(unified_diff(_lines(before), _lines(after), old, new)))


def _lines(text: str | None) -> list[str]:
    """The lines with their ends. Only a newline ends one: other separators are characters like any."""
    if not text:
        return []
    *lines, last = text.split("\n")
    return [*(f"{line}\n" for line in lines), *([last] if last else [])]


def _ended(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        yield line if line.endswith("\n") else f"{line}\n{_NO_END}"
