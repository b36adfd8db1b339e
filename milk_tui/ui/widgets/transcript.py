"""The conversation on screen, however long: one widget that draws rows, and no widget per message.

It holds the blocks by their keys and collects what is streamed. `Window` draws and `Reader` knows the keys; who
speaks and what is saved is not its business.
"""

from collections.abc import Collection, Iterable
from dataclasses import replace
from time import monotonic

from milk_tui.ui.widgets.blocks import Block
from milk_tui.ui.widgets.reader import Reader
from milk_tui.ui.widgets.stack import Spot

_FLUSH_SECONDS = 1 / 20
"""Streamed text is shown so often at most."""


class Transcript(Reader):
    """The transcript."""

    def __init__(
        self,
        blocks: Iterable[Block] = (),
        *,
        name: str | None = None,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self._places: dict[str, int] = {}
        self._pending: dict[str, list[str]] = {}
        self._flush_is_due = False
        self._last_flush = 0.0
        self.extend(blocks)

    @property
    def blocks(self) -> list[Block]:
        """The blocks as they are shown."""
        return [view.block for view in self.viewport.views]

    def append(self, block: Block) -> None:
        """Put a block at the end."""
        self.extend((block,))

    def extend(self, blocks: Iterable[Block]) -> None:
        """Put blocks at the end. Costs little however many: only what comes into view is drawn."""
        added = list(blocks)
        first = len(self.viewport.views)
        self._places.update((block.key, first + place) for place, block in enumerate(added))
        self.viewport.extend(added)
        self.show()

    def stream(self, key: str, delta: str) -> None:
        """Add to the text of a block; for a call, to its result. Shown with what else comes within a moment."""
        if key not in self._places:
            raise KeyError(key)
        self._pending.setdefault(key, []).append(delta)
        if self._flush_is_due or not self.is_attached:
            return
        self._flush_is_due = True
        wait = self._last_flush + _FLUSH_SECONDS - monotonic()
        if wait > 0:
            self.set_timer(wait, self._flush)
        else:
            self.call_later(self._flush)

    def replace(self, block: Block) -> None:
        """Show a new state of a block, in full; what was streamed to it and not yet shown is dropped."""
        self._pending.pop(block.key, None)
        self.viewport.update(self._places[block.key], block)
        self.show()

    def take_out(self, keys: Collection[str]) -> None:
        """Take blocks out, such as those of a step that is said again; what is read stays where it is."""
        indices = {self._places[key] for key in keys}
        if not indices:
            return
        for key in keys:
            self._pending.pop(key, None)
        self.viewport.remove(indices)
        self._places = {view.block.key: place for place, view in enumerate(self.viewport.views)}
        self.cursor = None
        self.show()

    def finish(self, key: str) -> None:
        """Show all that was streamed to a block, and that nothing more comes."""
        self._flush()
        block = self._block(key)
        if block.state == "running":
            self.replace(replace(block, state=""))

    def clear(self) -> None:
        """Remove all blocks, and follow what comes."""
        self._places.clear()
        self._pending.clear()
        self.forget()
        self.action_scroll_end()

    def go_to(self, key: str, offset: int = 0) -> None:
        """Choose a block, unfold it, and bring into view the line of its text that has the character at `offset`.

        Raises `KeyError` where there is no such block.
        """
        index = self.cursor = self._places[key]
        self.show_row(self.viewport.first_row(index))
        if offset:
            self.show_row(self.viewport.spot_of(index, offset))

    def show_row(self, spot: Spot) -> None:
        """Bring a row into view, its block unfolded."""
        if self.viewport.views[spot.block].folded:
            self.viewport.fold(spot.block, False)
        self.viewport.reveal(spot, self.viewport.height // 3)
        self.update_screen()
        self.refresh()

    def return_to(self, top: Spot, follows: bool, folded: Collection[str] = ()) -> None:
        """Look from a row again, or follow the end, with these blocks folded."""
        self.viewport.fold_all([self._places[key] for key in folded if key in self._places], True)
        if follows:
            self.action_scroll_end()
        else:
            self.viewport.look_from(top)
            self.update_screen()

    def _block(self, key: str) -> Block:
        return self.viewport.views[self._places[key]].block

    def _flush(self) -> None:
        self._flush_is_due = False
        if not self._pending:
            return
        pending, self._pending = self._pending, {}
        started = monotonic()
        for key, deltas in pending.items():
            block = self._block(key)
            grown = block.body + "".join(deltas)
            block = replace(block, detail=grown) if block.kind == "call" else replace(block, source=grown)
            self.viewport.update(self._places[key], block)
        self.show()
        # Never more than half of the time: where flushing is slow, the next one waits as long as this one took.
        ended = monotonic()
        self._last_flush = max(ended - _FLUSH_SECONDS + (ended - started), started)
