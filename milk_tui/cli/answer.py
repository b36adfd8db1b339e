"""An answer on standard output as it comes: no blank lines before or behind it, one between its messages."""


class AnswerText:
    """Prints one answer after the other."""

    def __init__(self) -> None:
        self._has_printed = False
        self._held = ""
        """White space that belongs to the answer only if more of it comes."""

    def text(self, text: str) -> None:
        """Print a fragment."""
        whole = self._held + text if self._has_printed else text.lstrip("\n")
        kept = whole.rstrip()
        self._held = whole[len(kept) :]
        if kept:
            print(kept, end="", flush=True)
            self._has_printed = True

    def part(self) -> None:
        """What follows is another message: a blank line comes between."""
        self._held = "\n\n"

    def end(self) -> None:
        """End the answer with one line end; an empty one has none."""
        if self._has_printed:
            print(flush=True)
        self._has_printed, self._held = False, ""
