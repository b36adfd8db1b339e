"""What was spent, added up over all stored turns: by day, by session and by model.

SQLite does the adding, so that a hundred thousand turns are a matter of a moment. A row that cannot be read counts
as a turn that spent nothing.
"""

import sqlite3
from typing import Any

from milk_tui.core.cut import one_line
from milk_tui.core.messages import Value
from milk_tui.core.text import sanitize

NAME_LIMIT = 80
MOST_ROWS = 60
"""Rows of each list; the sum counts everything all the same."""


class Spent(Value):
    """Tokens and money of some turns."""

    name: str
    """The day, the session's title, or the model."""
    id: str = ""
    """The session's id, in the list by session."""
    turns: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    """What Claude reported; `None` if it reported nothing, as a local model never does."""
    uncounted: int = 0
    """Turns of Claude's that did not report what they cost, such as stopped ones."""


class UsageReport(Value):
    """Everything that was spent, in three orders."""

    total: Spent
    days: tuple[Spent, ...] = ()
    """Newest first, in the machine's own time zone."""
    sessions: tuple[Spent, ...] = ()
    """Last used first."""
    models: tuple[Spent, ...] = ()
    """The dearest first."""


_FIGURES = """
    count(*), CAST(total(input) AS INTEGER), CAST(total(cached) AS INTEGER), CAST(total(output) AS INTEGER),
    sum(cost), CAST(total(agent = 'claude' AND cost IS NULL) AS INTEGER)
"""

_ADDED = f"""
    WITH safe AS (
        SELECT session, agent, CASE WHEN json_valid(value) THEN value ELSE '{{}}' END AS value FROM turns
    ), spent AS MATERIALIZED (
        SELECT session, agent,
            coalesce(json_extract(value, '$.model'), '') AS model,
            coalesce(date(json_extract(value, '$.started_at'), 'localtime'), 'unknown') AS day,
            json_extract(value, '$.usage.input_tokens') AS input,
            json_extract(value, '$.usage.cached_tokens') AS cached,
            json_extract(value, '$.usage.output_tokens') AS output,
            json_extract(value, '$.usage.cost_usd') AS cost
        FROM safe
    )
    SELECT 'total', 'Everything', '', '' AS rank, {_FIGURES} FROM spent
    UNION ALL SELECT 'day', day, '', day, {_FIGURES} FROM spent GROUP BY day
    UNION ALL SELECT 'session', title, session, used_at, {_FIGURES} FROM spent JOIN sessions USING (session)
        GROUP BY session
    UNION ALL SELECT 'model', iif(model = '', agent || ', model unknown', model), '',
        printf('%020.6f %020d', total(cost), total(output)), {_FIGURES} FROM spent GROUP BY agent, model
    ORDER BY rank DESC
"""
"""Every list at once: its kind, and in each row name, id, what it is ordered by, and the figures."""


def usage_of(connection: sqlite3.Connection) -> UsageReport:
    """Add up every turn."""
    rows: dict[str, list[Spent]] = {}
    for kind, name, id, _, *figures in connection.execute(_ADDED):
        rows.setdefault(kind, []).append(_spent(name, id, figures))

    def listed(kind: str) -> tuple[Spent, ...]:
        return tuple(rows.get(kind, ())[:MOST_ROWS])

    return UsageReport(
        total=rows["total"][0], days=listed("day"), sessions=listed("session"), models=listed("model")
    )


def _spent(name: object, id: object, figures: list[Any]) -> Spent:
    turns, read, cached, written, cost, uncounted = figures
    return Spent(
        name=one_line(sanitize(str(name)), NAME_LIMIT),
        id=sanitize(str(id)),
        turns=turns,
        input_tokens=read,
        cached_tokens=cached,
        output_tokens=written,
        cost_usd=cost if isinstance(cost, int | float) else None,
        uncounted=uncounted,
    )
