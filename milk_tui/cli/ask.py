"""`milk-tui ask`: one turn without a screen.

Without `--escalate` the text goes to the local agent and nowhere else, whoever had the floor before; with it, to
Claude Code. Nothing that was said or set earlier decides about that.
"""

import asyncio
import signal
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress

from milk_tui.cli.answer import AnswerText
from milk_tui.cli.assembly import Joined, with_conversation
from milk_tui.cli.saying import say
from milk_tui.cli.wish import Wish
from milk_tui.conversation.controller import Conversation
from milk_tui.conversation.update import Update
from milk_tui.core.events import (
    AgentFailed,
    EscalationRequested,
    Noticed,
    RetryScheduled,
    Silent,
    StepStarted,
    StepVoided,
    TextDelta,
    TurnStarted,
)


def run_ask(wish: Wish, prompt: str, *, escalate: bool, as_json: bool) -> int:
    """Ask and print. The exit status is 0 if the last turn finished and the session is kept."""

    async def use(parts: Joined) -> int:
        _end_in_good_order_on_sigterm()
        for notice in parts.bench.notices:
            say(notice)
        return await _asked(parts, prompt, escalate, _Lines() if as_json else _Answer())

    try:
        return asyncio.run(with_conversation(wish, use))
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except asyncio.CancelledError:
        return 128 + signal.SIGTERM


def _end_in_good_order_on_sigterm() -> None:
    """What `timeout` sends is treated as Ctrl+C is: the answer so far is kept, and no child is left running."""
    task = asyncio.current_task()
    if task is not None:
        with suppress(NotImplementedError):  # Windows has no such signal
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)


async def _asked(parts: Joined, prompt: str, escalate: bool, out: "_Answer | _Lines") -> int:
    talk = parts.conversation
    if talk.escalation == "auto":
        talk.escalation = "ask"
    try:
        async with aclosing(talk.escalate(prompt) if escalate else _local(talk, prompt)) as updates:
            async for update in updates:
                out.show(update)
    finally:
        out.end()
    is_finished = bool(talk.session.turns) and talk.session.turns[-1].status == "finished"
    return 0 if is_finished and parts.opened.keeper.is_up_to_date else 1


async def _local(talk: Conversation, prompt: str) -> AsyncGenerator[Update, None]:
    """A turn of the local agent; the floor is given back to it first."""
    if talk.floor == "claude":
        yield await talk.return_to_local()
    async with aclosing(talk.send(prompt)) as updates:
        async for update in updates:
            yield update


class _Lines:
    """Every event as a line of JSON."""

    def show(self, update: Update) -> None:
        print(update.event.model_dump_json(), flush=True)

    def end(self) -> None:
        """Nothing is left to print."""


class _Answer:
    """The answer on stdout as it comes, everything else on stderr."""

    def __init__(self) -> None:
        self._text = AnswerText()

    def show(self, update: Update) -> None:
        match update.event:
            case TextDelta(text=text):
                self._text.text(text)
            case TurnStarted() | StepStarted():
                self._text.part()
            case StepVoided():
                self._text.part()
                say("The agent starts its answer again.")
            case AgentFailed(failure=failure):
                self.end()
                say(str(failure))
            case Noticed(text=text):
                say(text)
            case EscalationRequested(reason=reason):
                say(f'The local agent asks for Claude: {reason} `milk-tui ask -c --escalate "…"` hands over.')
            case RetryScheduled() as retry:
                say(f"{retry.reason}; attempt {retry.attempt} of {retry.of} in {retry.delay:.0f} s")
            case Silent(seconds=seconds):
                say(f"Nothing for {seconds:.0f} s; Ctrl+C stops.")
            case _:
                pass

    def end(self) -> None:
        """End the answer."""
        self._text.end()
