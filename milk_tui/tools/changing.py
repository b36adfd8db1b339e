"""The tools that change files: the question shows the text before and after, and exactly that is done or nothing."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Annotated

from pydantic import Field

from milk_tui.core.permission import Question, Scope
from milk_tui.tools.base import Outcome, Prepared, Report
from milk_tui.tools.off_loop import Stop, off_loop
from milk_tui.tools.reading import Path_
from milk_tui.tools.replacing import replace_file
from milk_tui.tools.site import Site
from milk_tui.tools.text_file import FILE_BYTES, TextFile, hides, new_text_file, read_text
from milk_tui.tools.trouble import ToolError
from milk_tui.tools.workspace import Place, may_be_secret

_PLACES_NAMED = 10

Text = Annotated[str, Field(description="The whole new text of the file.")]
Old = Annotated[str, Field(description="The text to replace, exactly as in the file, without line numbers.")]
New = Annotated[str, Field(description="What to put there instead.")]


def write_file(site: Site, path: Path_, text: Text) -> Prepared:
    """Write a whole text file: create it, with the directories it needs, or replace all of it.

    Use edit_file to change a part. Line ends and encoding of a file that is there are kept.
    """
    place = site.workspace.place(path)
    present = _present(site, place)
    if present and present.is_crlf:
        text = _with_line_ends(text, "\r\n")
    return _change(site, "write_file", place, present, text)


def edit_file(site: Site, path: Path_, old: Old, new: New) -> Prepared:
    """Replace a text in a file. It must be there exactly once: give enough lines around it to make it unique."""
    place = site.workspace.place(path)
    present = _present(site, place)
    if present is None:
        raise ToolError(f"{place.name} does not exist; write_file creates files.")
    if not old:
        raise ToolError(
            "`old` is empty. Give the text to replace, or use write_file to write the whole file."
        )
    start, end = _only_match(present.text, old, place.name)
    text = present.text[:start] + _with_line_ends(new, _line_end(present, start, end)) + present.text[end:]
    return _change(site, "edit_file", place, present, text)


def _present(site: Site, place: Place) -> TextFile | None:
    """The file as it is, None if there is none. One that changed since the model read it is not for changing."""
    try:
        present = read_text(place.path, place.name, Stop())
    except FileNotFoundError:
        return None
    if site.seen.get(place.path, present.digest) != present.digest:
        raise ToolError(f"{place.name} was changed by something else since you read it. Read it again first.")
    return present


def _only_match(text: str, old: str, name: str) -> tuple[int, int]:
    """Where the old text stands. Its line ends match those of the file, whichever those are."""
    flat, wanted = (_with_line_ends(each, "\n") for each in (text, old))
    found = list(islice(_places(flat, wanted), _PLACES_NAMED + 1))
    if not found:
        raise ToolError(f"`old` is not in {name}. {_hint(text, old)}")
    if len(found) > 1:
        count = f"{len(found)} times" if len(found) <= _PLACES_NAMED else f"more than {_PLACES_NAMED} times"
        lines = ", ".join(str(flat.count("\n", 0, start) + 1) for start in found[:_PLACES_NAMED])
        raise ToolError(
            f"`old` is in {name} {count}, at lines {lines}. Give more of the text around the one you mean."
        )
    ends = [part.endswith("\r") for part in text.split("\n")]
    start, end = (at + sum(ends[: flat.count("\n", 0, at)]) for at in (found[0], found[0] + len(wanted)))
    return start, end


def _places(text: str, wanted: str) -> Iterator[int]:
    """Every place where a text stands, also where one overlaps the next."""
    at = text.find(wanted)
    while at >= 0:
        yield at
        at = text.find(wanted, at + 1)


def _hint(text: str, old: str) -> str:
    """Why a text may not have been found."""
    if re.search(r"^ *\d+\t", old, re.MULTILINE):
        return "Leave the line numbers out."
    if "".join(old.split()) in "".join(text.split()):
        return "It would be, but for spaces, tabs and line ends: copy them exactly."
    return "Read the file and copy the text exactly."


def _line_end(present: TextFile, start: int, end: int) -> str:
    """The line end to write in a replacement: that of what is replaced, else of the whole file."""
    replaced = present.text[start:end]
    if "\n" in replaced:
        return "\r\n" if "\r\n" in replaced else "\n"
    return "\r\n" if present.is_crlf else "\n"


def _with_line_ends(text: str, line_end: str) -> str:
    flat = text.replace("\r\n", "\n")
    return flat if line_end == "\n" else flat.replace("\n", line_end)


def _change(site: Site, tool: str, place: Place, present: TextFile | None, text: str) -> Prepared:
    """The question about a change, and the change."""
    if present and present.text == text:
        raise ToolError(f"{place.name} already holds exactly this text; nothing was written.")
    data = (present or new_text_file()).encoded(text)
    if len(data) > FILE_BYTES:
        raise ToolError(f"The text is larger than {FILE_BYTES // 1_000_000} MB; it was not written.")

    def write(stop: Stop) -> Outcome:
        site.workspace.check(place)
        digest = replace_file(place.path, place.name, data, present.digest if present else None, stop)
        site.seen[place.path] = digest
        return Outcome(
            f"{'Changed' if present else 'Created'} {place.name}: {_lines(text)}{_before(present)}."
        )

    async def run(_report: Report) -> Outcome:
        return await off_loop(write)

    return Prepared(_question(site, tool, place, present, text), run)


def _question(site: Site, tool: str, place: Place, present: TextFile | None, text: str) -> Question:
    """Shows the text before and after. A change that could do more than change a text cannot be granted ahead."""
    is_special = _is_run_by_git(place) or may_be_secret(place.path)
    is_inside = site.workspace.holds(place.path)
    folder = site.workspace.directory if is_inside else place.path.parent
    return Question(
        tool=tool,
        arguments="",
        path=str(place.path),
        reason=" ".join(_reasons(place, text)),
        before=present.text if present else None,
        after=text,
        scope=None if is_special else Scope(tool=tool, kind="file", subject=str(place.path)),
        wider=None if is_special else Scope(tool=tool, kind="folder", subject=str(folder)),
    )


def _reasons(place: Place, text: str) -> list[str]:
    """What is out of the ordinary about a change."""
    reasons = [words for words in (place.reason, place.detour) if words]
    if _is_run_by_git(place):
        reasons.append("It is one of git's own files, and git may run what is in it.")
    if hides(text):
        reasons.append("The text holds control characters that are not shown.")
    return reasons


def _is_run_by_git(place: Place) -> bool:
    return any(part.lower() == ".git" for part in place.path.parts)


def _lines(text: str) -> str:
    count = len(text.splitlines())
    return f"{count:,} line{'' if count == 1 else 's'}"


def _before(present: TextFile | None) -> str:
    return f", {_lines(present.text)} before" if present else ""
