"""A session as one HTML page: it loads nothing, runs nothing, and can be read in light and dark.

All that was said is escaped; an agent's Markdown is drawn without the HTML and the pictures that are in it.
"""

import json
from collections.abc import Iterator
from functools import cache
from html import escape
from typing import TYPE_CHECKING

from milk_tui.core.session import Session
from milk_tui.storage.exporting.parts import Part, page

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_FOLDED = {"thinking", "call", "result", "told"}
_STYLE = """
:root { color-scheme: light dark; --ink: #1f2328; --paper: #ffffff; --faint: #59636e; --line: #d1d9e0;
  --ground: #f6f8fa; --user: #0b6bcb; --local: #1a7f37; --claude: #b35900; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --paper: #0d1117; --faint: #9198a1; --line: #3d444d;
  --ground: #151b23; --user: #6cb6ff; --local: #57ab5a; --claude: #f0a35e; } }
body { margin: 0 auto; max-width: 52rem; padding: 1.5rem; color: var(--ink); background: var(--paper);
  font: 16px/1.55 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; } h2 { font-size: 1rem; margin-top: 2.5rem; color: var(--faint);
  border-bottom: 1px solid var(--line); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; color: var(--faint); } dd { margin: 0; }
section, details { margin: .8rem 0; padding-left: .8rem; border-left: 3px solid var(--line); }
.user { border-color: var(--user); } .local { border-color: var(--local); } .claude { border-color: var(--claude); }
h3, summary { margin: 0; font-size: .85rem; font-weight: 600; color: var(--faint); }
.user h3 { color: var(--user); } .local h3 { color: var(--local); } .claude h3 { color: var(--claude); }
summary { cursor: pointer; } .remark { color: var(--faint); font-size: .85rem; }
.words, pre { white-space: pre-wrap; margin: .3rem 0; }
pre { padding: .6rem .8rem; background: var(--ground); border-radius: 6px; }
pre, code { font: .85rem/1.45 ui-monospace, monospace; } :not(pre) > code { background: var(--ground); }
table { border-collapse: collapse; } th, td { border: 1px solid var(--line); padding: .2rem .6rem; }
blockquote { margin: 0; padding-left: .8rem; border-left: 3px solid var(--line); color: var(--faint); }
a { color: var(--user); }
@media print { details > * { display: block; } }
""".strip()
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def as_html(session: Session) -> str:
    """The whole session."""
    return "\n".join(_lines(session)) + "\n"


def _lines(session: Session) -> Iterator[str]:
    whole = page(session)
    title = escape(whole.title)
    yield "<!doctype html>"
    yield '<html lang="en">'
    yield '<meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield '<meta name="referrer" content="no-referrer">'
    yield f"<title>{title}</title>"
    yield f"<style>\n{_STYLE}\n</style>"
    yield f"<h1>{title}</h1>"
    yield f"<dl>{''.join(f'<dt>{name}</dt><dd>{escape(text)}</dd>' for name, text in whole.facts)}</dl>"
    for heading, parts in whole.turns:
        yield f"<h2>Turn {escape(heading)}</h2>"
        yield from map(_part, parts)
    if whole.bricks:
        yield "<h2>Bricks</h2>"
        yield from map(_part, whole.bricks)


def _part(part: Part) -> str:
    body, heading = _body(part), escape(part.heading)
    if part.kind in _FOLDED:
        return f'<details class="{part.kind}"><summary>{heading}</summary>{body}</details>'
    head = f"<h3>{heading}</h3>" if heading else ""
    return f'<section class="{part.kind}">{head}{body}</section>'


def _body(part: Part) -> str:
    if part.style == "markdown":
        return str(_parser().render(part.text))
    if part.style == "words":
        return f'<div class="words">{escape(part.text)}</div>'
    return f"<pre>{escape(_readable(part.text) if part.style == 'json' else part.text)}</pre>"


def _readable(text: str) -> str:
    """JSON over several lines."""
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return text


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    # A picture would be fetched from wherever a model says.
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("image")
