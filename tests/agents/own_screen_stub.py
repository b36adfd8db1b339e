"""A program in the place of Claude Code's own screen: it makes the turns it is told to and leaves them where that does.

    cli = own_screen_stub(tmp_path, [Made("Hello", "Hello to you")])

It runs the hooks of its settings as Claude Code does, unless it is told to run none, and notes what it was started
with and what the hooks told it.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from milk_tui.core.messages import Value

_SCRIPT = """#!{python}
import json, os, pathlib, subprocess, sys, uuid
from datetime import datetime, timezone

work = pathlib.Path({work!r})
play = json.loads((work / "play.json").read_text())
arguments = sys.argv[1:]
options = dict(zip(arguments[::2], arguments[1::2]))
settings = json.loads(pathlib.Path(options["--settings"]).read_text())
opened = options.get("--resume") or options["--session-id"]
heard = {{"arguments": arguments, "told": [], "cwd": os.getcwd(), "seen_outer": os.environ.get("CLAUDECODE", "")}}
heard["system"] = pathlib.Path(options["--append-system-prompt-file"]).read_text()
heard["modes"] = [oct(path.stat().st_mode)[-3:] for path in pathlib.Path(options["--settings"]).parent.iterdir()]
projects = pathlib.Path(os.environ["CLAUDE_CONFIG_DIR"]) / "projects" / "here"
projects.mkdir(parents=True, exist_ok=True)
last, known = {{}}, set()

def run(name, **event):
    for group in settings["hooks"][name] if play["hooks"] else ():
        for hook in group["hooks"]:
            done = subprocess.run(hook["command"], shell=True, input=json.dumps(event), capture_output=True, text=True)
            if done.stdout:
                output = json.loads(done.stdout)["hookSpecificOutput"]
                heard["told"].append([event["session_id"], output["additionalContext"]])

def write(session, kind, **fields):
    record = {{"type": kind, "sessionId": session, **fields}}
    if kind in ("user", "assistant"):
        record |= {{"uuid": str(uuid.uuid4()), "parentUuid": last.get(session), "isSidechain": False}}
        record["timestamp"] = datetime.now(timezone.utc).isoformat()
        last[session] = record["uuid"]
    with (projects / f"{{session}}.jsonl").open("a") as file:
        file.write(json.dumps(record) + "\\n")

for turn in play["made"]:
    session = turn["session"] or opened
    if session not in known:
        known.add(session)
        run("SessionStart", session_id=session, transcript_path=str(projects / f"{{session}}.jsonl"))
    run("UserPromptSubmit", session_id=session)
    write(session, "user", message={{"role": "user", "content": turn["prompt"]}})
    usage = {{"input_tokens": turn["tokens"], "output_tokens": 0}}
    message = {{"id": str(uuid.uuid4()), "role": "assistant", "model": turn["model"], "usage": usage}}
    message["content"] = [{{"type": "text", "text": turn["answer"]}}]
    write(session, "assistant", message=message, isApiErrorMessage=turn["is_error"])
    if turn["total"] is not None:
        write(session, "cost-state", totalCostUSD=turn["total"])
(work / "heard.json").write_text(json.dumps(heard))
sys.exit(play["status"])
"""


@dataclass(frozen=True)
class Made:
    """A turn."""

    prompt: str
    answer: str
    session: str = ""
    """Another session than the one that was opened."""
    tokens: int = 1_000
    model: str = "claude-sonnet-4-5"
    total: float | None = None
    """What the session has cost by then, where it says so."""
    is_error: bool = False


class Heard(Value):
    """What the program was started with and told."""

    arguments: tuple[str, ...]
    system: str
    told: tuple[tuple[str, str], ...]
    """Session and text."""
    cwd: str
    seen_outer: str
    modes: tuple[str, ...]

    @property
    def session(self) -> str:
        """The session that was opened."""
        name = "--resume" if "--resume" in self.arguments else "--session-id"
        return self.arguments[self.arguments.index(name) + 1]


def own_screen_stub(
    folder: Path, made: Sequence[Made] = (), *, status: int = 0, has_hooks: bool = True
) -> str:
    """The program's path."""
    play: dict[str, Any] = {"made": [asdict(turn) for turn in made], "status": status, "hooks": has_hooks}
    (folder / "play.json").write_text(json.dumps(play))
    path = folder / "claude-stub"
    path.write_text(_SCRIPT.format(python=sys.executable, work=str(folder)))
    path.chmod(0o700)
    return str(path)


def heard_by_stub(folder: Path) -> Heard:
    """What it was started with the last time."""
    return Heard.model_validate_json((folder / "heard.json").read_text())
