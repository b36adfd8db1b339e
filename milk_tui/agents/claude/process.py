"""Claude Code as a program: where it is, what it may see of our environment, who is logged in, what it left running.

It knows nothing of turns and events, and reads no credential: it says of which kind the one in use is.
"""

import asyncio
import json
import os
import re
import shutil
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, create_subprocess_exec
from collections.abc import Mapping, MutableMapping
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from milk_tui.core.messages import Value
from milk_tui.core.text import sanitize

MARK = "MILK_TUI_CLAUDE"
"""The variable by which a process that Claude Code started can be told from all others."""

_OUTER_SESSION = re.compile(
    "CLAUDECODE|CLAUDE_CODE_(CHILD_SESSION|SESSION_ID|ENTRYPOINT|MESSAGING_.*|CHILD_NOTES_DIR|SESSION_ATTENDED"
    "|EXECPATH|SSE_PORT|SIMPLE|SKIP_PROMPT_HISTORY)|CLAUDE_AGENT_SDK_VERSION|CLAUDE_EFFORT|CLAUDE_PID|AI_AGENT"
)
_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD)$")
_SECRET = re.compile(r"\b(sk-|Bearer\s+)[\w.~+/=-]{6,}")
_FACTS_SECONDS = 20.0

Place = Literal["setting", "bundled", "path", "nowhere"]


class ClaudeFacts(Value):
    """What there is to know about Claude Code before it is asked anything."""

    path: str = ""
    place: Place = "nowhere"
    """Where the path comes from."""
    version: str = ""
    is_logged_in: bool = False
    credential: str = ""
    """The kind of credential that will be used, and so whom it bills; never its value."""
    problem: str = ""
    """Why Claude Code cannot be used; empty if it can."""


def leave_outer_session(environ: MutableMapping[str, str] = os.environ) -> None:
    """Forget that this program was started inside a Claude Code session.

    A Claude Code that believes it is nested saves no transcript, and the SDK can only add to the environment that
    its child inherits. These variables describe somebody else's session and mean nothing to this program.
    """
    for name in [name for name in environ if _OUTER_SESSION.fullmatch(name)]:
        del environ[name]


def find_cli(setting: str | None) -> tuple[str, Place]:
    """The program to run: the one that is set, the one inside the SDK, the first on the PATH. Empty if none."""
    if setting:
        return str(Path(setting).expanduser()), "setting"
    bundled = _bundled_cli()
    if bundled is not None:
        return str(bundled), "bundled"
    found = shutil.which("claude")
    return (found, "path") if found else ("", "nowhere")


def _bundled_cli() -> Path | None:
    """The SDK's own copy, found without the second that importing the SDK takes."""
    spec = find_spec("claude_agent_sdk")
    name = "claude.exe" if sys.platform == "win32" else "claude"
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / "_bundled" / name
        if path.is_file():
            return path
    return None


def masked(line: str, environ: Mapping[str, str] = os.environ) -> str:
    """A line that may be shown: no control characters and no secret that this program could know."""
    line = sanitize(line)
    for name, value in environ.items():
        if len(value) >= 8 and _SECRET_NAME.search(name):
            line = line.replace(value, "[secret]")
    return _SECRET.sub("[secret]", line)


async def claude_facts(cli_path: str | None = None) -> ClaudeFacts:
    """Ask the program itself; nothing is sent to any model and no credential is read here."""
    path, place = find_cli(cli_path)
    if not path:
        return ClaudeFacts(problem="Claude Code is not on this machine: install it, or set its path.")
    facts = ClaudeFacts(path=path, place=place)
    try:
        version = await _output(path, "--version")
        status = await _output(path, "auth", "status")
    except (OSError, TimeoutError) as error:
        reason = getattr(error, "strerror", None) or f"no answer within {_FACTS_SECONDS:.0f} s"
        return facts.model_copy(update={"problem": f"{path} cannot be run: {reason}."})
    return _with_status(facts, version, status)


def _with_status(facts: ClaudeFacts, version: str, status: str) -> ClaudeFacts:
    found = re.match(r"\d+\.\d+\.\d+", version)
    if not found:
        return facts.model_copy(update={"problem": f"{facts.path} does not answer as Claude Code does."})
    try:
        account = json.loads(status)
    except ValueError:
        account = {}
    is_logged_in = isinstance(account, dict) and account.get("loggedIn") is True
    return facts.model_copy(
        update={
            "version": found[0],
            "is_logged_in": is_logged_in,
            "credential": _credential(account) if is_logged_in else "",
            "problem": "" if is_logged_in else "Claude Code is not logged in: run `claude` once and log in.",
        }
    )


def _credential(account: Mapping[str, object]) -> str:
    """The credential in words. Which one wins decides who pays, so the user reads it before the first hand-off."""
    provider = account.get("apiProvider")
    if provider not in (None, "firstParty"):
        return f"the account at {sanitize(str(provider))}"
    source = account.get("apiKeySource")
    if source:
        return f"the API key from {sanitize(str(source))}"
    method = sanitize(str(account.get("authMethod") or "login"))
    if method == "oauth_token":
        return "the token in CLAUDE_CODE_OAUTH_TOKEN"
    return "the Claude subscription login" if method == "claude.ai" else f"the login ({method})"


async def _output(*command: str) -> str:
    """What a short command prints; it never sees a terminal and never outlives the wait."""
    environ = dict(os.environ)
    leave_outer_session(environ)
    process = await create_subprocess_exec(*command, stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL, env=environ)
    try:
        async with asyncio.timeout(_FACTS_SECONDS):
            output, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return output.decode(errors="replace").strip()


def exit_words(status: int | None) -> str:
    """How a process ended, in words."""
    if status is None:
        return "ended"
    return f"was killed by signal {-status}" if status < 0 else f"ended with exit status {status}"


def marked_pids(mark: str) -> list[int]:
    """The processes that carry the mark, whoever adopted them. Empty where the system has no /proc."""
    entry = f"{MARK}={mark}".encode()
    return [int(path.parent.name) for path in Path("/proc").glob("[0-9]*/environ") if _carries(path, entry)]


def _carries(environ: Path, entry: bytes) -> bool:
    try:
        return entry in environ.read_bytes().split(b"\0")
    except OSError:  # gone meanwhile, or not ours
        return False


async def end_marked(mark: str) -> None:
    """End what a Claude Code of ours has left running: first politely, a second later for good."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        for pid in await asyncio.to_thread(marked_pids, mark):
            _send(pid, number)
        if await _all_gone(mark, seconds=1.0):
            return


def _send(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


async def _all_gone(mark: str, seconds: float) -> bool:
    deadline = asyncio.get_running_loop().time() + seconds
    while await asyncio.to_thread(marked_pids, mark):
        if asyncio.get_running_loop().time() > deadline:
            return False
        await asyncio.sleep(0.02)
    return True
