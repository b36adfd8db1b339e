"""The least that is an app: what the first frame is measured against."""

from textual.app import App, ComposeResult
from textual.widgets import Footer, Header, Static


class Minimal(App[None]):
    """Header, footer and a word."""

    def compose(self) -> ComposeResult:
        yield Header()
        yield Static("Hello")
        yield Footer()


if __name__ == "__main__":
    Minimal().run()
