"""What a tool call of Claude Code's would do, as the user reads it: the command, or the file before and after.

Files are read for that and never written. What cannot be worked out is left out, and the arguments are shown instead.
It knows Claude Code's own tools by their arguments, and nothing of the SDK.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from milk_tui.tools.off_loop import Stop, off_loop
from milk_tui.tools.text_file import read_text
from milk_tui.tools.trouble import ToolError


@dataclass(frozen=True)
class Proposal:
    """The parts of a question that are not the arguments themselves."""

    command: str = ""
    purpose: str = ""
    """What the command is for, in Claude's words, and what is out of the ordinary about how it would run."""
    before: str | None = None
    after: str | None = None


_PLAIN = {"command", "description", "timeout"}
"""Arguments of a command that need no word of their own."""


async def proposal(tool: str, arguments: Mapping[str, Any], path: str) -> Proposal:
    """What the call would do; `path` is the resolved file that it is about."""
    if tool == "Bash" and isinstance(arguments.get("command"), str):
        more = [f"{name}: {value}" for name, value in arguments.items() if name not in _PLAIN and value]
        purpose = "; ".join([str(arguments.get("description") or ""), *more]).strip("; ")
        return Proposal(command=arguments["command"], purpose=purpose)
    if tool not in ("Edit", "MultiEdit", "Write") or not path:
        return Proposal()
    try:
        return await off_loop(lambda stop: _change(tool, arguments, Path(path), stop))
    except (ToolError, OSError, LookupError, TypeError):
        return Proposal()


def _change(tool: str, arguments: Mapping[str, Any], path: Path, stop: Stop) -> Proposal:
    before = read_text(path, path.name, stop).text if path.exists() else None
    if tool == "Write":
        return Proposal(before=before, after=str(arguments["content"]))
    # Claude Code looks for its text with plain line ends, whatever the file has.
    before = (before or "").replace("\r\n", "\n")
    after = before
    for edit in arguments.get("edits") or (arguments,):
        old, new = str(edit["old_string"]), str(edit["new_string"])
        if not (old in after if old else not after):
            return Proposal()
        after = after.replace(old, new, -1 if edit.get("replace_all") else 1)
    return Proposal(before=before if path.exists() else None, after=after)
