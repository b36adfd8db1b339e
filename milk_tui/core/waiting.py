"""Whether an agent's answer ends with a question that the user is meant to answer.

The floor stays with Claude after every turn until the user takes it back; this only decides what is said about it.
"""

import re

_LOOKED_AT = 2_000
"""The end of an answer that is looked at."""
_CODE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"')\]*_`]*\s+|(?<=[。！？])|\n+")
_MARKS = " -*•>\"'()[]_`"

_INVITATIONS = re.compile(r"\blet me know\b|\bfeel free\b|\bhappy to\b|\bjust (?:ask|say)\b", re.IGNORECASE)
"""Sentences behind which a question may stand, and which are none."""
_COURTESIES = (
    r"(?:(?:is|was) there |(?:do|did) you (?:need|want|have) |can i help (?:you )?with )?any(?:thing|thing else|"
    r" other questions| questions| more questions)\b.{0,30}",
    r"(?:what|how) else can i (?:do|help).{0,30}",
    r"how (?:can|may) i help.{0,30}",
    r"(?:does|did) (?:that|this|it) (?:help|make sense|sound good|look good|work for you)",
    r"(?:sounds?|looks?) good|makes? sense|ok|okay|right",
    r"noch (?:etwas|fragen)|kann ich sonst noch .{0,30}|autre chose|¿?algo más",
)
_COURTESY = re.compile(rf"(?:{'|'.join(_COURTESIES)})\?", re.IGNORECASE)
"""Questions that close an answer and expect none."""


def asks_user(answer: str) -> bool:
    """Whether the last sentence is a question, and not one of those that only close an answer."""
    pieces = _SENTENCE_END.split(_CODE.sub("\n.\n", answer[-_LOOKED_AT:]))
    sentences = [piece.strip(_MARKS) for piece in pieces if piece.strip(_MARKS)]
    while sentences and _INVITATIONS.search(sentences[-1]):
        sentences.pop()
    last = sentences[-1] if sentences else ""
    return last.endswith(("?", "？", "؟")) and not _COURTESY.fullmatch(last)
