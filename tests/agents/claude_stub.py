"""Programs that answer the SDK as Claude Code would, and then do what the real one cannot be made to do.

A stub is a Python script: it answers control requests, and to each prompt it prints the messages of its plan.
"""

import json
import sys
from pathlib import Path
from typing import Any

_PROGRAM = """#!{python}
import json, sys, threading, time

plan = json.loads({plan!r})
turn = 0

def put(line):
    print(json.dumps(line), flush=True)

def play(lines):
    for line in lines:
        if isinstance(line, str) and line.startswith("exit"):
            print("the last words", file=sys.stderr, flush=True)
            sys.exit(int(line.removeprefix("exit")))
        elif isinstance(line, (int, float)):
            time.sleep(line)
        else:
            put(line)

for raw in sys.stdin:
    message = json.loads(raw)
    if message["type"] == "control_request":
        kind = message["request"]["subtype"]
        response = {{"subtype": "success", "request_id": message["request_id"], "response": {{}}}}
        put({{"type": "control_response", "response": response}})
        if kind == "interrupt":
            play(plan["interrupted"])
    elif message["type"] == "user":
        lines = plan["turns"][min(turn, len(plan["turns"]) - 1)]
        turn += 1
        play(json.loads(json.dumps(lines).replace("PROMPT-ID", message["uuid"])))
"""


def stub(path: Path, *turns: list[Any], interrupted: tuple[Any, ...] = ()) -> str:
    """A program that plays a list of messages for each prompt: a number waits, "exit 3" ends it."""
    plan = json.dumps({"turns": turns, "interrupted": interrupted})
    path.write_text(_PROGRAM.format(python=sys.executable, plan=plan))
    path.chmod(0o755)
    return str(path)


def script(path: Path, text: str) -> str:
    """A shell script."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def init(session_id: str = "stub-session") -> dict[str, Any]:
    """What opens every turn."""
    return {"type": "system", "subtype": "init", "session_id": session_id, "model": "stub"}


def answer(text: str, message_id: str = "m1") -> dict[str, Any]:
    """A whole answer, not streamed."""
    content = [{"type": "text", "text": text}]
    return {"type": "assistant", "message": {"id": message_id, "model": "stub", "content": content}}


def result(**fields: Any) -> dict[str, Any]:
    """What closes a turn."""
    return {
        "type": "result",
        "subtype": "success",
        "duration_ms": 1,
        "duration_api_ms": 1,
        "is_error": False,
        "num_turns": 1,
        "session_id": "stub-session",
        "user_message_uuid": "PROMPT-ID",
        **fields,
    }
