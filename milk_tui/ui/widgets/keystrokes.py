"""What the rhythm of keys tells: a paste that came without marks, and pieces of a broken mouse report.

Both arrive as ordinary keys, only faster than anybody types. It knows nothing of widgets.
"""

import re

BURST = 0.02
"""Seconds. Text that follows a line break sooner than this was not typed."""
_GOING_ON = 0.1
"""Seconds. A paste that was recognised goes on for as long as no gap is longer: on a busy machine its keys are read
with pauses, and nobody presses Enter this soon after a paste.
"""

_MACHINE = 0.005
"""Seconds. Two keys closer than this are pieces of one sequence that the terminal sent."""
_REPORT_TIME = 2.0
"""Seconds after which the rest of a broken report is not expected any more."""

_BEGINNINGS = ("^[", "[<", "^[<")
_UNFINISHED = re.compile(r"\^?\[<[\d;-]{1,15}")
_WHOLE = re.compile(r"\^?\[<\d{1,4};-?\d{1,4};-?\d{1,4}[Mm]")
_CUT_OFF = re.compile(r"\^\[<\d{1,4};[\d;-]*")


class Burst:
    """Tells whether a line break belongs to a paste whose earlier line break was already recognised."""

    def __init__(self) -> None:
        self._is_on = False
        self._last = 0.0

    def begin(self) -> None:
        """Text came right behind a line break."""
        self._is_on = True

    def holds(self, time: float) -> bool:
        """Does a key at this time go on with the burst? Asked once for each key."""
        self._is_on = self._is_on and time - self._last < _GOING_ON
        self._last = time
        return self._is_on


class BrokenReport:
    """Recognises a mouse report that was cut in two on its way and is now arriving as text.

    Its beginning, `[<`, comes at a machine's pace; the rest may come later. A report that was cut off for good is
    known by a `^`, which stands for the escape character when another sequence follows at once.
    """

    def __init__(self) -> None:
        self._seen = ""
        self._in_draft = 0
        self._began = 0.0
        self._last = 0.0

    def feed(self, character: str, time: float) -> int:
        """How many characters before the cursor, this one included, are pieces of a report."""
        if self._fits(self._seen + character, time):
            self._seen += character
            self._in_draft += 1
        else:
            self._seen = character if character in "^[" else ""
            self._in_draft, self._began = len(self._seen), time
        self._last = time
        return self._pieces()

    def _fits(self, seen: str, time: float) -> bool:
        """Can these be the first characters of a report?"""
        if seen in _BEGINNINGS:
            return time - self._last <= _MACHINE
        is_in_time = time - self._began <= _REPORT_TIME
        return is_in_time and bool(_UNFINISHED.fullmatch(seen) or _WHOLE.fullmatch(seen))

    def _pieces(self) -> int:
        is_whole = bool(_WHOLE.fullmatch(self._seen))
        if not is_whole and not _CUT_OFF.fullmatch(self._seen):
            return 0
        pieces, self._in_draft = self._in_draft, 0
        if is_whole:
            self._seen = ""
        return pieces
