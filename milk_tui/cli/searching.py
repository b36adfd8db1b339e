"""`milk-tui sessions search`: prints the messages in which some words stand."""

import sys
from collections.abc import Iterator
from contextlib import closing

import click

from milk_tui.cli.wish import Wish, here
from milk_tui.core.cut import one_line
from milk_tui.storage.search.searcher import Found, Hit, Searcher
from milk_tui.storage.search.words import Excerpt, Query

_BY = {"user": "You", "local": "Local", "claude": "Claude", "tool": "Tool"}


def run_search(wish: Wish, words: str, limit: int, *, only_here: bool, as_json: bool) -> bool:
    """Bring the index up to date, search, and print. Tells whether anything was found."""
    with closing(Searcher(wish.settings().home)) as searcher:
        _catch_up(searcher)
        found = searcher.search(Query(words), limit, here() if only_here else None)
    if as_json:
        print(found.model_dump_json(indent=2))
    else:
        for line in _lines(found):
            click.echo(line)
    return bool(found.hits)


def _catch_up(searcher: Searcher) -> None:
    """Take what is new; the first time that may take a while, and somebody who watches sees how far it is."""
    if not sys.stderr.isatty():
        searcher.catch_up()
        return
    with click.progressbar(length=100, label="Indexing", file=sys.stderr, show_eta=False) as bar:
        searcher.catch_up(lambda part: bar.update(int(part * 100) - bar.pos))


def _lines(found: Found) -> Iterator[str]:
    if not found.hits:
        yield "Nothing was found."
    for hit in found.hits:
        yield _head(hit)
        yield f"          {_marked(hit.excerpt)}"
    if found.has_more:
        yield "There is more: --limit shows it."


def _head(hit: Hit) -> str:
    when = hit.at.astimezone().strftime("%Y-%m-%d %H:%M")
    return (
        f"{hit.session[:8]}  {when}  {_BY[hit.by]:<6}  {hit.message:>7}  {one_line(hit.title, 60)}  {hit.cwd}"
    )


def _marked(excerpt: Excerpt) -> str:
    """The excerpt with the words in bold; `click.echo` takes that out where it is not shown."""
    parts, place = [], 0
    for start, end in excerpt.marks:
        parts += [excerpt.text[place:start], click.style(excerpt.text[start:end], bold=True)]
        place = end
    return "".join((*parts, excerpt.text[place:]))
