"""How much a model reads, and how much of it a request is thought to take.

Starts from an estimate and learns from what the server counts. Knows no message and sends nothing.
"""

from milk_tui.agents.server.facts import Server
from milk_tui.agents.server.refusals import WindowExceeded

CUT_SHARE = 0.7
"""A server that counts fewer than this share of what it has led us to expect has probably not read everything."""
FIRST_CUT_SHARE = 0.55
"""The same before it has counted anything: our estimate is on the high side, most of all for English prose."""
CUT_FLOOR = 2_000
"""Estimates below this many tokens are too rough to accuse anybody."""
BLIND_STEP = 1.5
"""How much more to expect of the same text after a refusal without numbers."""


class WindowGauge:
    """The window of one model, and the correction of our estimates for it. All sizes are tokens."""

    def __init__(self, server: Server, max_tokens: int) -> None:
        self.tokens = server.tokens
        self.is_known = server.has_known_window
        self._max_tokens = max_tokens
        self._scale = 1.0
        self._has_learnt = False

    @property
    def answer(self) -> int:
        """The room kept for the answer: never more than a quarter of the window."""
        return max(1, min(self._max_tokens, self.tokens // 4))

    @property
    def quarter(self) -> int:
        """A quarter of the window, as an estimate: the most that a tool's result may take."""
        return max(1, int(self.tokens / 4 / self._scale))

    def expected(self, estimate: int) -> int:
        """An estimate, corrected by what the server has counted so far."""
        return int(estimate * self._scale) + 1

    def is_too_large(self, estimate: int) -> bool:
        """A request of this size cannot fit, as far as the server's own word goes."""
        return self.is_known and self.expected(estimate) > self.tokens

    def seems_cut(self, estimate: int, counted: int) -> bool:
        """The server's count shows that it has not read all of a request of this size."""
        expected = self.expected(estimate)
        share = CUT_SHARE if self._has_learnt else FIRST_CUT_SHARE
        return expected > CUT_FLOOR and 0 < counted < share * expected

    def learn(self, estimate: int, counted: int) -> None:
        """Correct later estimates by the server's own count of the same request."""
        if estimate > 0 and counted > 0:
            self._scale = min(max(counted / estimate, 0.5), 4.0)
            self._has_learnt = True

    def learn_refusal(self, estimate: int, refusal: WindowExceeded) -> None:
        """Take the server's numbers, or expect more of everything where it gives none."""
        if refusal.window:
            self.tokens, self.is_known = refusal.window, True
        if refusal.prompt_tokens:
            self.learn(estimate, refusal.prompt_tokens)
        else:
            self._scale = min(self._scale * BLIND_STEP, 4.0)
