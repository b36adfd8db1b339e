"""Looking for a needle in all blocks, a slice of time at a time, and going from hit to hit.

What was counted stays true as long as its block does, so that a longer needle and a block that arrived meanwhile cost
only what is new. Knows views; the window shows what was found.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from time import monotonic
from typing import Literal, NamedTuple

from milk_tui.ui.widgets.block_view import BlockView
from milk_tui.ui.widgets.blocks import Block
from milk_tui.ui.widgets.hits import before, count, hits, pieces_with, unfolded
from milk_tui.ui.widgets.needle import Needle
from milk_tui.ui.widgets.stack import Spot

Direction = Literal[-1, 1]


class Place(NamedTuple):
    """One hit: the block, the piece of it, and which hit in that piece."""

    block: int
    piece: int
    number: int


class Search:
    """One needle, and how often it is in which block."""

    def __init__(self, text: str, earlier: "Search | None" = None) -> None:
        """Begin to look for a text; what an earlier search did not find need not be looked for again."""
        self.needle = Needle(text)
        self._earlier = earlier if earlier and self.needle.narrows(earlier.needle) else None
        self._counts: dict[str, tuple[Block, int]] = {}

    def go_on(self, views: Sequence[BlockView], seconds: float, start: int = 0) -> bool:
        """Count in the blocks that are new or have changed, those from `start` on first; false if time ran out."""
        if not self.needle:
            return True
        end = monotonic() + seconds
        for view in chain(islice(views, start, None), islice(views, start)):
            block = view.block
            counted = self._counts.get(block.key)
            if counted is None or counted[0] is not block:
                self._counts[block.key] = (block, self._count(view))
                if monotonic() > end:
                    return False
        self._earlier = None
        return True

    def _count(self, view: BlockView) -> int:
        if self._earlier is not None:
            counted = self._earlier._counts.get(view.block.key)
            if counted is not None and counted[0] is view.block and not counted[1]:
                return 0
        return count(view, self.needle)

    def count(self, view: BlockView) -> int:
        """The hits in a block, as far as it was looked at."""
        counted = self._counts.get(view.block.key)
        return counted[1] if counted is not None else 0

    def total(self, views: Sequence[BlockView]) -> int:
        """All hits."""
        return sum(map(self.count, views))

    def number(self, views: Sequence[BlockView], place: Place) -> int:
        """Which of all hits one is, counted from 1."""
        earlier = self.total(views[: place.block]) + before(
            unfolded(views[place.block]), place.piece, self.needle
        )
        return earlier + place.number + 1

    def near(self, views: Sequence[BlockView], spot: Spot) -> Place | None:
        """The first hit from a row on; the last one before it where there is none."""
        for block in range(spot.block, len(views)):
            for place in self._in_block(views, block, 1):
                if block > spot.block or self.spot(views, place) >= spot:
                    return place
        for block in range(min(spot.block + 1, len(views)) - 1, -1, -1):
            for place in self._in_block(views, block, -1):
                return place
        return None

    def step(self, views: Sequence[BlockView], place: Place, direction: Direction) -> Place | None:
        """The hit after one (1), or before it (-1); after the last comes the first."""
        for turn in range(len(views) + 1):
            block = (place.block + direction * turn) % len(views)
            for other in self._in_block(views, block, direction):
                if turn or (other > place if direction > 0 else other < place):
                    return other
        return None

    def is_at(self, views: Sequence[BlockView], place: Place) -> bool:
        """Whether there is still a hit at a place, after blocks may have changed."""
        return place.block < len(views) and place in self._in_block(views, place.block, 1)

    def spot(self, views: Sequence[BlockView], place: Place) -> Spot:
        """The row in which a hit begins."""
        found = hits(unfolded(views[place.block]), place.piece, self.needle)
        return Spot(place.block, place.piece, found[place.number][0].row)

    def _in_block(self, views: Sequence[BlockView], block: int, direction: Direction) -> Iterator[Place]:
        if not self.count(views[block]):
            return
        view = unfolded(views[block])
        for piece in pieces_with(view, self.needle)[::direction]:
            for number in range(len(hits(view, piece, self.needle)))[::direction]:
                yield Place(block, piece, number)
