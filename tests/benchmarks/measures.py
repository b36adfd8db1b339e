"""What is measured for the table of `python -m tests.benchmarks`, and what each figure is held to."""

import itertools
import json
import random
import statistics
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from milk_tui.core.session import Session, SessionState
from milk_tui.storage.session_store import SessionStore
from tests.benchmarks.played import turns_of
from tests.benchmarks.program import Program, interleaved

LETTERS = [chr(code) for code in (*range(0x430, 0x450), *range(0x3B1, 0x3C2))]
"""Letters that are nowhere else on the screen."""
HOME, ENTER, ERASE = b"\x1b[H", b"\r", b"\x15"
PASTE = 1_000_000


@dataclass(frozen=True)
class Row:
    """One figure beside what it is compared with."""

    what: str
    ours: float
    reference: float
    limit: float
    unit: str = "ms"
    is_absolute: bool = False
    """The limit is one of the figure itself, and the reference is only shown."""

    @property
    def ratio(self) -> float:
        """Ours by the reference's."""
        return self.ours / self.reference if self.reference else 0.0

    @property
    def holds(self) -> bool:
        """Whether the target is met."""
        return (self.ours if self.is_absolute else self.ratio) <= self.limit

    def __str__(self) -> str:
        limit = f"{self.limit:g} {self.unit}" if self.is_absolute else f"{self.limit:g}×"
        reference = f"{self.reference:.1f} {self.unit}" if self.reference else "–"
        ratio = f"{self.ratio:.2f}×" if self.reference else "–"
        mark = "" if self.holds else "missed"
        return f"{self.what:58}{f'{self.ours:.1f} {self.unit}':>12}{reference:>12}{ratio:>8}{limit:>9} {mark}"


class Measures:
    """Each section as rows, measured when they are asked for."""

    def __init__(self, folder: Path, *, quick: bool) -> None:
        self._folder = folder
        self._rounds = 5 if quick else 15
        self._presses = 60 if quick else 240
        self._files = itertools.count()

    # Programs

    def _played(self, program: str, **options: int) -> Program:
        self._notes = self._folder / f"notes-{next(self._files)}.json"
        words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
        command = [sys.executable, "-m", "tests.benchmarks.played", program, *words]
        return Program([*command, "--notes", str(self._notes)])

    def _idle(self, turns: int = 0) -> Program:
        """Ours, drawn and at rest."""
        program = self._played("ours", turns=turns)
        program.until(b"Hand over")
        program.quiet(1.0)
        return program

    def _noted(self) -> dict[str, list[float]]:
        found: dict[str, list[float]] = json.loads(self._notes.read_text())
        return found

    # Start

    def start(self) -> Iterator[Row]:
        """The first frame, and a long session's."""
        home, long = self._folder / "home", self._folder / "long"
        session = _stored(long, 5_000)
        program = str(Path(sys.executable).with_name("milk-tui"))
        minimal = [sys.executable, "-m", "tests.benchmarks.minimal"]
        for command in (minimal, [program]):  # so that both are compiled
            _first(command, home)
        taken = interleaved(
            self._rounds,
            minimal=lambda: _first(minimal, home),
            ours=lambda: _first([program], home),
            empty=lambda: _first([program], home, b"ready"),
            long=lambda: _first([program, "--session", session], long, b"End of 5000."),
        )
        least = {name: statistics.median(times) * 1_000 for name, times in taken.items()}
        yield Row("first frame / a minimal app's", least["ours"], least["minimal"], 1.25)
        yield Row("10,000 messages shown / an empty session shown", least["long"], least["empty"], 1.5)

    # Keys

    def keys(self) -> Iterator[Row]:
        """Echo while a reply streams, beside the same app at rest."""
        with self._idle() as program:
            still = self._pressed(program)
        for what, options in (
            ("1,000 tokens", {"before": 0}),
            ("100,000 tokens", {"before": 100_000}),
            ("10,000 messages before", {"turns": 5_000}),
        ):
            with self._played("ours", tokens=2_000 * 60, **options) as program:
                program.until(b"Hand over")
                program.quiet(1.0)
                program.write(b"go" + ENTER)
                program.drain(8.0 if options.get("before") else 1.0)
                pressed = self._pressed(program)
            yield Row(f"key, streaming, {what}: median / at rest", _at(pressed, 50), _at(still, 50), 1.5)
            yield Row(f"key, streaming, {what}: p99 / at rest", _at(pressed, 99), _at(still, 99), 4.0)

    def _pressed(self, program: Program) -> list[float]:
        times = []
        for number in range(self._presses):
            letter = LETTERS[number % len(LETTERS)]
            times.append(program.echo(letter) * 1_000)
            program.drain(random.uniform(0.01, 0.04))
            if number % len(LETTERS) == len(LETTERS) - 1:
                program.write(ERASE)
                program.drain(0.2)
        return times

    # Streaming

    def stream(self) -> Iterator[Row]:
        """Processor time, and stalls of the loop."""
        ours = self._streamed("ours", 20_000, ENTER)
        long = self._streamed("ours", 10_000, ENTER, before=100_000)
        plain = self._streamed("markdown", 5_000, b"\x1b[15~")
        begin, end = _per_thousand(ours["cpu"][:6]), _per_thousand(long["cpu"])
        yield Row("CPU for 1,000 tokens: after 100,000 / at first", end, begin, 1.3)
        yield Row("CPU for 1,000 tokens / Markdown.get_stream", begin, _per_thousand(plain["cpu"]), 0.25)
        for what, noted in (("from the start", ours), ("after 100,000 tokens", long)):
            stall = max(noted["lags"]) * 1_000
            yield Row(f"longest stall of the loop, {what}", stall, 0.0, 50.0, is_absolute=True)

    def _streamed(self, name: str, tokens: int, key: bytes, before: int = 0) -> dict[str, list[float]]:
        with self._played(name, tokens=tokens, before=before) as program:
            program.until(b"Hand over" if name == "ours" else b"Stream")
            program.quiet(1.0)
            program.write((b"go" if name == "ours" else b"") + key)
            while not self._notes.exists():
                program.drain(0.2)
        return self._noted()

    # Size

    def size(self) -> Iterator[Row]:
        """Memory, rest and resizing."""
        with self._idle() as empty, self._idle(turns=5_000) as long:
            yield Row("memory of 10,000 messages", long.memory() - empty.memory(), 0.0, 30.0, "MB", True)
            before, woken = empty.cpu(), empty.wakeups()
            empty.drain(20.0)
            yield Row("processor at rest", (empty.cpu() - before) / 20 * 100, 0.0, 0.5, "%", True)
            yield Row("wake-ups at rest", (empty.wakeups() - woken) / 20, 0.0, 1.0, "/s", True)
            yield Row("resize of 10,000 messages", _resized(long), _resized(empty), 100.0, is_absolute=True)

    # Paste

    def paste(self) -> Iterator[Row]:
        """The key after a paste of 1 MB."""
        for what, text in (
            ("one line", "word " * (PASTE // 5)),
            ("lines", "some text here, a line\n" * (PASTE // 23)),
        ):
            with self._idle() as program:
                program.write(b"\x1b[200~" + text.encode() + b"\x1b[201~")
                taken = program.echo("ж") * 1_000
            yield Row(f"the key after 1 MB in {what}", taken, 0.0, 100.0, is_absolute=True)


def _first(command: list[str], home: Path, wanted: bytes = b"\xe2\x95\xad") -> float:
    """Seconds until this is drawn."""
    if "tests.benchmarks.minimal" in command:
        wanted = b"Hello"
    with Program(command, MILK_HOME=str(home)) as program:
        return program.until(wanted) - program.started


def _resized(program: Program) -> float:
    """Milliseconds until the last row is drawn at the new size; the median of a few."""
    times = []
    for size in ((100, 35), (140, 45), (90, 30), (120, 40), (110, 38)):
        program.quiet()
        program.resize(*size)
        began = program.write(b"")
        times.append((program.until(b"Hand over") - began) * 1_000)
    return statistics.median(times)


def _at(times: list[float], percent: int) -> float:
    return statistics.quantiles(times, n=100, method="inclusive")[percent - 1]


def _per_thousand(cpu: list[float]) -> float:
    """Milliseconds for a thousand tokens: the median of the thousands."""
    return statistics.median(after - before for before, after in itertools.pairwise(cpu)) * 1_000


def _stored(home: Path, count: int) -> str:
    """Store a session of so many turns; its id."""
    state = SessionState(id="5" * 32, cwd="/", nonce="n" * 8, created_at=datetime(2026, 1, 5, tzinfo=UTC))
    with closing(SessionStore(home)) as store:
        store.save(Session(state, turns_of(count)))
    return state.id
