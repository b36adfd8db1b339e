"""Code to coloured lines, with Pygments imported at the first fence that names a language.

Unknown languages stay plain. The words for styles are few, so that a theme needs only a handful of colours.
"""

from functools import lru_cache
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from milk_tui.ui.markdown.rows import Run

if TYPE_CHECKING:
    from pygments.lexer import Lexer

_STYLES = {
    "Comment": "comment",
    "Keyword": "keyword",
    "Keyword.Constant": "number",
    "Keyword.Type": "builtin",
    "Operator.Word": "keyword",
    "Literal.Number": "number",
    "Literal.String": "string",
    "Literal.String.Escape": "number",
    "Literal.String.Interpol": "number",
    "Name.Attribute": "builtin",
    "Name.Builtin": "builtin",
    "Name.Builtin.Pseudo": "number",
    "Name.Class": "definition",
    "Name.Constant": "number",
    "Name.Decorator": "definition",
    "Name.Exception": "builtin",
    "Name.Function": "definition",
    "Name.Namespace": "definition",
    "Name.Tag": "keyword",
    "Generic.Deleted": "deleted",
    "Generic.Heading": "keyword",
    "Generic.Inserted": "inserted",
    "Generic.Prompt": "comment",
    "Generic.Subheading": "keyword",
}

STYLES = tuple(sorted(set(_STYLES.values())))
"""The words for styles that a run of code may have."""


def highlight(code: str, language: str) -> list[list[Run]]:
    """The lines of the code as runs; plain where the language is unknown or its lexer fails."""
    lexer = _lexer(language.lower()) if language else None
    if lexer is None:
        return [[(line, "")] if line else [] for line in code.split("\n")]
    lines: list[list[Run]] = [[]]
    for kind, text in _tokens(lexer, code):
        style = _style(kind)
        first, *others = text.split("\n")
        if first:
            lines[-1].append((first, style))
        for line in others:
            lines.append([(line, style)] if line else [])
    return lines


@lru_cache(maxsize=64)
def language_of(path: str) -> str:
    """The language of a file, by its name; empty where it is unknown."""
    from pygments.lexers import find_lexer_class_for_filename

    name = PurePath(path).name
    lexer = find_lexer_class_for_filename(name) if name else None
    return lexer.aliases[0] if lexer and lexer.aliases else ""


def _tokens(lexer: "Lexer", code: str) -> list[tuple[Any, str]]:
    from pygments.token import Text

    # A lexer is someone else's patterns run on a model's text: a fault in one costs the colours, not the session.
    try:
        tokens = [(kind, text) for _, kind, text in lexer.get_tokens_unprocessed(code)]
    except Exception:
        return [(Text, code)]
    complete = "".join(text for _, text in tokens) == code
    return tokens if complete else [(Text, code)]


@lru_cache(maxsize=64)
def _lexer(language: str) -> "Lexer | None":
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        return get_lexer_by_name(language)
    except ClassNotFound:
        return None


@lru_cache(maxsize=512)
def _style(kind: Any) -> str:
    name = str(kind).removeprefix("Token.")
    while name:
        if name in _STYLES:
            return _STYLES[name]
        name = name.rpartition(".")[0]
    return ""
