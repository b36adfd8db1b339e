"""What the user does to the bricks, as events. `core.events` joins them to all the others."""

from datetime import datetime
from typing import Literal

from milk_tui.core.bricks import BrickLine, BrickName, PartName
from milk_tui.core.messages import Value
from milk_tui.core.shaping import Change
from milk_tui.core.versions import BrickVersion


class BrickShaped(Value):
    """The user drops, pins or edits lines of a brick, or takes that back."""

    type: Literal["brick_shaped"] = "brick_shaped"
    brick: BrickName
    lines: tuple[BrickLine, ...]
    """As they were seen."""
    change: Change
    text: str = ""
    """What an edited line says now; empty for what it said first."""
    at: datetime | None = None


class PartSwitched(Value):
    """The user takes a part out of the hand-off, or puts it in again."""

    type: Literal["part_switched"] = "part_switched"
    part: PartName
    is_on: bool
    at: datetime | None = None


class BrickFrozen(Value):
    """A brick stays as it is, whatever happens, or is rebuilt again."""

    type: Literal["brick_frozen"] = "brick_frozen"
    brick: BrickName
    is_frozen: bool
    at: datetime | None = None


class BrickRestored(Value):
    """A brick becomes what it was in one of its versions, and stays so."""

    type: Literal["brick_restored"] = "brick_restored"
    version: BrickVersion
    at: datetime | None = None


class ShapingUndone(Value):
    """The user takes back what was shaped last."""

    type: Literal["shaping_undone"] = "shaping_undone"
    at: datetime | None = None


ShapingEvent = BrickShaped | PartSwitched | BrickFrozen | BrickRestored | ShapingUndone
