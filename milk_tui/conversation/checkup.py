"""Is everything there for the main job? The same checks for `doctor` and for the first run's checklist.

Only loopback is probed unless the settings name another server; nothing is sent to any model.
"""

import os
import shutil
from typing import Literal

from milk_tui.agents.claude.process import ClaudeFacts, claude_facts
from milk_tui.agents.embedded.agent import WINDOW
from milk_tui.agents.server.agent import chosen
from milk_tui.agents.server.facts import ServerFacts, shown_name
from milk_tui.agents.server.probe import DISCOVERY_PORTS, discover, inspect
from milk_tui.conversation.local_agents import has_embedded
from milk_tui.core.errors import ConfigError
from milk_tui.core.messages import Value
from milk_tui.storage.config import Settings

State = Literal["ok", "warning", "failed"]


class Check(Value):
    """One thing that was looked at."""

    name: str
    state: State
    text: str
    remedy: str = ""
    """One thing to do, where there is something to do."""


class LocalCheckup(Value):
    """What was found out about the local role."""

    check: Check
    window: Check
    offered: tuple[ServerFacts, ...] = ()
    """Servers on this machine that could be chosen, and are not."""

    @property
    def is_usable(self) -> bool:
        """Whether a prompt would be answered."""
        return self.check.state != "failed"


_INSTALL = "Install Claude Code, or set `claude_path`."
_STILL_WORKS = "Everything but handing over works without it."


async def check_local(settings: Settings) -> LocalCheckup:
    """Look at the server that is set; without one at the embedded model, and at what else serves here."""
    if settings.url:
        return await _check_server(settings)
    found = tuple(facts for facts in await discover() if facts.state == "ok")
    if has_embedded(settings):
        check = Check(
            name="Local model", state="ok", text="the built-in SmolLM2-135M: small, for trying things out"
        )
        window = Check(name="Window", state="ok", text=f"{WINDOW:,} tokens")
        return LocalCheckup(check=check, window=window, offered=found)
    ports = ", ".join(str(port) for port in DISCOVERY_PORTS)
    text = f"found {len(found)} on this machine" if found else f"nothing answered on 127.0.0.1 ports {ports}"
    remedy = "Choose one of them." if found else "Start a model server, or run `milk-tui model pull`."
    check = Check(name="Local model", state="failed", text=text, remedy=remedy)
    return LocalCheckup(check=check, window=_assumed(), offered=found)


async def check_claude(settings: Settings) -> Check:
    """Look for Claude Code and at how it is logged in; its credential is never read."""
    return claude_check(await claude_facts(str(settings.claude_path) if settings.claude_path else None))


def claude_check(facts: ClaudeFacts) -> Check:
    """What the facts mean for the user."""
    if facts.problem:
        what, _, remedy = facts.problem.partition(": ")
        remedy = remedy[:1].upper() + remedy[1:] or _INSTALL
        return Check(name="Claude Code", state="failed", text=what, remedy=f"{remedy} {_STILL_WORKS}")
    return Check(name="Claude Code", state="ok", text=f"{facts.version}, {facts.credential}")


def check_settings(settings: Settings) -> Check:
    """What could not be read of the settings, and where they are."""
    where = settings.home / "tui.json"
    if settings.warnings:
        return Check(
            name="Settings", state="warning", text=" ".join(settings.warnings), remedy=f"Mend {where}."
        )
    folder = next(path for path in where.parents if path.exists())
    if not os.access(folder, os.W_OK):
        text = f"{folder} cannot be written, so no session is kept"
        return Check(
            name="Settings", state="warning", text=text, remedy="Make it writable, or set MILK_HOME."
        )
    there = "" if where.exists() else " (not there yet)"
    return Check(name="Settings", state="ok", text=f"{where}{there}")


def check_terminal() -> Check:
    """The size of the terminal."""
    columns, rows = shutil.get_terminal_size()
    text = f"{columns}×{rows}"
    if columns < 60 or rows < 20:
        return Check(
            name="Terminal", state="warning", text=text, remedy="60×20 is the least that is comfortable."
        )
    return Check(name="Terminal", state="ok", text=text)


async def _check_server(settings: Settings) -> LocalCheckup:
    key = settings.api_key.get_secret_value() if settings.api_key else None
    try:
        facts = await inspect(settings.url or "", key, model=settings.model or "")
    except ConfigError as error:
        failed = Check(name="Local model", state="failed", text=error.sentence, remedy=error.remedy)
        return LocalCheckup(check=failed, window=_assumed())
    if facts.state != "ok":
        state: State = "warning" if facts.state == "loading" else "failed"
        failed = Check(
            name="Local model", state=state, text=_trouble(facts), remedy="Start it, or set another URL."
        )
        return LocalCheckup(check=failed, window=_assumed())
    server = chosen(facts, key, settings.model or "", settings.window)
    tools = (
        "with tools" if server.supports_tools else "tools in words" if server.text_tools else "without tools"
    )
    check = Check(
        name="Local model",
        state="ok",
        text=f"{shown_name(server.model) or 'a model'} at {facts.url}, {tools}",
    )
    if not server.has_known_window:
        return LocalCheckup(check=check, window=_assumed())
    return LocalCheckup(
        check=check, window=Check(name="Window", state="ok", text=f"{server.tokens:,} tokens")
    )


def _assumed() -> Check:
    return Check(
        name="Window",
        state="warning",
        text="unknown, 8,192 tokens assumed",
        remedy="Set `window` if it differs.",
    )


def _trouble(facts: ServerFacts) -> str:
    words = f": {facts.words}" if facts.words else ""
    match facts.state:
        case "loading":
            return f"{facts.url} is loading its model{words}"
        case "refused":
            return f"{facts.url} refuses the key{words}"
        case "not_a_model_server":
            return f"{facts.url} answers, but not as a model server{words}"
        case _:
            return f"nothing answers at {facts.url}{words}"
