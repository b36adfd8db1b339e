"""The gauge's bar as plain numbers: which part takes which cells, and how full it is.

Pure functions of a `Gauge`; the panel and the strip draw what they give.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from milk_tui.core.bricks import Gauge

Level = Literal["ok", "near", "full"]

GHOST = "ghost"
"""The unsent prompt's name in a bar."""
FREE = "free"
"""The name of what is left up to the limit."""

_NEAR = 0.8
_FULL = 0.95


@dataclass(frozen=True)
class Mark:
    """How one part is told apart from the others, with and without colour."""

    glyph: str
    label: str
    style: str
    """A component class without its prefix."""


MARKS = {
    "identity": Mark("▒", "identity", "identity"),
    "escalation_brief": Mark("▚", "brief", "brief"),
    "current_need": Mark("█", "need", "need"),
    "claude_summary": Mark("▤", "Claude summary", "claude"),
    "local_summary": Mark("▓", "summary", "summary"),
    "instructions": Mark("≡", "instructions", "instructions"),
    "percepts": Mark("▞", "percepts", "percepts"),
    GHOST: Mark("░", "your prompt", "ghost"),
    FREE: Mark("·", "", "free"),
}


def mark(name: str) -> Mark:
    """A part's mark; one that has none of its own gets its name and a plain glyph."""
    return MARKS.get(name) or Mark("▪", name.replace("_", " "), "instructions")


def level(gauge: "Gauge") -> Level:
    """How near the hand-off is to its limit."""
    ratio = gauge.chars / gauge.limit if gauge.limit else 0.0
    return "full" if ratio >= _FULL else "near" if ratio >= _NEAR else "ok"


def runs(gauge: "Gauge", width: int) -> list[tuple[str, int]]:
    """The bar from left to right: names and their cells, `width` cells in all.

    Every part that has a character has a cell, as long as there are cells.
    """
    found: list[tuple[str, int]] = []
    total, used = 0, 0
    for name, chars in _parts(gauge):
        total += chars
        exact = round(width * total / gauge.limit) if gauge.limit else 0
        end = min(width, max(used + 1, exact))
        if end > used:
            found.append((name, end - used))
        used = end
    return [*found, (FREE, width - used)] if used < width else found


def is_over(gauge: "Gauge") -> bool:
    """Does the unsent prompt reach beyond the limit? It may: it comes on top."""
    return gauge.chars + gauge.prompt_chars > gauge.limit


def _parts(gauge: "Gauge") -> Iterator[tuple[str, int]]:
    yield from ((part.name, part.chars) for part in gauge.segments if part.chars)
    if gauge.prompt_chars:
        yield GHOST, gauge.prompt_chars
