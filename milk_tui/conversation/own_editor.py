"""The user's own editor on a text: `$VISUAL`, else `$EDITOR`, in the terminal that is lent to it meanwhile.

It has a private file of its own, which goes with the folder that it is in, with whatever the editor left beside it.
It knows no Textual, and not what the text is for.
"""

import asyncio
import os
import shlex
import tempfile
from asyncio.subprocess import Process, create_subprocess_exec
from collections.abc import Callable, Sequence
from pathlib import Path

from milk_tui.conversation.visiting import Lend
from milk_tui.core.errors import MilkError
from milk_tui.storage.files import write_new

END_SECONDS = 1.0
"""How long an editor may take to end when it is told to."""

_KEPT = "Your text is as it was."


async def edit(text: str, cwd: str, lend: Lend, take: Callable[[str], None]) -> None:
    """Let the user edit a text. A line break at its end counts for nothing: most editors add one.

    Args:
        text: what the editor opens.
        cwd: where the editor is run.
        lend: gives the terminal away.
        take: is given what the user made of the text, if that is another one. When this is cancelled the editor is
            ended, and what was saved in it by then is given all the same.

    Raises:
        MilkError: there is no editor, or it failed; nothing was given.
    """
    command = _command()
    before = f"{text}\n" if text else ""
    try:
        with tempfile.TemporaryDirectory(prefix="milk-tui-", ignore_cleanup_errors=True) as folder:
            path = Path(folder, "prompt.md")
            write_new(path, before)
            try:
                with lend():
                    await _run([*command, str(path)], cwd)
            except asyncio.CancelledError:
                _give(path, before, take)
                raise
            _give(path, before, take)
    except OSError as error:
        raise MilkError(f"The editor's file cannot be used: {error.strerror or error}. {_KEPT}") from error


def _give(path: Path, before: str, take: Callable[[str], None]) -> None:
    after = path.read_bytes().decode("utf-8-sig", "replace")
    if after != before:
        take(after.rstrip("\r\n"))


def _command() -> Sequence[str]:
    name = next((name for name in ("VISUAL", "EDITOR") if os.environ.get(name, "").strip()), None)
    if name is None:
        raise MilkError(
            "Neither VISUAL nor EDITOR says which editor is yours.", "Set one, as in EDITOR=nano."
        )
    try:
        return shlex.split(os.environ[name], posix=os.name == "posix")
    except ValueError as error:
        raise MilkError(
            f"{name} is no command: {os.environ[name]!r}.", "Check its quotation marks."
        ) from error


async def _run(command: Sequence[str], cwd: str) -> None:
    """Run it in our own process group, so that Ctrl+Z stops both and the shell brings both back."""
    from milk_tui.agents.claude.process import exit_words

    try:
        process = await create_subprocess_exec(*command, cwd=cwd)
    except OSError as error:
        raise MilkError(f"{command[0]} cannot be run: {error.strerror}. {_KEPT}") from error
    try:
        status = await process.wait()
    finally:
        await _end(process)
    if status:
        raise MilkError(f"{command[0]} {exit_words(status)}. {_KEPT}")


async def _end(process: Process) -> None:
    """End it if it still runs."""
    if process.returncode is not None:
        return
    process.terminate()
    try:
        async with asyncio.timeout(END_SECONDS):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
