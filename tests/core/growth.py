"""How cost grows with size, measured so that a busy machine cannot make a good program look bad.

Noise only ever adds time. So the least of several runs counts, in processor time, and a measurement that is over its
bound is made again before it is believed.
"""

import gc
from collections.abc import Callable
from time import thread_time

_TRIES = 6


def grows_within(
    factor: float, small: Callable[[], object], large: Callable[[], object], spare: float = 0.05
) -> bool:
    """Whether the large work takes at most `factor` times the small one, and `spare` seconds on top."""
    base = cost = float("inf")
    for _ in range(_TRIES):
        base, cost = min(base, _seconds(small)), min(cost, _seconds(large))
        if cost <= factor * base + spare:
            return True
    return False


def takes_at_most(seconds: float, work: Callable[[], object]) -> bool:
    """Whether a piece of work can be done in so many seconds of processor time."""
    return any(_seconds(work) <= seconds for _ in range(_TRIES))


def _seconds(work: Callable[[], object]) -> float:
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        began = thread_time()
        work()
        return thread_time() - began
    finally:
        if was_enabled:
            gc.enable()
