"""A hand-off as rows: part by part and line by line as it leaves, or as it differs from the last one."""

from collections.abc import Iterator, Sequence

from textual.content import Content

from milk_tui.core.handoff import Handoff, Part
from milk_tui.core.state import Handed
from milk_tui.core.versions import difference
from milk_tui.ui.screens.handoff_words import as_sent
from milk_tui.ui.screens.masking import marked
from milk_tui.ui.widgets.differing import counted, differing
from milk_tui.ui.widgets.line_list import OFF, Row

_GAP = Row(Content(), style="plain")


def rows(shown: Handoff, plain: Handoff) -> Iterator[Row]:
    """Every part in the order in which it leaves, then those that are off.

    `plain` is the same hand-off unmasked: what is shown may be masked, what is done is done to the lines themselves.
    """
    own = {part.name: part for part in plain.parts}
    for part in as_sent(shown):
        is_standing = not part.body
        yield Row(Content(_heading(shown, part)), part.name, style="heading", is_switch=not is_standing)
        if part.lines:
            yield from _lines(part, own[part.name])
        else:
            yield Row(marked(part.text.strip("\n")), part.name, style="plain")
        yield _GAP
    for part in shown.off:
        words = f"{OFF} {_name(part.name)} · off: its {part.chars:,} characters are not sent · Space switches it on"
        yield Row(Content(words), part.name, style="heading", is_switch=True)


def changed_rows(shown: Handoff, handed: Sequence[Handed], turn: int) -> Iterator[Row]:
    """What is different from what was handed over in that turn."""
    yield Row(Content(f"Different from the hand-off of turn {turn}; F6 shows it whole."), style="facts")
    before = {part.name: part.text for part in handed}
    now = {part.name: part.body for part in shown.parts if part.body}
    for name in dict.fromkeys([*now, *before]):
        found = difference(before.get(name, ""), now.get(name, ""))
        yield Row(Content(f"{_name(name)} · {counted(found)}"), name, style="heading")
        for row in differing(found):
            yield Row(row, name, style="plain")
        yield _GAP


def _lines(part: Part, plain: Part) -> Iterator[Row]:
    """A part with its lines, between the words that quote them."""
    quoted = part.text.strip("\n").split("\n")
    yield Row(Content("\n".join(quoted[:2])), part.name, style="frame")
    for line, own in zip(part.lines, plain.lines or part.lines, strict=True):
        yield Row(marked(line.text), part.name, own)
    yield Row(Content(quoted[-1]), part.name, style="frame")


def _heading(handoff: Handoff, part: Part) -> str:
    is_known = handoff.situation == "resume" and part.text in handoff.standing
    words = " · as before" if is_known else ""
    if part.frozen_at is not None:
        words += f" · frozen as of turn {part.frozen_at}"
    return f"{_name(part.name)} · {part.chars:,} of {part.budget:,}{words}"


def _name(name: str) -> str:
    return name.replace("_", " ")
