"""The slash commands: one table that dispatch, completion and help are made from.

A command is only recognised at the very start of a prompt. What it does is named by its action; the screen has a
method for each.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Command:
    """One slash command."""

    name: str
    help: str
    action: str
    """What the screen does: `action_<this>`, called with the text behind the command."""
    aliases: tuple[str, ...] = ()
    argument: str = ""
    """What may follow, for the help; empty if nothing does."""
    is_queued: bool = False
    """Whether it is done only while no agent is at work; written before, it is queued."""


COMMANDS: tuple[Command, ...] = (
    Command(
        "/escalate",
        "Preview the hand-off to Claude Code; --dry: ask only the local model what is unclear in it",
        "escalate",
        (),
        "[--dry] [text]",
        is_queued=True,
    ),
    Command(
        "/escalate!",
        "Hand over at once, without the preview",
        "escalate_now",
        (),
        "text",
        is_queued=True,
    ),
    Command("/claude", "Open Claude Code's own screen on the same session", "open_claude", (), "[text]"),
    Command("/handoff", "Copy the hand-off for any other agent, or save it", "handoff", (), "[file]"),
    Command("/handoff!", "Save the hand-off over a file that is there", "handoff_over", (), "file"),
    Command("/spend", "Let Claude spend more: as much again, or so many dollars", "spend", (), "[dollars]"),
    Command("/usage", "Tokens and money by day, session and model", "usage", ("/cost",)),
    Command(
        "/local", "Give the floor back to the local agent", "return_to_local", ("/primary",), is_queued=True
    ),
    Command("/undo", "Take the last exchange back; its prompt is yours again", "undo", is_queued=True),
    Command("/retry", "Ask the same again in place of the last exchange", "retry", is_queued=True),
    Command("/changes", "Files that the agents changed, and what is different", "changes", ("/diff",)),
    Command("/need", "Say what you are trying to get done", "set_need", ("/goal",), "[text]"),
    Command(
        "/sessions",
        "All sessions: open, rename, fork, export, delete",
        "sessions",
        ("/resume", "/list"),
        "[words]",
    ),
    Command(
        "/new", "Begin a session in this directory; this one is kept", "new_session", ("/clear", "/reset")
    ),
    Command("/search", "Look for words in all sessions", "search", (), "[words]"),
    Command("/fork", "Go on with a copy of this session", "fork", ("/branch",)),
    Command("/rename", "Say what this session is called", "rename", ("/title",), "[title]"),
    Command("/export", "Write this session to a file: .md, .html, or .json", "export", ("/save",), "[file]"),
    Command("/mode", "Only look and plan, or work: for whoever has the floor", "mode", (), "[plan|work]"),
    Command("/model", "Choose the local agent's model", "choose_model", ("/models",), is_queued=True),
    Command("/permissions", "What is allowed without a question", "permissions", ("/grants",)),
    Command("/mcp", "MCP servers and their tools", "mcp"),
    Command("/bricks", "Show or hide the brick column", "toggle_bricks", ("/panel", "/budget")),
    Command(
        "/copy",
        "Copy the last answer or its last block of code, or save it",
        "copy_answer",
        (),
        "[code] [file]",
    ),
    Command("/find", "Find a text in this conversation", "find", (), "[text]"),
    Command("/doctor", "Look at server, model and Claude Code", "doctor", ("/check",)),
    Command("/theme", "Change the colours", "change_theme"),
    Command("/config", "Look for a setting and change it", "settings", ("/settings",), "[words]"),
    Command("/compact", "Why nothing has to be compacted here", "compact"),
    Command("/help", "Keys and commands", "help", ("/?",)),
    Command("/quit", "Leave; the session is kept", "quit", ("/exit", "/q")),
)


def parsed(text: str) -> tuple[Command, str] | None:
    """The command at the start of a prompt and the text behind it, as it was typed; `None` if there is none."""
    if not text.startswith("/"):
        return None
    parts = text.split(maxsplit=1)
    word = parts[0]
    for command in COMMANDS:
        if word == command.name or word in command.aliases:
            return command, text[len(word) :].strip()
    return None


def is_mistyped(text: str) -> bool:
    """Whether a prompt looks like a command that does not exist, rather than a path or a sentence."""
    word = text.split(maxsplit=1)[0] if text.strip() else ""
    return (
        word.startswith("/") and word[1:].replace("-", "").replace("!", "").isalpha() and parsed(text) is None
    )
