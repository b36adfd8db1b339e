"""Code to coloured lines, with Pygments imported at the first fence that names a language.

Unknown languages stay plain. The words for styles are few, so that a theme needs only a handful of colours.
"""

import re
from contextlib import suppress
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

_OTHER_NAMES = {
    "ansible": "yaml",
    "astro": "html",
    "cmd": "bat",
    "compose": "yaml",
    "conf": "ini",
    "containerfile": "docker",
    "curl": "console",
    "dos": "bat",
    "dotenv": "bash",
    "editorconfig": "ini",
    "ejs": "html",
    "env": "bash",
    "gitconfig": "ini",
    "gql": "graphql",
    "gradle": "groovy",
    "ipython": "python",
    "jinja2": "jinja",
    "jsonc": "javascript",
    "jsonl": "json",
    "mdx": "markdown",
    "ml": "ocaml",
    "ndjson": "json",
    "opencl": "c",
    "patch": "diff",
    "pgsql": "postgresql",
    "plsql": "sql",
    "rescript": "reason",
    "service": "systemd",
    "sh-session": "console",
    "shellsession": "console",
    "sqlite": "sql",
    "svelte": "html",
    "terminal": "console",
    "unit": "systemd",
    "vb": "vbnet",
    "viml": "vim",
    "vimscript": "vim",
    "wasm": "wat",
    "xhtml": "html",
}
"""What people call languages, where Pygments knows neither the name nor a file's ending like it."""

_WORD = re.compile(r"[{.\s]*([\w+#-]+(?:\.[\w+#-]+)?)")

STYLES = tuple(sorted(set(_STYLES.values())))
"""The words for styles that a run of code may have."""


def highlight(code: str, language: str) -> list[list[Run]]:
    """The lines of the code as runs; plain where the language is unknown or its lexer fails."""
    lexer = _lexer(language.lower())
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
    return lines[:-1]


@lru_cache(maxsize=64)
def language_of(path: str) -> str:
    """The language of a file, by its name; empty where it is unknown."""
    from pygments.lexers import find_lexer_class_for_filename

    name = PurePath(path).name
    lexer = find_lexer_class_for_filename(name) if name else None
    return lexer.aliases[0] if lexer and lexer.aliases else ""


def _tokens(lexer: "Lexer", code: str) -> list[tuple[Any, str]]:
    """The code in parts of one kind each, with a line break at its end."""
    from pygments.token import Text

    # Some lexers drop a last line that has no end.
    whole = code + "\n"
    # A lexer is someone else's patterns run on a model's text: a fault in one costs the colours, not the session.
    try:
        tokens = [(kind, text) for _, kind, text in lexer.get_tokens_unprocessed(whole)]
    except Exception:
        return [(Text, whole)]
    complete = "".join(text for _, text in tokens) == whole
    return tokens if complete else [(Text, whole)]


@lru_cache(maxsize=64)
def _lexer(info: str) -> "Lexer | None":
    """The lexer for what stands behind a fence: `python`, `{.python}`, `python:main.py`, `main.py`, `py{1,3}`."""
    match = _WORD.match(info)
    if match is None:
        return None
    from pygments.lexers import find_lexer_class_for_filename, get_lexer_by_name
    from pygments.util import ClassNotFound

    word = match[1]
    for name in (word, _OTHER_NAMES.get(word, "")):
        with suppress(ClassNotFound):
            # Code of a page that begins in the middle of a program.
            return get_lexer_by_name(name, startinline=True)
    lexer = find_lexer_class_for_filename(word if "." in word else f"x.{word}")
    return lexer() if lexer else None


@lru_cache(maxsize=512)
def _style(kind: Any) -> str:
    name = str(kind).removeprefix("Token.")
    while name:
        if name in _STYLES:
            return _STYLES[name]
        name = name.rpartition(".")[0]
    return ""
