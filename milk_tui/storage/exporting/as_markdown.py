"""A session as Markdown that renders: what is in one message never changes how another one looks.

An agent's Markdown stands as it is if it ends where it began; one that leaves something open, such as a fence or a
comment, or that holds HTML, goes into a quote, which closes it.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from milk_tui.core.session import Session
from milk_tui.storage.exporting.parts import Part, page

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$&!])")
_MARKER = re.compile(r"^( *\d{0,9})([-+=.)])", re.MULTILINE)
"""What begins a list or a line under a heading, at the beginning of a line."""
_END = "end-of-message"


def as_markdown(session: Session) -> str:
    """The whole session."""
    return "\n\n".join(_blocks(session)) + "\n"


def _blocks(session: Session) -> Iterator[str]:
    whole = page(session)
    yield f"# {_escaped(whole.title)}"
    yield "\n".join(f"- {name}: {_escaped(text)}" for name, text in whole.facts)
    for heading, parts in whole.turns:
        yield f"## Turn {_escaped(heading)}"
        for part in parts:
            yield from _part(part)
    if whole.bricks:
        yield "## Bricks"
        for part in whole.bricks:
            yield from _part(part)


def _part(part: Part) -> Iterator[str]:
    if part.heading:
        yield f"**{_escaped(part.heading)}**"
    if part.style == "markdown":
        yield _contained(part.text.strip("\n"))
    elif part.style == "words" and not re.search(r"^[ \t]|```", part.text, re.MULTILINE):
        lines = _escaped(part.text).split("\n")
        # A backslash at the end keeps the line's end, except before an empty line.
        ended = (
            line + "\\" if line and after else line
            for line, after in zip(lines, [*lines[1:], ""], strict=True)
        )
        yield _quoted("\n".join(ended))
    else:
        yield _fenced(part.text, "json" if part.style == "json" else "text")


def _contained(text: str) -> str:
    """An agent's Markdown, so that it ends where it ends."""
    tokens = _parser().parse(f"{text}\n\n# {_END}")
    is_closed = len(tokens) > 2 and tokens[-3].type == "heading_open" and tokens[-2].content == _END
    has_html = any(
        token.type == "html_block" or any(child.type == "html_inline" for child in token.children or ())
        for token in tokens
    )
    return text if is_closed and tokens[-3].level == 0 and not has_html else _quoted(text)


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def _fenced(text: str, language: str) -> str:
    """The text as it is, in a fence longer than any in it."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def _escaped(text: str) -> str:
    """Words as Markdown that shows them as they are."""
    return _MARKER.sub(r"\1\\\2", _SPECIAL.sub(r"\\\1", text))


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable("table")
