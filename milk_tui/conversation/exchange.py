"""The last exchange: one prompt and the turns that were made of it."""

from collections.abc import Sequence

from milk_tui.core.errors import MilkError
from milk_tui.core.messages import Turn
from milk_tui.core.session import Session


def last_exchange(session: Session) -> Sequence[Turn]:
    """Its turns, oldest first. Raises `MilkError` where there is none.

    They are two if the prompt was sent again, because Claude did not know its earlier session any more.
    """
    turns = session.turns
    if not turns:
        raise MilkError("There is nothing to take back yet.")
    before = turns[-2] if len(turns) > 1 else None
    is_again = (
        before is not None
        and before.failure is not None
        and before.failure.kind == "unknown_session"
        and before.prompt == turns[-1].prompt
    )
    return turns[-2:] if is_again else turns[-1:]
