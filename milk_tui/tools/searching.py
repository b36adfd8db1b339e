"""The tools that search: for files by name, and in files by regular expression. They change nothing."""

from pathlib import Path
from typing import Annotated

from pydantic import Field

from milk_tui.core.text import sanitize
from milk_tui.tools.base import Outcome, Prepared, Report
from milk_tui.tools.reading import Path_, read_question
from milk_tui.tools.ripgrep import Found, search
from milk_tui.tools.site import Site
from milk_tui.tools.text_file import insist_on_file
from milk_tui.tools.trouble import ToolError
from milk_tui.tools.workspace import SECRET_FOLDERS, SECRETS, Place

LINE_COLUMNS = 300
"""How much of a matching line is shown, in bytes."""

Pattern = Annotated[str, Field(min_length=1, max_length=2_000, description="A regular expression.")]
Glob = Annotated[str, Field(max_length=500, description="Only files whose name matches, such as *.py.")]
NameGlob = Annotated[
    str, Field(min_length=1, max_length=500, description="Such as *.py, test_* or src/**/*.ts.")
]


def find_files(site: Site, pattern: NameGlob, path: Path_ = ".") -> Prepared:
    """Find files by name in a directory and all below it.

    Leaves out what .gitignore leaves out, unless the pattern names it.
    """
    place = _place(site, path)
    if not place.path.is_dir():
        raise ToolError(f"{place.name} is a file, not a directory.")
    return _searching(site, "find_files", place, ["--files", *_chosen(pattern)], "file")


def grep(site: Site, pattern: Pattern, path: Path_ = ".", glob: Glob = "") -> Prepared:
    """Search file contents by regular expression; gives path:line:text.

    Leaves out what .gitignore leaves out, unless the glob names it, and binary files and what may hold secrets.
    """
    place = _place(site, path)
    options = [
        "--line-number",
        "--with-filename",
        "--no-heading",
        f"--max-columns={LINE_COLUMNS}",
        "--max-columns-preview",
    ]
    left_out = [f"--iglob=!{name}" for name in (*SECRETS, *SECRET_FOLDERS)]
    return _searching(
        site, "grep", place, [*options, *_chosen(glob), *left_out, f"--regexp={pattern}"], "matching line"
    )


def _chosen(glob: str) -> list[str]:
    """The option for a glob. One for everything is left out, for it would name what `.gitignore` leaves out."""
    return [] if glob in ("", "*", "**", "**/*") else [f"--glob={glob}"]


def _place(site: Site, path: str) -> Place:
    """A directory or an ordinary file, and nothing that would keep a search waiting."""
    place = site.workspace.place(path)
    if not place.path.is_dir():
        insist_on_file(place.path.lstat(), place.name)
    return place


def _searching(site: Site, tool: str, place: Place, arguments: list[str], what: str) -> Prepared:
    is_folder = place.path.is_dir()

    async def run(_report: Report) -> Outcome:
        site.workspace.check(place)
        found = await search(arguments, place.path)
        folder = place.path if is_folder else place.path.parent
        return Outcome(_told(found, site.workspace.shown(folder), what))

    return Prepared(read_question(tool, place, is_folder=is_folder), run)


def _told(found: Found, folder: str, what: str) -> str:
    """The lines with paths that the other tools understand, and how many there are."""
    start = "" if folder == "." else str(Path(folder, "x"))[:-1]
    lines = [start + sanitize(line.removeprefix("./")) for line in found.lines]
    count = f"{len(lines):,} {what}{'' if len(lines) == 1 else 's'}"
    return "\n".join([*lines, f"[{count}{'; ' + found.cut if found.cut else ''}]"])
