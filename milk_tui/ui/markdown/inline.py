"""The inside of a paragraph to runs of text: emphasis, code, links, formulas.

One source line gives one line: a line break the model wrote is kept. Links are shown as text and address, and never
as something the terminal would follow.
"""

from typing import TYPE_CHECKING

from milk_tui.ui.markdown.rows import Run

if TYPE_CHECKING:
    from markdown_it.token import Token

_STYLES = {"strong": "strong", "em": "em", "s": "strike", "link": "link"}


def inline_lines(token: "Token", base: str = "") -> list[list[Run]]:
    """The lines of an inline token; `base` names the styles around it."""
    writer = _Writer(base)
    for child in token.children or ():
        writer.write(child)
    return writer.lines


class _Writer:
    def __init__(self, base: str) -> None:
        self.lines: list[list[Run]] = [[]]
        self.styles = [base] if base else []
        self.links: list[tuple[str, str, int, int]] = []

    def write(self, token: "Token") -> None:
        """Add what one token shows."""
        kind = token.type
        if kind in ("softbreak", "hardbreak"):
            self.lines.append([])
        elif kind == "code_inline":
            self.add(token.content, "code")
        elif kind == "image":
            self.image(token)
        elif token.nesting > 0:
            self.open(token)
        elif token.nesting < 0:
            self.close(token)
        else:
            self.add(token.content, "formula" if kind == "formula" else "")

    def add(self, text: str, style: str = "") -> None:
        """Add text in the styles that are open; a line break in it starts a line."""
        names = " ".join([*self.styles, style] if style else self.styles)
        first, *others = text.replace("\t", " ").split("\n")
        if first:
            self.lines[-1].append((first, names))
        for line in others:
            self.lines.append([(line, names)] if line else [])

    def open(self, token: "Token") -> None:
        """Begin a style."""
        name = token.type.removesuffix("_open")
        if name == "link":
            address = str(token.attrs.get("href", ""))
            self.links.append((address, _title(token), len(self.lines), len(self.lines[-1])))
        self.styles.append(_STYLES.get(name, name))

    def close(self, token: "Token") -> None:
        """End a style; after a link comes its address where the text does not say it."""
        self.styles.pop()
        if token.type != "link_close":
            return
        address, title, line, run = self.links.pop()
        shown = [self.lines[line - 1][run:], *self.lines[line:]]
        text = "".join(text for runs in shown for text, _ in runs)
        if title or text not in (address, address.removeprefix("mailto:")):
            self.add(f" ({address}{title})", "url")

    def image(self, token: "Token") -> None:
        """An image is its description and its address."""
        self.add(token.content, "link")
        self.add(f" ({token.attrs.get('src', '')}{_title(token)})", "url")


def _title(token: "Token") -> str:
    title = token.attrs.get("title")
    return f' "{title}"' if title else ""
