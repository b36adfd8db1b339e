"""How much each thing may take, in characters (code points), and the one estimate of a text's size in tokens.

Money is not a budget here; it is cost, and measured.
"""

CONTEXT_BUDGET = 12_000
"""The default of `context_budget_chars`: the most that a summary may take in a hand-off."""

IDENTITY_BUDGET = 1_200
INSTRUCTIONS_BUDGET = 1_600
NEED_BUDGET = 700
BRIEF_BUDGET = 900
PERCEPTS_BUDGET = 2_048

FRAME = 160
"""Room that heading and fence of a part take at the most."""

NEED_LIMIT = 400
"""The need is one sentence; a tag's body has the same limit."""
BRIEF_LIMIT = 600
PERCEPT_LIMIT = 400

CHARS_PER_TOKEN = 4
"""A rule of thumb for English and code; wherever it is used, the figure is called estimated."""


def estimated_tokens(chars: int) -> int:
    """Tokens that a text of so many characters takes, estimated and rounded up."""
    return -(-chars // CHARS_PER_TOKEN)
