"""Visible reasoning that a model writes into its answer: `<think>…</think>` at the very start, and nowhere else.

Works on fragments cut anywhere. A tag later in the answer is text: the user may have asked about it.
"""

from typing import Literal, NamedTuple

OPEN = "<think>"
CLOSE = "</think>"


class Part(NamedTuple):
    """A fragment and what it is."""

    kind: Literal["text", "thinking"]
    text: str


class ThinkSplitter:
    """Tells reasoning from answer while both stream in."""

    def __init__(self) -> None:
        self._place: Literal["start", "inside", "closed", "after"] = "start"
        self._held = ""
        self._has_thought = False

    def feed(self, text: str) -> list[Part]:
        """What can be told apart so far; the rest is held until more comes."""
        if self._place == "after":
            return [Part("text", text)]
        self._held += text
        self._at_start()
        return self._inside() + self._answer()

    def finish(self) -> list[Part]:
        """What was held back, now that nothing more comes."""
        held, self._held = self._held, ""
        if not held or self._place == "closed":
            return []
        return [Part("thinking" if self._place == "inside" else "text", held)]

    def _at_start(self) -> None:
        if self._place != "start":
            return
        begun = self._held.lstrip()
        if begun.startswith(OPEN):
            self._place = "inside"
            self._held = begun[len(OPEN) :]
        elif not OPEN.startswith(begun):
            self._place = "after"

    def _inside(self) -> list[Part]:
        if self._place != "inside":
            return []
        thought, tag, rest = self._held.partition(CLOSE)
        if tag:
            self._place, self._held = "closed", rest
        else:
            keep = _begun(self._held)
            thought, self._held = self._held[: len(self._held) - keep], self._held[len(self._held) - keep :]
        thought = thought if self._has_thought else thought.lstrip()
        self._has_thought = self._has_thought or bool(thought)
        return [Part("thinking", thought)] if thought else []

    def _answer(self) -> list[Part]:
        if self._place == "closed":
            self._held = self._held.lstrip()
            self._place = "after" if self._held else "closed"
        if self._place != "after" or not self._held:
            return []
        held, self._held = self._held, ""
        return [Part("text", held)]


def _begun(text: str) -> int:
    """How many characters at the end of the text may be the beginning of the closing tag."""
    for length in range(min(len(CLOSE) - 1, len(text)), 0, -1):
        if CLOSE.startswith(text[-length:]):
            return length
    return 0
