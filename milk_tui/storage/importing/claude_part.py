"""What was said in a Claude Code session since a moment, from its file: a part that belongs to a session of ours.

The file is read as for an import, and everything older is left where it is. Sessions that were branched off hold
copies of what was said before, so whoever reads several files says what is known already.
"""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from milk_tui.core.messages import Turn
from milk_tui.storage.importing.branch import Nodes, branch, node_of
from milk_tui.storage.importing.claude_reader import ClaudeReader, record_at
from milk_tui.storage.importing.claude_records import Record
from milk_tui.storage.importing.fields import moment_in, text_in
from milk_tui.storage.importing.source import Lines, opened, parsed


@dataclass(frozen=True)
class ClaudePart:
    """Turns, and what they took."""

    turns: tuple[Turn, ...]
    """Oldest first, with clean texts; numbered from 1."""
    cost_usd: float | None
    """What they have cost together, as Claude Code measured it; `None` if it did not say."""
    total_usd: float | None
    """What the whole session has cost."""


def claude_part(path: Path, since: datetime, known: set[str]) -> ClaudePart:
    """What is new in a file.

    Args:
        path: A session of Claude Code's.
        since: What is older is left.
        known: Names of records that were read from other files; those of this one are added.

    Raises:
        SourceError: the file cannot be read.
    """
    survey = _Survey(since, known)
    with opened(path) as file:
        for place, line in Lines(file):
            survey.add(place, parsed(line) or {})
        chain = [node for node in branch(survey.nodes) if node.name in survey.new]
        reader = ClaudeReader(since, Counter())
        turns = [turn for node in chain for turn in reader.read(record_at(file, node.place))]
        turns += reader.end()
    known |= survey.new
    return ClaudePart(tuple(turns), survey.cost, survey.total)


class _Survey:
    """How the records hang together, which of them are new, and what the session had cost before and has now."""

    def __init__(self, since: datetime, known: set[str]) -> None:
        self.nodes: Nodes = {}
        self.new: set[str] = set()
        self.total: float | None = None
        """The last word on it, if it was said after something new."""
        self._before = 0.0
        self._since = since
        self._known = known

    @property
    def cost(self) -> float | None:
        """What is new has cost this."""
        if self.total is None:
            return None
        # A total below what was known means that Claude Code began to count anew.
        return self.total - self._before if self.total >= self._before else self.total

    def add(self, place: int, record: Record) -> None:
        """Note a record."""
        if text_in(record, "type") == "cost-state":
            self._note_total(record.get("totalCostUSD"))
        node = node_of(record, place)
        if node is None:
            return
        self.nodes[node.name] = node
        at = moment_in(record, "timestamp")
        is_new = at is not None and at >= self._since and node.name not in self._known
        # A summary says again what is known here.
        if is_new and not record.get("isCompactSummary"):
            self.new.add(node.name)

    def _note_total(self, total: object) -> None:
        if not isinstance(total, int | float):
            return
        if self.new:
            self.total = float(total)
        else:
            self._before = float(total)
