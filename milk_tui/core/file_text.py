"""The text of a file at one moment, or why there is none to show."""

from typing import Literal

from milk_tui.core.messages import Value


class FileText(Value):
    """What was in a file."""

    kind: Literal["text", "absent", "large", "binary", "unreadable"]
    text: str = ""
    digest: str = ""
    """Tells one content from another, byte for byte."""
