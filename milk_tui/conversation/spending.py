"""What was spent, in words: the same rows for the screen and for the command line."""

from collections.abc import Iterator

from milk_tui.core.prices import dollars
from milk_tui.storage.usage import Spent, UsageReport

HEADINGS = ("", "turns", "read", "from cache", "written", "cost")
Row = tuple[str, str, str, str, str, str]


def tables(report: UsageReport) -> Iterator[tuple[str, list[Row]]]:
    """Each list with its title, its last column what Claude says it cost."""
    yield "By day", [_row(spent, spent.name) for spent in report.days]
    yield "By session", [_row(spent, f"{spent.id[:8]}  {spent.name}") for spent in report.sessions]
    yield "By model", [_row(spent, spent.name) for spent in report.models]
    yield "In all", [_row(report.total, report.total.name)]


def _row(spent: Spent, name: str) -> Row:
    tokens = (spent.input_tokens, spent.cached_tokens, spent.output_tokens)
    read, cached, written = (f"{number:,}" for number in tokens)
    return name, f"{spent.turns:,}", read, cached, written, _cost(spent)


def _cost(spent: Spent) -> str:
    """The money; with how many of Claude's turns did not say, and nothing for a local model."""
    if spent.cost_usd is None:
        return "unknown" if spent.uncounted else "–"
    more = f" + {spent.uncounted:,} unknown" if spent.uncounted else ""
    return f"{dollars(spent.cost_usd)}{more}"
