"""Writing never needs a click first: what is typed where it means nothing goes on in the prompt."""

from textual import events
from textual.screen import Screen

from milk_tui.ui.widgets.prompt import Prompt
from milk_tui.ui.widgets.transcript import Transcript


class TypingOn(Screen[None]):
    """A screen with a transcript and a prompt."""

    def on_key(self, event: events.Key) -> None:
        """Put a character that the transcript has no use for into the prompt, and the focus with it."""
        if not isinstance(self.focused, Transcript) or not event.is_printable or not event.character:
            return
        if event.key in self.active_bindings:
            return
        event.stop()
        prompt = self.query_one(Prompt)
        prompt.focus()
        prompt.insert(event.character)
