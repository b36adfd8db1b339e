"""A file before and after some turns, as it is shown and copied."""

from typing import Literal

from milk_tui.core.changed_files import Piece
from milk_tui.core.line_diff import unified
from milk_tui.core.messages import Value

DiffKind = Literal["changed", "created", "deleted", "unchanged", "asked"]


class FileDiff(Value):
    """A file then and now; where that is not known, what was asked for."""

    name: str
    """The path, from the session's directory where it is inside."""
    kind: DiffKind
    before: str | None = None
    after: str | None = None
    pieces: tuple[Piece, ...] = ()
    """What was asked for, only where the texts are not known."""
    added: int = 0
    removed: int = 0
    words: str = ""
    """What should be said about it."""

    @property
    def patch(self) -> str:
        """The difference as text."""
        if self.kind != "asked":
            return unified(self.before, self.after, self.name)
        return "".join(unified(piece.old, piece.new, self.name) for piece in self.pieces)


class Changes(Value):
    """All files that were changed in some turns."""

    files: tuple[FileDiff, ...] = ()
    may_be_more: bool = False
    """Commands ran as well, and what those change is not known."""
