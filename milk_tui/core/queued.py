"""What waits while a turn runs: prompts and commands, in the order in which they will be given.

Pure changes of a queue's value; when something is given, and to whom, is not decided here.
"""

from milk_tui.core.messages import Value


class Queued(Value):
    """A prompt or a command that waits for its turn."""

    id: int
    """Counted up within the queue; tells it from the others wherever it is moved."""
    text: str


def put(queue: tuple[Queued, ...], text: str, place: int | None = None) -> tuple[Queued, ...]:
    """The queue with one more text: at its end, or at this place."""
    added = Queued(id=max((each.id for each in queue), default=0) + 1, text=text)
    place = len(queue) if place is None else place
    return (*queue[:place], added, *queue[place:])


def without(queue: tuple[Queued, ...], id: int) -> tuple[Queued, ...]:
    """The queue without one."""
    return tuple(each for each in queue if each.id != id)


def moved(queue: tuple[Queued, ...], id: int, place: int) -> tuple[Queued, ...]:
    """The queue with one of them at another place; the nearest there is."""
    found = next((each for each in queue if each.id == id), None)
    if found is None:
        return queue
    others = without(queue, id)
    place = max(0, min(place, len(others)))
    return (*others[:place], found, *others[place:])
