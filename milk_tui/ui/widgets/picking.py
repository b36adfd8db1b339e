"""Choosing answers from menus: what is marked, where the cursor is, what has been answered.

A value that keys change. It draws nothing. The last row of every menu is the user's own answer.
"""

from collections.abc import Sequence

from milk_tui.core.menu import Menu


class Picking:
    """Where the user is in a row of menus."""

    def __init__(self, menus: Sequence[Menu]) -> None:
        self.menus = tuple(menus)
        self.place = 0
        """The menu that is shown."""
        self.cursor = 0
        """The row that the keys are about."""
        self._marked: list[set[int]] = [set() for _ in menus]
        self._own = [""] * len(self.menus)

    @property
    def menu(self) -> Menu:
        """The menu that is shown."""
        return self.menus[self.place]

    @property
    def own_row(self) -> int:
        """The row of the user's own answer."""
        return len(self.menu.choices)

    @property
    def own(self) -> str:
        """The user's own answer to this menu."""
        return self._own[self.place]

    @property
    def is_last(self) -> bool:
        """Whether no menu follows."""
        return self.place == len(self.menus) - 1

    def is_marked(self, row: int) -> bool:
        """Whether this row is part of the answer."""
        return row in self._marked[self.place]

    def move(self, rows: int) -> None:
        """Put the cursor on another row; around the end."""
        self.cursor = (self.cursor + rows) % (self.own_row + 1)

    def point(self, row: int) -> bool:
        """Put the cursor on a row; tells whether there is one."""
        if not 0 <= row <= self.own_row:
            return False
        self.cursor = row
        return True

    def mark(self) -> None:
        """Take the row at the cursor into the answer, or out of it where several may be chosen."""
        if self.menu.takes_several:
            self._marked[self.place] ^= {self.cursor}
        else:
            self._marked[self.place] = {self.cursor}

    def write(self, text: str) -> None:
        """Take the user's own words into the answer; without any, take them out."""
        self._own[self.place] = text
        marked = self._marked[self.place] - {self.own_row} if self.menu.takes_several else set()
        self._marked[self.place] = marked | ({self.own_row} if text else set())

    def go(self, menus: int) -> None:
        """Show another menu, the cursor on its answer."""
        self.place = max(0, min(self.place + menus, len(self.menus) - 1))
        self.cursor = min(self._marked[self.place], default=0)

    def answers(self) -> tuple[str, ...]:
        """One answer for each menu; empty where nothing was chosen."""
        return tuple(self._answer(place) for place in range(len(self.menus)))

    def _answer(self, place: int) -> str:
        labels = [*(choice.label for choice in self.menus[place].choices), self._own[place]]
        return ", ".join(labels[row] for row in sorted(self._marked[place]))
