"""One agent's turn as a stream that can be stopped from outside.

The agent runs in a task of its own and its events wait in a queue, so that stopping is cancelling that task and never
the reader's. The reader always gets to the end: finished, stopped, or with the error that ended it.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from milk_tui.agents.base import Agent, TurnRequest
from milk_tui.conversation.intake import taken_in
from milk_tui.core.errors import Failure
from milk_tui.core.events import AgentEvent, AgentFailed, AgentFinished


class TurnStream:
    """Runs one turn of an agent."""

    def __init__(self, agent: Agent, request: TurnRequest) -> None:
        self.error: Exception | None = None
        """What the agent raised instead of reporting it; a mistake of ours."""
        self.was_stopped = False
        self.why_stopped: Failure | None = None
        """Set if it was not the user who stopped it."""
        self._has_ended = False
        self._queue: asyncio.Queue[AgentEvent | None] = asyncio.Queue()
        self._task = asyncio.create_task(self._run(agent, request), name="turn")
        # Not from within the task: one that is stopped before it has begun never gets that far.
        self._task.add_done_callback(lambda _task: self._queue.put_nowait(None))

    def stop(self, why: Failure | None = None) -> None:
        """Ask the agent to stop; a turn that has ended by itself stays as it is."""
        if not self._task.done() and not self._has_ended:
            self.why_stopped = self.why_stopped or why
            self.was_stopped = True
            self._task.cancel()

    async def events(self) -> AsyncGenerator[AgentEvent, None]:
        """The events until the agent has stopped."""
        while (event := await self._queue.get()) is not None:
            yield event

    async def ended(self) -> None:
        """Stop the agent if it still runs, and wait until it has stopped."""
        self.stop()
        await asyncio.wait({self._task})

    async def _run(self, agent: Agent, request: TurnRequest) -> None:
        try:
            async with aclosing(agent.run(request)) as raw, aclosing(taken_in(raw, request.nonce)) as events:
                async for event in events:
                    self._has_ended = isinstance(event, AgentFinished | AgentFailed)
                    self._queue.put_nowait(event)
        except asyncio.CancelledError:
            self.was_stopped = not self._has_ended
        except Exception as error:
            self.error = error
