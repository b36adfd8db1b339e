"""A command of the user's own: a prompt that begins with `!`. It is run here, and no model is asked."""

MARK = "!"
CALL_ID = "own-"
"""How the id of its one call begins: by that its turn is known for what it is."""


def own_command(prompt: str) -> str:
    """The command that a prompt is; empty if it is none."""
    return prompt[len(MARK) :].strip() if prompt.startswith(MARK) else ""
