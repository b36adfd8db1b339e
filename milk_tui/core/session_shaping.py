"""What a session says to the user's shaping: what becomes of it, what is refused, and what the bricks leave out.

Nothing here changes anything; `core.session` does.
"""

from typing import assert_never

from milk_tui.core.bricks import Brick, BrickLine, BrickName
from milk_tui.core.facts import FACTS_ROOM
from milk_tui.core.ledger import LedgerItem, dropped, facts_left_out, left_out
from milk_tui.core.place import place_of
from milk_tui.core.session_reading import SessionReading
from milk_tui.core.shaping import SHAPES_MOST, Shaping, pinned, pins_room
from milk_tui.core.shaping_events import (
    BrickFrozen,
    BrickRestored,
    BrickShaped,
    PartSwitched,
    ShapingEvent,
    ShapingUndone,
)

UNDO_MOST = 50
"""Steps that can be taken back."""

_DONE = {
    "drop": "you dropped a line",
    "keep": "you took a line back in",
    "pin": "you pinned a line",
    "unpin": "you unpinned a line",
    "edit": "you edited a line",
}


class SessionShaping(SessionReading):
    """The bricks as the user shapes them."""

    _undo: tuple[Shaping, ...] = ()
    """What the shaping was before each of the last changes since the last hand-off."""

    @property
    def can_undo(self) -> bool:
        """Whether there is a change that can be taken back."""
        return bool(self._undo)

    def brick(self, name: BrickName) -> Brick:
        """A brick as the next hand-off would carry it."""
        match name:
            case "current_need":
                return self.need
            case "local_summary":
                return self.summary_for(self.situation)
            case "claude_summary":
                return self.claude_summary
            case "percepts":
                return self.facts(self.situation)
            case "escalation_brief":
                return Brick(name=name, text=self.state.brief)
            case _:
                assert_never(name)

    def refusal(self, event: BrickShaped) -> str:
        """Why lines cannot be shaped so, in a sentence; empty if they can."""
        shaping = self.state.shaping
        after = self._shaped(event)
        if len(after.lines) > max(SHAPES_MOST, len(shaping.lines)):
            return (
                f"{SHAPES_MOST} lines are shaped already: take some of it back, or switch the whole part off."
            )
        taken, limit = pinned(after, event.brick), pins_room(self._room(event.brick))
        if taken > limit and taken > pinned(shaping, event.brick):
            left = max(limit - pinned(shaping, event.brick), 0)
            needs = taken - pinned(shaping, event.brick)
            return (
                f"That takes {needs:,} characters, and pinned lines of this brick may take {left:,} more "
                f"({limit:,} in all). Unpin another line, or shorten this one."
            )
        return ""

    def ledger(self) -> list[LedgerItem]:
        """What the next hand-off does not carry: dropped by the user, then what did not fit, newest first."""
        situation, shaping, tally = self.situation, self.state.shaping, self.tally
        local, claude, known = self.summary_for(situation), self.claude_summary, self.facts(situation)
        turns = tally.local_turns_since() if situation == "resume" else tally.local_turns()
        stay = () if situation == "resume" else reversed(tally.worked_stay)
        return [
            *dropped(shaping, (local, claude)),
            *left_out(local, turns, shaping),
            *left_out(claude, stay, shaping),
            *facts_left_out(known, self.new_percepts(situation), shaping),
        ]

    def _after(self, event: ShapingEvent) -> Shaping:
        """The shaping after an event."""
        before = self.state.shaping
        match event:
            case BrickShaped():
                return self._shaped(event)
            case PartSwitched():
                return before.switched(event.part, event.is_on)
            case BrickFrozen():
                return self._frozen(event)
            case BrickRestored():
                version = event.version
                brick = Brick(
                    name=version.brick,
                    text=version.text,
                    budget=self.brick(version.brick).budget,
                    lines=version.lines,
                    frozen_at=version.turn,
                )
                return before.frozen(brick)
            case ShapingUndone():
                return self._undo[-1].until(self.last_kept) if self._undo else before
            case _:
                assert_never(event)

    def _frozen(self, event: BrickFrozen) -> Shaping:
        if not event.is_frozen:
            return self.state.shaping.thawed(event.brick)
        frozen = self.brick(event.brick).model_copy(update={"frozen_at": self._last_number})
        return self.state.shaping.frozen(frozen)

    def _shaped(self, event: BrickShaped) -> Shaping:
        shaping = self.state.shaping
        for line in event.lines:
            told = self._told(event.brick, line)
            shaping = shaping.changed(event.brick, line, event.change, event.text, told)
        return shaping

    def _told(self, brick: BrickName, line: BrickLine) -> int:
        """The turn of Claude's that was told of a line when it was new; 0 while it is new."""
        if brick == "percepts":
            known, turn = self.tally.known_facts, place_of(line.sources[0])[0] if line.sources else 0
        else:
            known, turn = self.tally.known, place_of(line.key)[0]
        return known if turn <= known else 0

    def _room(self, name: BrickName) -> int:
        return FACTS_ROOM if name == "percepts" else self._summaries.room


def words_of(event: ShapingEvent) -> str:
    """What the user did, for the list of versions."""
    match event:
        case BrickShaped():
            return _DONE[event.change]
        case PartSwitched():
            return "you switched a part on" if event.is_on else "you switched a part off"
        case BrickFrozen():
            return "you froze it" if event.is_frozen else "you thawed it"
        case BrickRestored():
            return f"you restored how it was at turn {event.version.turn}"
        case ShapingUndone():
            return "you took the last change back"
        case _:
            assert_never(event)
