"""A difference of two texts as rows in two colours; the signs + and − say the same without them."""

from collections.abc import Iterator, Sequence

from textual.content import Content

from milk_tui.core.versions import Mark

_STYLES: dict[Mark, str] = {"+": "$text-success", "-": "$text-error", " ": "dim"}
_AROUND = 1
"""Unchanged rows that are shown beside changed ones."""


def differing(rows: Sequence[tuple[Mark, str]]) -> Iterator[Content]:
    """The changed rows with what stands around them; a gap is marked."""
    changed = [place for place, (mark, _) in enumerate(rows) if mark != " "]
    near = {place + step for place in changed for step in range(-_AROUND, _AROUND + 1)}
    last = -1
    for place, (mark, text) in enumerate(rows):
        if place in near:
            if place > last + 1:
                yield Content.styled("⋯", "dim")
            sign = "−" if mark == "-" else mark
            yield Content.styled(f"{sign} {text}", _STYLES[mark])
            last = place


def counted(rows: Sequence[tuple[Mark, str]]) -> str:
    """How many rows came and went, in words."""
    came, went = (sum(mark == sign for mark, _ in rows) for sign in ("+", "-"))
    return f"+{came:,} −{went:,} lines" if came or went else "No difference"
