"""An agent that plays a written conversation: for tests, scenes, pictures and `--demo`.

It goes through the same door as any other agent, so what it shows is what the program does. `{nonce}` in its texts
becomes the session's nonce, which lets a script write tags.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass

from milk_tui.agents.base import TurnRequest
from milk_tui.core.events import (
    AgentEvent,
    AgentFailed,
    AgentFinished,
    AgentReady,
    StepStarted,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
)
from milk_tui.core.menu import answers_in_words
from milk_tui.core.messages import ToolCall, ToolResult
from milk_tui.core.permission import Permission, Question, deny


@dataclass(frozen=True)
class Pause:
    """The agent is quiet for so many seconds."""

    seconds: float


@dataclass(frozen=True)
class Say:
    """Text that streams word by word, with a pause between words."""

    text: str
    pause: float = 0.0


@dataclass(frozen=True)
class Use:
    """A tool call and its result; asked about first if `question` is given, and refused if the answer is no.

    The result of a call that is itself a question is what was chosen.
    """

    call: ToolCall
    result: str
    is_error: bool = False
    question: Question | None = None


Step = Say | Use | Pause | AgentEvent
Reply = Sequence[Step]
Sleep = Callable[[float], Awaitable[None]]


class ScriptedAgent:
    """Plays one reply a turn; after the last one it says the last one again."""

    def __init__(
        self,
        replies: Sequence[Reply],
        *,
        model: str = "scripted",
        session_id: str | None = None,
        permission: Permission = deny,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self.requests: list[TurnRequest] = []
        """What it was asked, in order."""
        self.closed = 0
        """How often it was closed."""
        self._replies = replies
        self._ready = AgentReady(model=model, session_id=session_id)
        self._permission = permission
        self._sleep = sleep

    async def run(self, request: TurnRequest) -> AsyncGenerator[AgentEvent, None]:
        """Play the next reply."""
        reply = self._replies[min(len(self.requests), len(self._replies) - 1)]
        self.requests.append(request)
        yield self._ready
        yield StepStarted()
        ended = False
        for step in reply:
            if isinstance(step, Pause):
                await self._sleep(step.seconds)
            elif isinstance(step, Use):
                async for event in self._use(step):
                    yield event
            elif isinstance(step, Say):
                for word in _words(step.text.replace("{nonce}", request.nonce)):
                    yield TextDelta(text=word)
                    await self._sleep(step.pause)
            else:
                ended = isinstance(step, AgentFailed | AgentFinished)
                yield step
        if not ended:
            yield AgentFinished()

    async def close(self) -> None:
        """Nothing outlives a turn; the count is for tests."""
        self.closed += 1

    async def _use(self, use: Use) -> AsyncGenerator[AgentEvent, None]:
        yield ToolCallStarted(call=use.call)
        result = ToolResult(call_id=use.call.id, text=use.result, is_error=use.is_error)
        if use.question is not None:
            answer = await self._permission(use.question)
            if answer.decision == "no":
                result = ToolResult(call_id=use.call.id, text=answer.word or "Not allowed.", is_error=True)
            elif answer.chosen:
                text = answers_in_words(use.question.menus, answer.chosen)
                result = ToolResult(call_id=use.call.id, text=text)
        yield ToolCallFinished(result=result)


def _words(text: str) -> Iterator[str]:
    """The text in pieces that end behind a space or a line end."""
    start = 0
    for index, character in enumerate(text):
        if character in " \n":
            yield text[start : index + 1]
            start = index + 1
    if start < len(text):
        yield text[start:]
