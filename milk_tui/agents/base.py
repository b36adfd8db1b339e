"""What an agent is: one method that turns a request into events.

An agent yields `AgentEvent`s and its last one is `AgentFinished` or `AgentFailed`; closing the iterator stops the
agent and everything it started. It never writes state, never knows the screen, and asks the user through the
`Permission` it was given.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from milk_tui.core.events import AgentEvent
from milk_tui.core.handoff import Handoff
from milk_tui.core.messages import ToolCall, Turn

Watch = Callable[[ToolCall], Awaitable[None]]
"""Is told of a tool call before it can run. The call waits for it."""


async def unwatched(_call: ToolCall) -> None:
    """The watch of a program that keeps no files."""


@dataclass(frozen=True)
class TurnRequest:
    """All that an agent is told for one turn."""

    prompt: str
    cwd: str
    """The session's own directory, absolute."""
    nonce: str
    """The word in the session's tags."""
    preface: str = ""
    """Context in front of the prompt, not written by the user."""
    project: str = ""
    """For the local agent: the text of the project's own instructions, shown to the model within a budget. The same
    text in every turn keeps the model's cache; Claude Code reads the file by itself."""
    turns: Sequence[Turn] = ()
    """Earlier turns, oldest first: a live view to read and not to keep."""
    handoff: Handoff | None = None
    """For Claude Code: what is handed over with this prompt; `None` on a follow-up turn of the same stay."""
    resume_id: str | None = None
    """Claude Code's own session to go on with."""
    allowance_usd: float | None = None
    """For Claude Code: the money it may spend from here on; `None` is no limit."""
    is_bare: bool = False
    """For the local agent: it is asked this alone, without tools."""


class Agent(Protocol):
    """Anything that answers a turn with a stream of events."""

    def run(self, request: TurnRequest) -> AsyncGenerator[AgentEvent, None]:
        """Answer one turn. Closing the generator stops the work and waits until it has stopped."""
        ...

    async def close(self) -> None:
        """End everything that outlives a turn, such as a child process or a connection."""
        ...


@runtime_checkable
class Sized(Protocol):
    """An agent that knows how much its model reads."""

    def share(self) -> int | None:
        """A quarter of the window in bytes of text, by what has been counted so far; `None` until that is known."""
        ...
