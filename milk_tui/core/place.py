"""Where a line of a brick comes from, as a key that stays the same however often the brick is rebuilt.

A key is the turn and the message, and what in the message if it is not its text: `12.3`, `12.3:1`. It knows no text.
"""

Place = tuple[int, int, int]
"""Turn, message, and what in the message. Places sort as things happened."""

TEXT = 0
FIRST_CALL = 1
ENDING = 1_000_000
"""How a turn ended stands behind all that was said in it."""


def key_of(place: Place) -> str:
    """The key of a place."""
    turn, message, part = place
    return f"{turn}.{message}:{part}" if part else f"{turn}.{message}"


def place_of(key: str) -> Place:
    """The place of a key; one before all others for what is no such key."""
    turn, _, rest = key.partition(".")
    message, _, part = rest.partition(":")
    numbers = (turn, message, part or "0")
    if not all(number.isascii() and number.isdecimal() for number in numbers):
        return (0, 0, 0)
    return int(turn), int(message), int(part or "0")
