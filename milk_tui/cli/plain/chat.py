"""The chat as a loop of lines over the same conversation that the screen shows."""

import asyncio
import signal
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, suppress
from time import monotonic

from milk_tui.cli.assembly import Joined, with_conversation
from milk_tui.cli.plain.asking import ask
from milk_tui.cli.plain.lines import Lines
from milk_tui.cli.plain.telling import WHO, Telling, tell
from milk_tui.cli.wish import Wish
from milk_tui.conversation.commands import parsed
from milk_tui.conversation.update import Update
from milk_tui.core.errors import MilkError
from milk_tui.core.permission import Answer, Question

_QUIT_WITHIN = 2.0
"""Seconds in which a second Ctrl+C quits."""

HELP = """\
Write a line and press Enter. A line that ends with a backslash goes on in the next one.
/escalate text: read what would be handed over to Claude Code, then say whether it is sent.
/local text: give the floor back to the local agent.
/need text: say what you are trying to get done; without a text, hear what is known.
/bricks: hear the bricks.
/usage: hear what was spent in this session.
/quit, or Ctrl+D: leave; the session is kept. Ctrl+C stops a turn.
Everything else needs the screen: start without --plain."""


def run_plain(wish: Wish) -> int:
    """Chat until the input ends. The exit status is 0 unless the session could not be kept."""

    async def use(parts: Joined) -> int:
        chat = PlainChat(parts)
        await chat.run()
        return 0 if parts.opened.keeper.is_up_to_date or not parts.conversation.session.turns else 1

    return asyncio.run(with_conversation(wish, use))


class PlainChat:
    """One session, line by line."""

    def __init__(self, parts: Joined) -> None:
        self._parts = parts
        self._talk = parts.conversation
        self._lines = Lines()
        self._telling = Telling()
        self._interrupted_at = -_QUIT_WITHIN
        self._task = asyncio.current_task()
        self._deeds: dict[str, Callable[[str], Awaitable[None]]] = {
            "escalate": self._escalate,
            "return_to_local": self._to_local,
            "set_need": self._need,
            "toggle_bricks": self._bricks,
            "usage": self._usage,
            "help": self._help,
        }
        parts.bench.desk.answerer = self._ask
        loop = asyncio.get_running_loop()
        with suppress(NotImplementedError):  # Windows has no such handlers
            loop.add_signal_handler(signal.SIGINT, self._interrupt)
            loop.add_signal_handler(signal.SIGTERM, self._leave)

    async def run(self) -> None:
        """Read and answer until there is nothing more to read."""
        tell(f"milk-tui, {self._talk.session.title}. /help says what can be written.")
        for notice in self._parts.bench.notices:
            tell(notice)
        with suppress(asyncio.CancelledError):
            while (text := await self._written()) is not None:
                if not await self._do(text):
                    break
        self._lines.close()

    async def _written(self) -> str | None:
        """What the user writes, of as many lines as it takes."""
        text = await self._lines.ask(f"\nTo {WHO[self._talk.floor]}:")
        while text is not None and text.endswith("\\"):
            more = await self._lines.ask("more:")
            text = f"{text[:-1]}\n{more or ''}"
        return text

    async def _do(self, text: str) -> bool:
        """Answer one text; tells whether to go on."""
        command = parsed(text)
        if command is None:
            if text.strip():
                await self._follow(self._talk.send(text))
            return True
        name, argument = command[0].action, command[1]
        if name == "quit":
            return False
        deed = self._deeds.get(name)
        if deed is None:
            tell(
                f"{command[0].name} needs the screen: start without --plain. /help says what can be written here."
            )
        else:
            await deed(argument)
        return True

    async def _follow(self, updates: AsyncGenerator[Update, None]) -> None:
        """Tell a turn as it happens."""
        try:
            async with aclosing(updates):
                async for update in updates:
                    self._telling.show(update.event)
        except MilkError as error:
            tell(str(error))

    async def _ask(self, question: Question) -> Answer:
        return await ask(self._lines, question)

    async def _escalate(self, text: str) -> None:
        reason = self._talk.session.state.brief
        forecast = self._talk.forecast(text, reason)
        for part in forecast.handoff.parts:
            tell(
                f"{part.name.replace('_', ' ')}, {part.chars:,} of {part.budget:,} characters:\n{part.text}\n"
            )
        if not forecast.prompt:
            tell("There is nothing to hand over yet: write /escalate and what Claude should do.")
            return
        tell(f"Prompt: {forecast.prompt}\nThis leaves the machine: about {forecast.tokens:,} tokens.")
        answer = await self._lines.ask("Type yes to send it:")
        if answer is not None and answer.strip().lower() == "yes":
            await self._follow(self._talk.escalate(forecast.prompt, reason))
        else:
            tell("Nothing was sent.")

    async def _to_local(self, text: str) -> None:
        if self._talk.floor == "claude":
            self._telling.show((await self._talk.return_to_local()).event)
        if text:
            await self._follow(self._talk.send(text))

    async def _need(self, text: str) -> None:
        if text:
            self._talk.edit_need(text)
        tell(f"Need: {self._talk.session.need.text or 'nobody has said yet'}")

    async def _bricks(self, _text: str) -> None:
        bricks = self._talk.bricks()
        tell(f"Need: {bricks.need.text or 'nobody has said yet'}")
        tell(f"Local summary: {bricks.local_summary.text or 'nothing that Claude does not know'}")
        tell(f"Claude summary: {bricks.claude_summary.text or 'nothing'}")
        tell(f"A hand-off would have {bricks.gauge.chars:,} of {bricks.gauge.limit:,} characters.")

    async def _usage(self, _text: str) -> None:
        for role, usage in self._talk.session.tally.usage.items():
            cost = "" if usage.cost_usd is None else f", ${usage.cost_usd:.4f}"
            tell(f"{WHO[role]}: {usage.input_tokens:,} tokens read, {usage.output_tokens:,} written{cost}.")

    async def _help(self, _text: str) -> None:
        tell(HELP)

    def _interrupt(self) -> None:
        """Ctrl+C stops a turn; twice while nothing runs it quits."""
        if self._talk.is_busy:
            self._talk.stop()
        elif monotonic() - self._interrupted_at < _QUIT_WITHIN:
            self._leave()
        else:
            self._interrupted_at = monotonic()
            tell("\nPress Ctrl+C again to quit.")

    def _leave(self) -> None:
        if self._task is not None:
            self._task.cancel()
