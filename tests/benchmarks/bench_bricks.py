"""What it costs to rebuild the bricks at the end of a turn, for sessions of very different lengths.

Run it with `python -m tests.benchmarks.bench_bricks`. It prints a table and asserts nothing.
"""

import time
from collections.abc import Callable

from milk_tui.core import events as ev
from milk_tui.core.messages import Turn
from milk_tui.core.session import Session
from tests.core.building import NOW, claude_turn, session, turn, use

LENGTHS = (100, 10_000, 100_000)
RUNS = 7

KINDS: dict[str, Callable[[int], Turn]] = {
    "answers": lambda n: turn(n, "question " * 20, "answer " * 20),
    "many small turns": lambda n: turn(n, "go on", "ok"),
    "calls that fold": lambda n: turn(n, "go on", use("read", {"path": "a.py"}, "contents " * 50)),
    "one stay of Claude": lambda n: claude_turn(n, "question " * 20, "answer " * 20),
    "failed hand-offs": lambda n: claude_turn(n, "question " * 20, status="failed"),
    "80 calls a turn": lambda n: turn(
        n, "go", *(use(name, {"p": "a"}, "x" * 900) for _ in range(40) for name in ("read", "bash")), "Done."
    ),
}


def end_a_turn(made: Session) -> None:
    made.apply(ev.TurnStarted(agent="local", prompt="next", at=NOW))
    made.apply(ev.TextDelta(text="answer"))
    made.apply(ev.AgentFinished())
    made.apply(ev.TurnEnded(at=NOW))


def best(work: Callable[[], object]) -> float:
    """Milliseconds of the fastest run."""
    times = []
    for _ in range(RUNS):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times) * 1_000


def row(name: str, make: Callable[[int], Turn], length: int) -> tuple[str, ...]:
    made = session(*[make(1)] * length)
    end, hand_off = best(lambda: end_a_turn(made)), best(made.handoff)
    brick = made.local_summary
    counts = (length, brick.chars, brick.held, brick.dropped)
    return name, f"{end:.2f}", f"{hand_off:.3f}", *(f"{count:,}" for count in counts)


def main() -> None:
    heading = ("turns are", "end of turn, ms", "hand-off, ms", "turns", "summary", "held", "dropped")
    rows = [row(name, make, length) for name, make in KINDS.items() for length in LENGTHS]
    for first, *others in (heading, *rows):
        print(f"{first:20}" + "".join(f"{other:>17}" for other in others))


if __name__ == "__main__":
    main()
