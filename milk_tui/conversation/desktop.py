"""The programs of the desktop around the terminal: its clipboard, and what opens an address.

Which one is there follows from the environment. Under SSH there is none: the desktop is on another machine.
"""

import asyncio
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

SECONDS = 2.0
"""How long a program may take to accept a text."""

_NOTHING = asyncio.subprocess.DEVNULL


async def copied(text: str, environment: Mapping[str, str] = os.environ) -> str | None:
    """Give a text to the desktop's clipboard; the name of the program that took it, `None` if none has."""
    for command in _clipboards(environment):
        if await _took(command, text.encode("utf-8", "replace"), environment):
            return command[0]
    return None


async def opened(address: str, environment: Mapping[str, str] = os.environ) -> str | None:
    """Have an address opened; the name of the program that was started, `None` if there is none."""
    for command in _openers(environment):
        if await _took((*command, address), b"", environment):
            return command[0]
    return None


def _clipboards(environment: Mapping[str, str]) -> Iterator[Sequence[str]]:
    is_far = _is_far(environment)
    if sys.platform == "darwin" and not is_far:
        yield ("pbcopy",)
    if environment.get("WAYLAND_DISPLAY") and not is_far:
        yield ("wl-copy",)
    if environment.get("DISPLAY") and not is_far:
        yield ("xclip", "-selection", "clipboard")
        yield ("xsel", "--clipboard", "--input")
    if environment.get("TMUX"):
        yield ("tmux", "load-buffer", "-w", "-")


def _openers(environment: Mapping[str, str]) -> Iterator[Sequence[str]]:
    """Only programs with a window of their own: one in this terminal would draw over ours."""
    if _is_far(environment):
        return
    if sys.platform == "darwin":
        yield ("open",)
    if environment.get("WSL_DISTRO_NAME"):
        yield ("wslview",)
    if environment.get("WAYLAND_DISPLAY") or environment.get("DISPLAY"):
        yield ("xdg-open",)


def _is_far(environment: Mapping[str, str]) -> bool:
    return bool(environment.get("SSH_CONNECTION") or environment.get("SSH_TTY"))


async def _took(command: Sequence[str], data: bytes, environment: Mapping[str, str]) -> bool:
    """Whether a program is there, reads the text and ends well. One that stays to serve it has a child that does."""
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=_NOTHING,
            stderr=_NOTHING,
            start_new_session=True,
            env=environment,
        )
    except OSError:
        return False
    try:
        await asyncio.wait_for(process.communicate(data), SECONDS)
    except (TimeoutError, OSError):
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        return False
    return process.returncode == 0
