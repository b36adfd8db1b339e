"""The facts as a brick: newest first, each once, as many as fit, and the pinned ones whatever comes.

It knows neither sessions nor what Claude was told; it is given the facts that a hand-off may carry.
"""

from collections.abc import Iterable, Iterator
from itertools import islice

from milk_tui.core.bricks import Brick
from milk_tui.core.budget import FRAME, PERCEPT_LIMIT, PERCEPTS_BUDGET
from milk_tui.core.cut import one_line
from milk_tui.core.exchange import Entry
from milk_tui.core.messages import Value
from milk_tui.core.place import key_of
from milk_tui.core.shaping import FACT, Shapes

FACTS_ROOM = PERCEPTS_BUDGET - FRAME

_LOOKED_AT = 500
"""Facts that are looked at, so that repeats cost no more than others."""


class Percept(Value):
    """A fact an agent recorded, and the turn in which it did."""

    text: str
    turn: int = 0
    """0 if it was in another session."""


def facts(percepts: Iterable[Percept], shapes: Shapes, pinned: int = 0) -> Brick:
    """A brick of facts, newest first, beside the pinned ones for which so many characters are reserved."""
    left = FACTS_ROOM + 1 - pinned
    held: list[Entry] = []
    for entry in shapes.entries(fact_entries(percepts)):
        if not entry.is_pinned:
            if entry.size > left:
                break
            left -= entry.size
        held.append(entry)
    held += shapes.others(held)
    lines = tuple(entry.line() for entry in held)
    return Brick(
        name="percepts",
        text="\n".join(line.text for line in lines),
        budget=PERCEPTS_BUDGET,
        lines=lines,
        held=len(lines),
        left_out=shapes.dropped,
    )


def fact_entries(percepts: Iterable[Percept]) -> Iterator[Entry]:
    """Each fact once, as it stands in the brick."""
    seen: set[str] = set()
    for percept in islice(percepts, _LOOKED_AT):
        text = one_line(percept.text, PERCEPT_LIMIT)
        if text and text not in seen:
            seen.add(text)
            sources = (key_of((percept.turn, 0, 0)),) if percept.turn else ()
            yield Entry(f"- {text}", sources, keys=(f"{FACT}{text}",))
