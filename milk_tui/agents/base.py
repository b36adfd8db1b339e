"""What an agent is: one method that turns a request into events.

An agent yields `AgentEvent`s and its last one is `AgentFinished` or `AgentFailed`; closing the iterator stops the
agent and everything it started. It never writes state, never knows the screen, and asks the user through the
`Permission` it was given.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from milk_tui.core.events import AgentEvent
from milk_tui.core.handoff import Handoff
from milk_tui.core.messages import Turn, Value


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
    turns: Sequence[Turn] = ()
    """Earlier turns, oldest first: a live view to read and not to keep."""
    handoff: Handoff | None = None
    """For Claude Code: what is handed over with this prompt; `None` on a follow-up turn of the same stay."""
    resume_id: str | None = None
    """Claude Code's own session to go on with."""


class Question(Value):
    """May this tool call run? Everything the user needs to decide."""

    tool: str
    arguments: str
    """The arguments as readable JSON, complete."""
    path: str = ""
    """The resolved path it is about, where there is one."""
    reason: str = ""
    """Why the agent's rules ask, in its own words."""
    session_scope: str = ""
    """What "for this session" would allow, in words; empty when that cannot be granted."""


class Answer(Value):
    """The user's decision. The default is no."""

    decision: Literal["no", "once", "session"] = "no"
    word: str = ""
    """What the model is told with a no."""


Permission = Callable[[Question], Awaitable[Answer]]


async def deny(question: Question) -> Answer:
    """The permission of a program nobody is watching."""
    return Answer(word=f"Nobody is there to allow {question.tool}.")


class Agent(Protocol):
    """Anything that answers a turn with a stream of events."""

    def run(self, request: TurnRequest) -> AsyncGenerator[AgentEvent, None]:
        """Answer one turn. Closing the generator stops the work and waits until it has stopped."""
        ...

    async def close(self) -> None:
        """End everything that outlives a turn, such as a child process or a connection."""
        ...
