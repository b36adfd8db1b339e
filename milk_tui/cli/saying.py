"""What is said on standard error: one way to say it, so that standard output keeps only what was asked for."""

import sys

from milk_tui.core.text import sanitize


def say(text: str) -> None:
    """Tell the user something beside the output. It may quote a file or a server and is made safe to show."""
    print(f"milk-tui: {sanitize(text)}", file=sys.stderr, flush=True)
