"""Heights of many things on top of each other, as prefix sums: which one holds a row, and where does each begin.

A Fenwick tree: changing one height, appending and looking up all cost the logarithm of the count, so that a
transcript of 10,000 blocks is as quick as one of ten. Knows numbers and nothing else.
"""

from collections.abc import Iterable


class Heights:
    """A list of heights, in rows, with fast sums."""

    def __init__(self, heights: Iterable[int] = ()) -> None:
        self._heights: list[int] = []
        self._sums: list[int] = [0]
        self.extend(heights)

    def __len__(self) -> int:
        return len(self._heights)

    def __getitem__(self, index: int) -> int:
        return self._heights[index]

    def __setitem__(self, index: int, height: int) -> None:
        change = height - self._heights[index]
        if change == 0:
            return
        self._heights[index] = height
        node = index + 1
        while node < len(self._sums):
            self._sums[node] += change
            node += node & -node

    @property
    def total(self) -> int:
        """The sum of all heights."""
        return self.before(len(self._heights))

    def append(self, height: int) -> None:
        """Put one more at the end."""
        self._heights.append(height)
        node = len(self._heights)
        self._sums.append(self.before(node - 1) - self.before(node - (node & -node)) + height)

    def extend(self, heights: Iterable[int]) -> None:
        """Put many at the end, in one pass over all there are."""
        self._heights.extend(heights)
        sums = [0, *self._heights]
        for node in range(1, len(sums)):
            parent = node + (node & -node)
            if parent < len(sums):
                sums[parent] += sums[node]
        self._sums = sums

    def truncate(self, count: int) -> None:
        """Keep the first `count`."""
        del self._heights[count:]
        del self._sums[count + 1 :]

    def before(self, index: int) -> int:
        """The sum of the heights in front of `index`: the row where that one begins."""
        total = 0
        while index > 0:
            total += self._sums[index]
            index -= index & -index
        return total

    def find(self, row: int) -> tuple[int, int]:
        """The index of the one that holds `row`, and the row inside it.

        Those without height hold no row. A row past the end gives `(len(self), rows past the end)`.
        """
        index, step = 0, 1 << len(self._heights).bit_length()
        row = max(0, row)
        while step:
            node = index + step
            if node < len(self._sums) and self._sums[node] <= row:
                index = node
                row -= self._sums[node]
            step >>= 1
        return index, row
