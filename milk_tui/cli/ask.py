"""`milk-tui ask`: one turn without a screen."""

import asyncio
import contextlib
import os
import sys

from milk_tui.cli.assembly import Joined, with_conversation
from milk_tui.cli.wish import Wish
from milk_tui.conversation.update import Update
from milk_tui.core.events import (
    AgentFailed,
    EscalationRequested,
    Noticed,
    RetryScheduled,
    Silent,
    StepVoided,
    TextDelta,
    TurnStarted,
)


def run_ask(wish: Wish, prompt: str, *, escalate: bool, as_json: bool) -> int:
    """Ask and print; the exit status tells whether the last turn finished."""

    async def use(parts: Joined) -> int:
        for notice in parts.bench.notices:
            print(f"milk-tui: {notice}", file=sys.stderr)
        return await _asked(parts, prompt, escalate, _Lines() if as_json else _Answer())

    try:
        return asyncio.run(with_conversation(wish, use))
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever read the answer has gone; what was answered is kept in the session.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


async def _asked(parts: Joined, prompt: str, escalate: bool, out: "_Answer | _Lines") -> int:
    talk = parts.conversation
    updates = talk.escalate(prompt) if escalate else talk.send(prompt)
    async with contextlib.aclosing(updates):
        async for update in updates:
            out.show(update)
    out.end()
    return 0 if talk.session.turns and talk.session.turns[-1].status == "finished" else 1


class _Lines:
    """Every event as a line of JSON."""

    def show(self, update: Update) -> None:
        print(update.event.model_dump_json(), flush=True)

    def end(self) -> None:
        """Nothing is left to print."""


class _Answer:
    """The answer on stdout as it comes, everything else on stderr."""

    def __init__(self) -> None:
        self._last = "\n"

    def show(self, update: Update) -> None:
        match update.event:
            case TextDelta(text=text):
                self._print(text)
            case TurnStarted():
                self._break()
            case StepVoided():
                self._break()
                self._say("The agent starts its answer again.")
            case AgentFailed(failure=failure):
                self._say(str(failure))
            case Noticed(text=text):
                self._say(text)
            case EscalationRequested(reason=reason):
                self._say(f"The local agent asks for Claude: {reason} (use --escalate)")
            case RetryScheduled() as retry:
                self._say(f"{retry.reason}; attempt {retry.attempt} of {retry.of} in {retry.delay:.0f} s")
            case Silent(seconds=seconds):
                self._say(f"Nothing for {seconds:.0f} s; Ctrl+C stops.")
            case _:
                pass

    def end(self) -> None:
        self._break()

    def _print(self, text: str) -> None:
        print(text, end="", flush=True)
        self._last = text[-1]

    def _break(self) -> None:
        if self._last != "\n":
            self._print("\n")

    def _say(self, text: str) -> None:
        print(f"milk-tui: {text}", file=sys.stderr, flush=True)
