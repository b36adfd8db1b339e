"""First or resume: whether the next hand-off goes on with Claude's session, and why.

A session goes on as long as it is about the same need and not too far behind; the user may always say otherwise. This
module decides from a few facts and knows no session.
"""

from dataclasses import dataclass

from milk_tui.core.messages import Situation, Value
from milk_tui.core.need import is_another

FRESH_AFTER = 8
"""The default of `returning_fresh_start_local_turns`: local turns after which Claude starts fresh."""


class Route(Value):
    """How the next hand-off reaches Claude."""

    is_fresh: bool
    """A session of Claude's begins; it knows nothing but what is handed over."""
    words: str
    """The same for the user, with the reason."""
    has_choice: bool = True
    """There is a session of Claude's, so that the user may choose."""

    def situation(self, reason: str = "") -> Situation:
        """The row of the hand-off table; the reason is the local agent's, if it asks."""
        if not self.is_fresh:
            return "resume"
        return "agent" if reason else "first"


@dataclass(frozen=True)
class Known:
    """What the choice depends on."""

    has_session: bool
    """Whether there is a session of Claude's to resume."""
    was_told: bool
    """Whether a hand-off to that session has succeeded."""
    behind: int
    """Local turns that it does not know."""
    need: str
    """What is stated as the need now; empty for a guess."""
    need_told: str
    """What that session knows as the need."""


def route(known: Known, fresh_after: int = FRESH_AFTER, fresh: bool | None = None) -> Route:
    """Choose, unless the user has.

    Args:
        known: The facts.
        fresh_after: Local turns behind at which a fresh start is made; 0 never makes one for that reason.
        fresh: What the user wants; `None` if nothing was said.
    """
    if not known.has_session:
        return Route(is_fresh=True, words="starts a Claude session", has_choice=False)
    if fresh is not None:
        return _fresh("as you wish") if fresh else _resumed(known)
    if not known.was_told:
        return _resumed(known)
    if known.need and known.need_told and is_another(known.need_told, known.need):
        return _fresh("the need changed")
    if 0 < fresh_after <= known.behind:
        return _fresh(_turns(known.behind))
    return _resumed(known)


def _fresh(why: str) -> Route:
    return Route(is_fresh=True, words=f"starts fresh: {why}")


def _resumed(known: Known) -> Route:
    if not known.was_told:
        return Route(is_fresh=False, words="resumes Claude's session, told nothing yet")
    behind = f", {_turns(known.behind)}" if known.behind else ""
    return Route(is_fresh=False, words=f"resumes Claude's session{behind}")


def _turns(count: int) -> str:
    return f"{count:,} local {'turn' if count == 1 else 'turns'} behind"
