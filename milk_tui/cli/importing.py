"""`milk-tui sessions import`: takes over sessions of Claude Code and of the Go program, and our own exports."""

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from milk_tui.cli.saying import say
from milk_tui.cli.wish import Wish
from milk_tui.core.text import sanitize
from milk_tui.storage.importing.importer import Imported, Importer
from milk_tui.storage.importing.searching import Search, search
from milk_tui.storage.importing.source import Progress, unmoved


def run_import(wish: Wish, named: Sequence[str], *, as_json: bool) -> int:
    """Take sessions over and tell what became of each file.

    Returns:
        1 if there is nothing of them here afterwards.
    """
    found = search(Path(name) for name in named)
    made: list[Imported] = [
        Imported(path=str(path), outcome="skipped", why=why) for path, why in found.failed
    ]
    try:
        with _progress(found) as progress:
            importer = Importer(wish.settings().home, progress)
            for warning in importer.warnings:
                say(warning)
            try:
                made += map(importer.take, found.files)
            finally:
                importer.close()
    finally:
        _tell(made, as_json=as_json)
    return 1 if all(report.outcome == "skipped" for report in made) else 0


@contextmanager
def _progress(found: Search) -> Iterator[Progress]:
    """A bar on standard error where somebody sees it."""
    if not sys.stderr.isatty():
        yield unmoved
        return
    with click.progressbar(length=found.size, label="Reading", file=sys.stderr) as bar:
        yield bar.update


def _tell(made: Sequence[Imported], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps([report.model_dump(mode="json") for report in made], indent=2, ensure_ascii=False))
        return
    for report in made:
        for line in _lines(report):
            print(sanitize(line))
    counts = {"taken": 0, "updated": 0, "unchanged": 0, "skipped": 0}
    for report in made:
        counts[report.outcome] += 1
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.items() if count) + ".")


def _lines(report: Imported) -> Iterator[str]:
    head = f"{report.outcome:<9}  {report.session[:8]:<8}"
    if report.why:
        yield f"{head}  {report.why}"
        if report.path not in report.why:
            yield f"           {report.path}"
        return
    turns = f"{report.turns} turn" + ("" if report.turns == 1 else "s")
    yield f"{head}  {turns:>9}  {report.title}"
    yield f"           {report.path}"
    if report.left_out:
        counts = (f"{count:,} {what}" for what, count in report.left_out.items())
        yield f"           left out: {', '.join(counts)}"
    for note in report.notes:
        yield f"           {note}"
