"""The tables of `sessions.db`, step by step.

One row is one thing that happened: a turn, a message, a percept, a version of a brick. What is searched or sorted is a
column; the rest of a value is JSON beside it, so that a new field of a value needs no new schema. A later step only
ever adds to `STEPS`: the number of steps is the schema number kept in the file.
"""

STEPS: tuple[tuple[str, ...], ...] = (
    (
        """
        CREATE TABLE sessions (
            session TEXT PRIMARY KEY,
            cwd TEXT NOT NULL,
            title TEXT NOT NULL,
            floor TEXT NOT NULL,
            used_at TEXT NOT NULL,
            value TEXT NOT NULL
        ) WITHOUT ROWID
        """,
        "CREATE INDEX sessions_by_cwd ON sessions (cwd, used_at)",
        """
        CREATE TABLE turns (
            session TEXT NOT NULL REFERENCES sessions ON DELETE CASCADE,
            turn INTEGER NOT NULL,
            agent TEXT NOT NULL,
            status TEXT NOT NULL,
            value TEXT NOT NULL,
            PRIMARY KEY (session, turn)
        ) WITHOUT ROWID
        """,
        # The number of a row is what a full-text index over `text` would refer to.
        """
        CREATE TABLE messages (
            row INTEGER PRIMARY KEY,
            session TEXT NOT NULL,
            turn INTEGER NOT NULL,
            place INTEGER NOT NULL,
            role TEXT NOT NULL,
            text TEXT NOT NULL,
            value TEXT NOT NULL,
            UNIQUE (session, turn, place),
            FOREIGN KEY (session, turn) REFERENCES turns ON DELETE CASCADE
        )
        """,
        """
        CREATE TABLE percepts (
            row INTEGER PRIMARY KEY,
            session TEXT NOT NULL REFERENCES sessions ON DELETE CASCADE,
            place INTEGER NOT NULL,
            turn INTEGER NOT NULL,
            cwd TEXT NOT NULL,
            at TEXT NOT NULL,
            text TEXT NOT NULL,
            UNIQUE (session, place)
        )
        """,
        "CREATE INDEX percepts_by_cwd ON percepts (cwd, at)",
    ),
    (
        """
        CREATE TABLE versions (
            session TEXT NOT NULL REFERENCES sessions ON DELETE CASCADE,
            number INTEGER NOT NULL,
            brick TEXT NOT NULL,
            value TEXT NOT NULL,
            PRIMARY KEY (session, number)
        ) WITHOUT ROWID
        """,
    ),
)

SCHEMA = len(STEPS)

COLUMNS: dict[str, str] = {
    "sessions": "session, cwd, title, floor, used_at, value",
    "turns": "session, turn, agent, status, value",
    "messages": "session, turn, place, role, text, value",
    "percepts": "session, place, turn, cwd, at, text",
    "versions": "session, number, brick, value",
}
"""Every column but the row numbers, table by table; a table comes after those it refers to."""
