"""HTML as plain text: roughly what a reader would see, line by line, and nothing run or fetched.

Takes time in proportion to the page, however broken it is, which the parser of the standard library does not.
"""

import re
from collections.abc import Iterator
from html import unescape

_UNSEEN = {"script", "style", "template", "noscript", "svg", "head"}
_BLOCKS = {
    "address", "article", "aside", "blockquote", "br", "dd", "div", "dl", "dt", "footer", "form", "h1", "h2", "h3",
    "h4", "h5", "h6", "header", "hr", "li", "main", "nav", "ol", "p", "pre", "section", "table", "tr", "ul",
}  # fmt: skip

_MARKUP = re.compile(
    r"<!--(?:.*?-->|.*)|<(?P<close>/?)(?P<tag>[a-z][a-z0-9-]*)[^<>]*>|<[!?/][^<>]*>",
    re.DOTALL | re.IGNORECASE,
)


def text_of(html: str) -> str:
    """The text of a page, blocks on lines of their own, runs of blank lines folded."""
    lines = (" ".join(line.split()) for line in "".join(_pieces(html)).split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def _pieces(html: str) -> Iterator[str]:
    """Visible text, and line ends where blocks begin and end."""
    unseen = ""
    position = 0
    for markup in _MARKUP.finditer(html):
        if not unseen:
            yield _flowing(html[position : markup.start()])
        position = markup.end()
        tag = (markup["tag"] or "").lower()
        if unseen:
            unseen = "" if tag == unseen and markup["close"] else unseen
        elif tag in _UNSEEN and not markup["close"]:
            unseen = tag
        elif tag in _BLOCKS:
            yield "\n"
    if not unseen:
        yield _flowing(html[position:])


def _flowing(text: str) -> str:
    return unescape(text).replace("\n", " ")
