"""The Markdown parser: CommonMark with tables and strikethrough, and nothing that hides text.

HTML stays text, so that `<name>` and `List<int>` are seen; link references stay text, for a definition far below
would change what is already drawn; formulas keep their backslashes. markdown-it is imported at the first use.
"""

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

_NESTING = 60
"""Quotes in quotes and lists in lists, at most: deeper ones would be dropped by the parser's default of 20."""

_BRACKETS = 200
"""More opening brackets than this in one paragraph are text: to look for links in them takes time without bound."""

# Bounded, for the same reason.
_FORMULA = re.compile(
    r"\\\((?:[^\\]|\\(?!\))){1,500}?\\\)"
    r"|\\\[(?:[^\\]|\\(?!\])){1,1500}?\\\]"
    r"|\$\$(?:[^$\\]|\\.){1,1500}?\$\$"
    r"|\$(?![\s$])(?:[^$\\\n]|\\.){0,500}?(?<!\s)\$(?!\d)",
    re.DOTALL,
)


@lru_cache(maxsize=1)
def parser() -> "MarkdownIt":
    """The one parser; it keeps no state between texts."""
    from markdown_it import MarkdownIt

    markdown = MarkdownIt("commonmark", {"html": False, "maxNesting": _NESTING})
    markdown.enable(["table", "strikethrough"]).disable(["reference", "html_block", "html_inline"])
    markdown.inline.ruler.before("escape", "formula", _formula)
    markdown.inline.ruler.before("link", "brackets", _brackets)
    # No address is ever followed from here: each is shown as it was written.
    shown: Any = {"normalizeLink": str, "normalizeLinkText": str, "validateLink": bool}
    for name, function in shown.items():
        setattr(markdown, name, function)
    return markdown


def block_tokens(text: str) -> "list[Token]":
    """The blocks of a text, their inner text not parsed."""
    tokens: list[Token] = []
    parser().block.parse(text, parser(), {}, tokens)
    return tokens


def too_deep(tokens: "list[Token]") -> bool:
    """Whether the parser may have left text out because of its nesting."""
    return any(token.level >= _NESTING - 2 for token in tokens)


def _formula(state: "StateInline", silent: bool) -> bool:
    if state.src[state.pos] not in "$\\":
        return False
    match = _FORMULA.match(state.src, state.pos, state.posMax)
    if match is None:
        return False
    if not silent:
        state.push("formula", "", 0).content = match[0]
    state.pos = match.end()
    return True


def _brackets(state: "StateInline", silent: bool) -> bool:
    if state.src[state.pos] not in "[!" or state.src.count("[") <= _BRACKETS:
        return False
    if not silent:
        state.append_pending(state.src[state.pos])
    state.pos += 1
    return True
