"""A session that was exported as JSON, taken over as it was."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from milk_tui.core.messages import Turn, Value
from milk_tui.core.state import Percept
from milk_tui.core.versions import BrickVersion
from milk_tui.storage.exporting.as_json import SCHEMA
from milk_tui.storage.importing.fields import object_in, objects_in
from milk_tui.storage.importing.found import Found, ImportedState
from milk_tui.storage.importing.source import Progress, SourceError, parsed, unmoved, whole
from milk_tui.storage.rows import closed, made_safe

V = TypeVar("V", bound=Value)


def own_session(path: Path, progress: Progress = unmoved) -> Found:
    """Read an export.

    Raises:
        SourceError: it is damaged, or a newer program's.
    """
    raw, mark = whole(path, progress)
    fields = parsed(raw)
    if fields is None:
        raise SourceError(f"{path} is damaged: it is no JSON object.")
    if fields.get("schema") != SCHEMA:
        raise SourceError(f"{path} was written by a newer milk-tui than this one.", "Update milk-tui.")
    fields = made_safe(fields)
    try:
        state = ImportedState.model_validate({**object_in(fields, "state"), "source_mark": mark})
    except ValidationError as error:
        wrong = ", ".join(str(each["loc"][0]) for each in error.errors(include_url=False))
        raise SourceError(f"{path} is damaged: {wrong} cannot be read.") from error
    left_out: Counter[str] = Counter()
    turns = list(_turns(objects_in(fields, "turns"), left_out))
    return Found(
        state=state,
        used_at=(turns[-1].ended_at or turns[-1].started_at) if turns else state.created_at,
        turns=iter(turns),
        percepts=tuple(_read(Percept, objects_in(fields, "percepts"), left_out, "damaged facts")),
        versions=tuple(_read(BrickVersion, objects_in(fields, "versions"), left_out, "damaged bricks")),
        left_out=left_out,
    )


def _turns(listed: list[dict[str, Any]], left_out: Counter[str]) -> Iterator[Turn]:
    """The turns that can be read; one that was running when it was exported is interrupted."""
    last = 0
    for turn in _read(Turn, listed, left_out, "damaged turns"):
        if turn.number <= last or not turn.messages or turn.messages[0].role != "user":
            left_out["turns out of order"] += 1
            continue
        last = turn.number
        yield closed(turn, datetime.now(UTC)) if turn.status == "running" else turn


def _read(kind: type[V], listed: list[dict[str, Any]], left_out: Counter[str], what: str) -> Iterator[V]:
    """The values that can be read; the others are counted under what they are."""
    for fields in listed:
        try:
            yield kind.model_validate(fields)
        except ValidationError:
            left_out[what] += 1
