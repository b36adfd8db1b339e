"""What Claude Code adds to the end of a tool's result for Claude alone: a reminder that says nothing of the result.

The same words stand behind every file that was read, and would take half of the room that a result has in a summary.
"""

_BEGIN, _END = "<system-reminder>", "</system-reminder>"


def without_reminder(text: str) -> str:
    """A result without the reminder at its end; as it is when there is nothing else in it."""
    if not text.endswith(_END, 0, len(text.rstrip())):
        return text
    # Elsewhere it is what a file or a command says, and so it is in a line that has something before it.
    start = text.rfind(f"\n{_BEGIN}")
    return text[:start].rstrip() or text if start >= 0 else text
