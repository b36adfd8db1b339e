"""May this tool call run? The question with everything the user needs to decide, the answer, and what a grant covers.

Some calls are themselves a question to the user: a menu to choose from, or a plan to approve.

Values only: who asks, who answers and where grants are kept is decided elsewhere. Nothing is ever allowed by default.
"""

from collections.abc import Awaitable, Callable
from typing import Literal

from milk_tui.core.menu import Menu
from milk_tui.core.messages import AgentRole, Value

Decision = Literal["no", "once", "session", "always"]


class Scope(Value):
    """What a grant covers: one tool with exactly one subject. Two scopes are the same only if all of it is."""

    tool: str
    kind: Literal["command", "file", "folder", "host", "tool"]
    subject: str
    """The whole command as it runs, a resolved path, a host, or the tool's own name."""

    def covers(self, other: "Scope") -> bool:
        """Whether a grant of this allows that. A folder covers the files in it; everything else only itself."""
        if self == other:
            return True
        is_inside = other.subject.startswith(self.subject.rstrip("/\\") + "/")
        return self.kind == "folder" and other.kind == "file" and self.tool == other.tool and is_inside

    def words(self) -> str:
        """The scope as the user reads it before granting it."""
        match self.kind:
            case "command":
                return f"exactly this command: {self.subject}"
            case "file":
                return f"{self.tool} on {self.subject}"
            case "folder":
                return f"{self.tool} on everything in {self.subject}"
            case "host":
                return f"{self.tool} from {self.subject}"
            case "tool":
                return f"{self.tool}, whatever its arguments"


class Question(Value):
    """May this tool call run? Everything the user needs to decide, complete and as it will happen."""

    tool: str
    arguments: str
    """The arguments as readable JSON, complete."""
    path: str = ""
    """The resolved path it is about, where there is one."""
    reason: str = ""
    """Why it is asked: the agent's rules in its own words, or what is out of the ordinary."""
    session_scope: str = ""
    """What "for this session" would allow, in words; empty when that cannot be granted."""
    agent: AgentRole = "claude"
    """Who wants to run it."""
    command: str = ""
    """The command exactly as it would run, for tools that run one."""
    before: str | None = None
    """The file's present text, for tools that change one; `None` if there is no such file."""
    after: str | None = None
    """The file's text as it would be written."""
    scope: Scope | None = None
    """What could be granted for the session or for good; `None` where our own grants do not apply."""
    wider: Scope | None = None
    """A larger scope that could be granted instead, such as the file's folder."""
    call_id: str = ""
    """The call it is about; empty where the asker does not know."""
    is_of_sub_agent: bool = False
    """Whether an agent asks that the agent itself has started."""
    menus: tuple[Menu, ...] = ()
    """What the user is asked to choose, where the call is for that."""
    plan: str | None = None
    """The plan to approve, in Markdown, where the call is for that."""


class Answer(Value):
    """The user's decision. The default is no."""

    decision: Decision = "no"
    word: str = ""
    """What the model is told with a no."""
    scope: Scope | None = None
    """What is granted, where the user chose the wider scope."""
    chosen: tuple[str, ...] = ()
    """The answers to the question's menus, one for each; an empty one was not answered."""


Permission = Callable[[Question], Awaitable[Answer]]


async def deny(question: Question) -> Answer:
    """The permission of a program nobody is watching."""
    if question.menus:
        return Answer(word="Nobody is there to answer. Decide as you think best, and say what you decided.")
    if question.plan is not None:
        return Answer(word="Nobody is there to approve a plan. Give it as your answer, and change nothing.")
    return Answer(word=f"Nobody is there to allow {question.tool}.")
