"""Turns become a text within a budget: newest first, whole exchanges, oldest dropped.

The cost depends on the budget and not on the number of turns: turns are visited newest first, and only as many as
the budget can hold. There is always something in a summary when there is anything to say: a newest turn that is too
large by itself keeps its head and its tail.
"""

from collections.abc import Iterable

from milk_tui.core.bricks import Brick, BrickLine, BrickName
from milk_tui.core.cut import cut_middle
from milk_tui.core.exchange import (
    MERGE_ALLOWANCE,
    Item,
    Run,
    Said,
    folded,
    prompt_item,
    reply_items,
    size,
)
from milk_tui.core.messages import Turn

_DROPPED_ROOM = 60
"""Room kept for the line that says how many exchanges were left out."""


def summary(name: BrickName, turns: Iterable[Turn], total: int, room: int, budget: int) -> Brick:
    """A brick of the given turns.

    Args:
        name: Which brick it is.
        turns: The turns it is about, newest first; read only as far as the room goes.
        total: How many turns it is about, read or not.
        room: The most characters of text.
        budget: What the brick may take in a hand-off, heading and fence included.
    """
    exchanges = _chosen(turns, max(room - _DROPPED_ROOM, 0))
    if not exchanges:
        return Brick(name=name, budget=budget, dropped=total)
    items = folded([item for exchange in reversed(exchanges) for item in exchange])
    lines = [line for item in items for line in item.lines()]
    dropped = total - len(exchanges)
    if dropped > 0:
        noun = "exchange" if dropped == 1 else "exchanges"
        lines.insert(0, BrickLine(text=f"[{dropped:,} earlier {noun} left out]"))
    return Brick(
        name=name,
        text="\n".join(line.text for line in lines),
        budget=budget,
        lines=tuple(lines),
        held=len(exchanges),
        dropped=max(dropped, 0),
        collapsed=sum(item.more for item in items if isinstance(item, Run)),
    )


def _chosen(turns: Iterable[Turn], room: int) -> list[list[Item]]:
    """Exchanges, newest first, that fit; the newest is shortened if it must be."""
    chosen: list[list[Item]] = []
    for turn in turns:
        exchange = _exchange(turn, room)
        if exchange is None:
            if not chosen:
                chosen.append(_shortened(turn, room))
            break
        chosen.append(exchange)
        room -= _cost(exchange)
    return chosen


def _exchange(turn: Turn, room: int) -> list[Item] | None:
    """The turn's items, oldest first; `None` as soon as it is clear that they do not fit."""
    prompt = prompt_item(turn)
    items = _newest_items(turn, room - size([prompt]))
    if items is None:
        return None
    exchange = folded([prompt, *items])
    return exchange if _cost(exchange) <= room else None


def _newest_items(turn: Turn, room: int) -> list[Item] | None:
    """What followed the prompt, oldest first; calls count little here, because folding may leave little of them."""
    taken: list[Item] = []
    used = 0
    for item in reply_items(turn):
        used += size([item]) if isinstance(item, Said) else 1
        if used > room:
            return None
        taken.append(item)
    return taken[::-1]


def _cost(exchange: list[Item]) -> int:
    """Its size, and what folding its first calls into the exchange before it can add there."""
    leading = next((item for item in exchange[1:2] if isinstance(item, Run)), None)
    return size(exchange) + (MERGE_ALLOWANCE if leading else 0)


def _shortened(turn: Turn, room: int) -> list[Item]:
    """Head and tail of a turn that is larger than the room: the prompt, then as much of its end as fits."""
    prompt = prompt_item(turn)
    prompt.text = cut_middle(prompt.text, max(room // 3, 1))
    tail: list[Item] = []
    cut = Said("[… the middle of this turn is left out …]", prompt.source)
    left = room - size([prompt, cut])
    for item in reply_items(turn):
        need = size([item])
        if need > left:
            if not tail and left > 1:
                tail.append(_cut_item(item, left - 1))
            break
        tail.append(item)
        left -= need
    return folded([prompt, cut, *reversed(tail)])


def _cut_item(item: Item, limit: int) -> Item:
    source = item.source if isinstance(item, Said) else item.sources[0]
    text = item.text if isinstance(item, Said) else item.shown
    return Said(cut_middle(text, limit), source)
