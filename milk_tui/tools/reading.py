"""The tools that look at files and directories. They change nothing."""

import os
import stat
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated

from pydantic import Field

from milk_tui.core.cut import cut_end
from milk_tui.core.permission import Question, Scope
from milk_tui.core.text import sanitize
from milk_tui.tools.base import Outcome, Prepared, Report
from milk_tui.tools.off_loop import Stop, check, off_loop
from milk_tui.tools.site import Site
from milk_tui.tools.text_file import TextFile, hides, insist_on_file, read_text
from milk_tui.tools.trouble import ToolError
from milk_tui.tools.workspace import Place, Workspace, may_be_secret

ENTRIES = 100_000
"""The most entries of a directory that are looked at."""

Path_ = Annotated[str, Field(description="Relative to the session's directory, absolute, or with ~.")]
Start = Annotated[int, Field(ge=1, description="The first line to show.")]
Lines = Annotated[int, Field(ge=1, le=100_000, description="The most lines to show.")]


def read_file(site: Site, path: Path_, start: Start = 1, lines: Lines = 2_000) -> Prepared:
    """Read a text file. Each line is shown after its number and a tab."""
    place = site.workspace.place(path)
    insist_on_file(place.path.lstat(), place.name)

    def read(stop: Stop) -> Outcome:
        site.workspace.check(place)
        file = read_text(place.path, place.name, stop)
        site.seen[place.path] = file.digest
        return Outcome(_numbered(file, place.name, start, lines, site.limit_chars))

    return reading("read_file", place, read)


def list_dir(site: Site, path: Path_ = ".") -> Prepared:
    """List a directory: directories end with a slash, files have their size in bytes."""
    place = site.workspace.place(path)
    if not place.path.is_dir():
        place.path.lstat()
        raise ToolError(f"{place.name} is not a directory.")

    def read(stop: Stop) -> Outcome:
        site.workspace.check(place)
        return Outcome(_listing(place, site.workspace, stop))

    return reading("list_dir", place, read, is_folder=True)


def reading(tool: str, place: Place, work: Callable[[Stop], Outcome], *, is_folder: bool = False) -> Prepared:
    """A call that reads on a thread, and asks first if the place is not free to read."""

    async def run(_report: Report) -> Outcome:
        return await off_loop(work)

    return Prepared(read_question(tool, place, is_folder=is_folder), run)


def read_question(tool: str, place: Place, *, is_folder: bool) -> Question | None:
    """What to ask before a place is read; None if it is free. Secrets are asked about every time."""
    if not place.reason:
        return None
    is_secret = may_be_secret(place.path)
    scope = Scope(tool=tool, kind="folder" if is_folder else "file", subject=str(place.path))
    parent = Scope(tool=tool, kind="folder", subject=str(place.path.parent))
    return Question(
        tool=tool,
        arguments="",
        path=str(place.path),
        reason=f"{place.reason} {place.detour}".strip(),
        scope=None if is_secret else scope,
        wider=None if is_folder or is_secret else parent,
    )


def _numbered(file: TextFile, name: str, start: int, lines: int, limit: int) -> str:
    """The lines asked for, as many as fit, and in brackets what else there is to know."""
    all_lines = file.text.split("\n")
    if all_lines[-1] == "":
        all_lines.pop()
    if not all_lines:
        return f"[{name} is empty]"
    if start > len(all_lines):
        raise ToolError(f"{name} has {len(all_lines):,} lines, so there is no line {start:,}.")
    shown: list[str] = []
    room = limit - 400
    for number, line in enumerate(islice(all_lines, start - 1, start - 1 + lines), start):
        text = sanitize(cut_end(line.removesuffix("\r"), max(limit // 2, 80)))
        row = f"{number}\t{text}"
        room -= len(row) + 1
        if room < 0 and shown:
            break
        shown.append(row)
    end = start + len(shown) - 1
    return "\n".join([*shown, *_remarks(file, end, len(all_lines))])


def _remarks(file: TextFile, end: int, total: int) -> Iterator[str]:
    if end < total:
        yield f"[lines {end + 1:,} to {total:,} are not shown; go on with start={end + 1}]"
    if file.is_crlf:
        yield "[lines end with CRLF, and will when the file is changed]"
    if file.codec == "latin-1":
        yield "[not UTF-8; shown as if it were Latin-1]"
    if hides(file.text):
        yield "[control characters are not shown]"


def _listing(place: Place, workspace: Workspace, stop: Stop) -> str:
    names: list[tuple[bool, str]] = []
    with os.scandir(place.path) as entries:
        for entry in islice(entries, ENTRIES + 1):
            check(stop)
            names.append(_entry(entry, workspace))
    more = len(names) > ENTRIES
    rows = [row for _is_file, row in sorted(names[:ENTRIES])]
    count = f"more than {ENTRIES:,}" if more else f"{len(rows):,}"
    return "\n".join([f"[{place.name}: {count} entries]", *rows])


def _entry(entry: os.DirEntry[str], workspace: Workspace) -> tuple[bool, str]:
    """A directory entry as one row, directories first when sorted. A line end in a name does not make two rows."""
    name = sanitize(entry.name).replace("\n", "�")
    try:
        status = entry.stat(follow_symlinks=False)
        if stat.S_ISLNK(status.st_mode):
            target = workspace.shown(Path(os.path.realpath(entry.path)))
            return True, f"{name} -> {sanitize(target)}"
        if stat.S_ISDIR(status.st_mode):
            return False, f"{name}/"
        size = f"{status.st_size:,}" if stat.S_ISREG(status.st_mode) else "no ordinary file"
        return True, f"{name}  {size}"
    except OSError:
        return True, f"{name}  (vanished)"
