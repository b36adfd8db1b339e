"""Masking on the preview: what looks like a secret is marked in the texts, and taken out of the prompt and put back."""

from textual.content import Content

from milk_tui.core.secrets import found, masked
from milk_tui.ui.widgets.pasted import Draft
from milk_tui.ui.widgets.prompt import Prompt

_MARK = "bold $text-warning on $warning-muted"


class Masking:
    """Masks one prompt, and keeps what was written until it is masked for good by being sent."""

    def __init__(self) -> None:
        self.count = 0
        """Things that were masked in the prompt."""
        self._before: Draft | None = None
        self._after = ""

    def mask(self, prompt: Prompt) -> None:
        """Show the prompt as it would leave."""
        text = prompt.full_text
        places = found(text)
        if not places:
            return
        self.count += len(places)
        # What was masked before and edited since cannot be put back piece by piece.
        self._before = prompt.draft
        self._after = masked(text)
        prompt.write(self._after)

    def unmask(self, prompt: Prompt) -> None:
        """Put back what was written, unless it was edited since."""
        if self._before is not None and prompt.full_text == self._after:
            prompt.restore(self._before)
        self._before, self._after, self.count = None, "", 0


def marked(text: str) -> Content:
    """A text with what looks like a secret set off."""
    content = Content(text)
    for place in found(text):
        content = content.stylize(_MARK, place.start, place.end)
    return content
