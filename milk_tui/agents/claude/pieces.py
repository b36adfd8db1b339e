"""A long text in pieces that Claude Code takes as they are."""

from milk_tui.core.cut import graphemes

CONTEXT_LIMIT = 9_500
"""The most UTF-16 units of context one hook may add; Claude Code puts more than 10,000 into a file."""


def pieces(text: str, limit: int) -> list[str]:
    """The text in pieces that together are the text, cut after lines if possible.

    Each has at most `limit` characters as Claude Code counts them, in which an emoji is two.
    """
    found: list[str] = []
    while text:
        end = _cut(text, limit)
        found.append(text[:end])
        text = text[end:]
    return found


def _cut(text: str, limit: int) -> int:
    """Where the first piece ends."""
    room = len(text[:limit].encode("utf-16-le")[: 2 * limit].decode("utf-16-le", "ignore"))
    if room == len(text):
        return room
    line_end = text.rfind("\n", 0, room) + 1
    if line_end:
        return line_end
    end = 0
    for grapheme in graphemes(text):
        if end + len(grapheme) > room:
            break
        end += len(grapheme)
    return end or room
