"""Runs the `rg` program that comes with this package, within limits of time and output.

It reads no settings of the user's, follows no symbolic links and leaves out what `.gitignore` leaves out.
"""

import asyncio
import os
import shutil
import sysconfig
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from milk_tui.core.cut import cut_end
from milk_tui.tools.environment import passed_on
from milk_tui.tools.trouble import ToolError

SEARCH_SECONDS = 20.0
OUTPUT_BYTES = 1_000_000
"""The most output of one search; it ends there."""
LISTING_BYTES = 32_000_000
"""The most output of a listing of all files: some three hundred thousand paths."""

_ALWAYS = [
    "--no-config",
    "--color=never",
    "--no-messages",
    "--hidden",
    "--no-require-git",
    "--max-filesize=50M",
    "--iglob=!.git",
]
_IN_ORDER = "--sort=path"
_CHUNK = 1 << 16
_BAD_ARGUMENTS = 2


@dataclass(frozen=True)
class Found:
    """The lines that `rg` wrote, in the order of paths, and why there may be more."""

    lines: list[str]
    cut: str
    """Empty if the search went through to its end."""


async def search(arguments: list[str], place: Path) -> Found:
    """Run `rg` on a resolved directory or file. Paths in its lines are relative to that directory.

    Raises:
        ToolError: there is no `rg` here, or it does not understand the arguments.
        OSError: it cannot be started.
    """
    directory, target = (place, "./") if place.is_dir() else (place.parent, f"./{place.name}")
    output, cut = await _run([_IN_ORDER, *arguments, "--", target], directory, OUTPUT_BYTES)
    return Found(output.splitlines(), cut)


async def listing(directory: Path) -> list[str]:
    """Every file in a directory that is not ignored, as paths relative to it, in no order. Raises as `search`."""
    output, _ = await _run(["--files", "--null"], directory, LISTING_BYTES)
    return output.split("\0")[:-1]


async def _run(arguments: list[str], directory: Path, most: int) -> tuple[str, str]:
    process = await asyncio.create_subprocess_exec(
        *[_program(), *_ALWAYS, *arguments],
        cwd=directory,
        env=passed_on(os.environ),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    output, errors, cut = await _outcome(process, most)
    if process.returncode == _BAD_ARGUMENTS and not output and errors.strip():
        raise ToolError(f"The search was not understood: {cut_end(errors.strip().removeprefix('rg: '), 500)}")
    return output, cut


async def _outcome(process: asyncio.subprocess.Process, most: int) -> tuple[str, str, str]:
    """What a process wrote and complained about, and why it was stopped. It is gone afterwards, also if cancelled."""
    assert process.stdout and process.stderr
    complaint = asyncio.ensure_future(process.stderr.read())
    output = bytearray()
    cut = "cancelled"
    try:
        async with asyncio.timeout(SEARCH_SECONDS):
            while (chunk := await process.stdout.read(_CHUNK)) and len(output) < most:
                output += chunk
        cut = "there is more" if chunk else ""
    except TimeoutError:
        cut = f"stopped after {SEARCH_SECONDS:.0f} s"
    finally:
        if cut:
            with suppress(ProcessLookupError):
                process.kill()
            # A pipe that is not read to its end would keep the process from being waited for.
            await process.stdout.read()
        errors = await complaint
        await process.wait()
    return output.decode("utf-8", "replace"), errors.decode("utf-8", "replace"), cut


def _program() -> str:
    """Where `rg` is: beside the Python that runs us, else on the path."""
    scripts = sysconfig.get_path("scripts")
    program = shutil.which("rg", path=scripts) or shutil.which("rg")
    if program is None:
        raise ToolError("The program rg is not installed, so nothing can be searched.")
    return program
