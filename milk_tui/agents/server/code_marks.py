"""Whether a streamed answer stands inside Markdown code: a fence, or a span on one line.

Follows the text piece by piece and keeps only what it has to know for the next one. A span ends with its line here, so
that a backtick without a partner hides one line at the most. It knows nothing of calls.
"""

_LEAD = " \t>-*+.)0123456789"
"""What may stand before a fence on its line: quotations and list marks."""


class CodeMarks:
    """Fed with the whole text in order: runs of backticks or tildes by `run`, all else by `plain`."""

    def __init__(self) -> None:
        self._fence: tuple[str, int] | None = None
        self._is_opening = False
        """We are on the line that opened the fence."""
        self._is_closing = False
        """The line closes the fence if nothing else follows on it."""
        self._ticks = 0
        """The length of the run that opened the span we are in."""
        self._is_line_start = True
        self._run = ("", 0, False)
        """A run that may go on: its character, its length, and whether it began its line."""

    def is_inside(self) -> bool:
        """Whether what follows is code. A run that was fed last has ended."""
        self._settle()
        return self._fence is not None or self._ticks > 0

    def run(self, text: str) -> None:
        """Go on with backticks or tildes."""
        if self._run[0] == text[0]:
            self._run = (text[0], self._run[1] + len(text), self._run[2])
        else:
            self._settle()
            self._run = (text[0], len(text), self._is_line_start)
            self._is_line_start = False

    def plain(self, text: str) -> None:
        """Go on with any other text; a line end comes alone."""
        if not text:
            return
        self._settle()
        if text == "\n":
            self._end_line()
            return
        self._is_line_start = self._is_line_start and not text.strip(_LEAD)
        self._is_closing = self._is_closing and not text.strip()

    def _end_line(self) -> None:
        if self._is_closing:
            self._fence = None
        self._ticks = 0
        self._is_opening = self._is_closing = False
        self._is_line_start = True

    def _settle(self) -> None:
        """The run has ended: find out what it opens or closes."""
        mark, length, begins_line = self._run
        self._run = ("", 0, False)
        if not mark:
            return
        if self._fence is not None and not (self._is_opening and mark == self._fence[0] == "`"):
            self._is_closing = begins_line and mark == self._fence[0] and length >= self._fence[1]
            return
        if self._fence is not None:
            # A second run on the line: the first was no fence but the beginning of a span.
            self._ticks, self._fence = self._fence[1], None
        if self._ticks:
            self._ticks = 0 if mark == "`" and length == self._ticks else self._ticks
        elif begins_line and length >= 3:
            self._fence, self._is_opening = (mark, length), True
        elif mark == "`":
            self._ticks = length
