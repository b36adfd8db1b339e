"""What can be taken out of a text as it was written: its blocks of code, and the addresses in it.

Only addresses that a browser or a mail program opens count; nothing is opened here.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from milk_tui.ui.markdown.parser import block_tokens, parser
from milk_tui.ui.markdown.rows import clean

_LONGEST = 4_000
_SCHEME = re.compile(r"(?:https?://|mailto:)[^\s]", re.IGNORECASE)
_ADDRESS = re.compile(rf"""(?:https?://|mailto:)[^\s<>"'`|\\^{{}}]{{1,{_LONGEST}}}""", re.IGNORECASE)
_PAIRS = {")": "(", "]": "["}


class Code(NamedTuple):
    """A block of code."""

    language: str
    text: str


def code_blocks(text: str) -> list[Code]:
    """The blocks of code in a Markdown text, wherever they are nested."""
    return [
        Code(" ".join(token.info.split()[:1]), token.content.removesuffix("\n"))
        for token in block_tokens(text)
        if token.type in ("fence", "code_block")
    ]


def addresses(text: str, *, is_markdown: bool) -> list[str]:
    """The addresses in a text, each once, in their order: http, https and mailto."""
    found = _of_markdown(text) if is_markdown else _bare(text)
    return list(dict.fromkeys(address for each in found if (address := _plain(each))))


def _plain(address: str) -> str:
    """The address if it is one that may be opened, else nothing."""
    is_good = len(address) <= _LONGEST and clean(address) == address and not re.search(r"\s", address)
    return address if is_good and _SCHEME.match(address) else ""


def _of_markdown(text: str) -> Iterator[str]:
    for token in parser().parse(text):
        if token.type in ("fence", "code_block"):
            yield from _bare(token.content)
        for child in token.children or ():
            yield from (str(child.attrs[name]) for name in ("href", "src") if name in child.attrs)
            yield from _bare(child.content)


def _bare(text: str) -> Iterable[str]:
    """Addresses that stand in a text without any mark, without what ends the sentence around them."""
    for match in _ADDRESS.finditer(text):
        address = match[0]
        while address and (address[-1] in ".,;:!?*_~" or _closes_more(address)):
            address = address[:-1]
        yield address


def _closes_more(address: str) -> bool:
    last = address[-1]
    return last in _PAIRS and address.count(last) > address.count(_PAIRS[last])
