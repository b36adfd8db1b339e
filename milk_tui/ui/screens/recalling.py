"""Earlier prompts of the session, on Up and Down at the prompt's edges; what was being written comes back."""

from typing import Literal

from milk_tui.core.session import Session
from milk_tui.ui.widgets.pasted import Draft
from milk_tui.ui.widgets.prompt import Prompt


class Recalling:
    """A walk through earlier prompts, newest first."""

    def __init__(self, prompt: Prompt, session: Session) -> None:
        self._prompt = prompt
        self._session = session
        self._back = 0
        """How many turns back the prompt shown is; 0 is what the user was writing."""
        self._shown = ""
        self._draft: Draft | None = None

    def step(self, direction: Literal[-1, 1]) -> None:
        """Go one prompt back or forth."""
        if self._back == 0 or self._prompt.full_text != self._shown:
            self._back, self._draft = 0, self._prompt.draft
        target = self._back - direction
        if target < 0 or target > len(self._session.turns):
            return
        self._back = target
        if target == 0 and self._draft is not None:
            self._prompt.restore(self._draft)
        else:
            self._prompt.clear()
            self._prompt.write(self._session.turns[-target].prompt)
        self._shown = self._prompt.full_text
