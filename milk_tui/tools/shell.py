"""The tool that runs a command. Every call is a fresh shell in the session's directory, and nothing outlives it."""

import codecs
import os
import shlex
import shutil
import signal
from typing import Annotated

from pydantic import Field

from milk_tui.core.permission import Question, Scope
from milk_tui.core.text import sanitize
from milk_tui.tools.base import Outcome, Prepared, Report
from milk_tui.tools.environment import passed_on, withheld
from milk_tui.tools.off_loop import off_loop
from milk_tui.tools.process_group import OUTPUT_BYTES, Finished, run_group
from milk_tui.tools.site import Site
from milk_tui.tools.trouble import ToolError

COMMAND_CHARS = 20_000
"""The longest command: more nobody reads before saying yes."""

_PIECE = 1 << 16

Command = Annotated[str, Field(description="As typed in a shell.")]
Timeout = Annotated[int, Field(ge=1, le=600, description="Seconds until it is ended.")]


def run_command(site: Site, command: Command, timeout: Timeout = 120) -> Prepared:
    """Run a shell command in the session's directory; gives what it wrote and its exit status.

    Each call is a fresh shell: `cd` and variables do not last. There is no terminal and the input is empty, so
    nothing can ask for input. Processes left in the background are ended when the command returns. Environment
    variables that look like secrets are not passed on.
    """
    if not command.strip() or len(command) > COMMAND_CHARS:
        raise ToolError(f"A command has 1 to {COMMAND_CHARS:,} characters; this one has {len(command):,}.")
    if sanitize(command) != command:
        raise ToolError("The command holds control characters, which cannot be shown as they are.")
    environment = dict(os.environ)
    directory = site.workspace.directory

    async def run(report: Report) -> Outcome:
        arguments = [*_shell(), command]
        finished = await run_group(arguments, directory, passed_on(environment), timeout, report)
        is_error = finished.ending != "exit" or finished.status != 0
        return Outcome(await off_loop(lambda _stop: _told(finished, timeout)), is_error)

    return Prepared(_question(command, str(directory), withheld(environment)), run)


def _question(command: str, directory: str, secrets: list[str]) -> Question:
    """The question about a command. A grant covers this very text and no other, so chaining gains nothing."""
    reason = f"Runs in {directory}."
    if secrets:
        reason += f" Not passed on: {', '.join(secrets)}."
    scope = Scope(tool="run_command", kind="command", subject=command) if _is_plain_to_read(command) else None
    return Question(tool="run_command", arguments="", command=command, reason=reason, scope=scope)


def _is_plain_to_read(command: str) -> bool:
    """Whether quotes are closed. What cannot be taken apart is asked about every time."""
    try:
        shlex.split(command)
    except ValueError:
        return False
    return True


def _shell() -> list[str]:
    """Bash where there is one, because models write for it; no start-up file is read."""
    bash = shutil.which("bash", path="/bin:/usr/bin:/usr/local/bin")
    return [bash, "--noprofile", "--norc", "-c", "--"] if bash else ["/bin/sh", "-c", "--"]


def _told(finished: Finished, timeout: int) -> str:
    """The output as a reader would have seen it in the end, and in brackets what became of the command.

    Of a line that was drawn over, as progress bars do, only what was drawn last is left.
    """
    lines = (line.rstrip("\r").rpartition("\r")[2] for line in _decoded(finished.output).split("\n"))
    output = "\n".join(lines).rstrip()
    remarks = [_ending(finished, timeout)]
    if finished.left_children:
        remarks.append("It had left processes in the background, which were ended.")
    return "\n".join(filter(None, [output, f"[{' '.join(remarks)}]"]))


def _decoded(output: bytes) -> str:
    """The text of an output; by pieces, so that other threads have their turn in between."""
    pieces = (output[at : at + _PIECE] for at in range(0, len(output), _PIECE))
    return "".join(codecs.iterdecode(pieces, "utf-8", "replace"))


def _ending(finished: Finished, timeout: int) -> str:
    if finished.status is None:
        return f"Given up after {finished.seconds:.1f} s: it runs as another user and could not be ended."
    match finished.ending:
        case "time":
            return f"Ended at its time limit of {timeout} s."
        case "size":
            return f"Ended after {finished.seconds:.1f} s: it wrote more than {OUTPUT_BYTES // 1_000_000} MB."
        case "exit" if finished.status < 0:
            return f"Ended by {_signal_name(-finished.status)} after {finished.seconds:.1f} s."
        case "exit":
            return f"Exit status {finished.status} after {finished.seconds:.1f} s."


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
