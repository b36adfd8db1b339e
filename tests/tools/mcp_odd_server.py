"""Odd MCP servers, written by hand and quick to start. Run as a program with the name of what is odd.

Each speaks the older protocol by lines. Those that answer offer the tool `hello`, and more tools as their name says.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any


def say(**message: Any) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def tools(odd: str, listings: int) -> list[dict[str, Any]]:
    plain = {"inputSchema": {"type": "object"}}
    found = [{"name": "hello", "description": "Say hello.", **plain}]
    if odd in ("restless", "changing") and listings > 1:
        found.append({"name": "later", **plain})
    if odd == "greedy":
        found = [{"name": f"tool {n}", "description": "x" * 5_000, **plain} for n in range(300)]
    return found


def answer(odd: str) -> None:
    listings = 0
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        match message["method"]:
            case "initialize":
                result: dict[str, Any] = {
                    "protocolVersion": "2025-06-18",
                    "capabilities": {"tools": {"listChanged": True}},
                    "serverInfo": {"name": odd, "version": "1"},
                }
            case "tools/list":
                listings += 1
                result = {"tools": tools(odd, listings)}
            case "tools/call":
                if odd == "deaf":
                    time.sleep(600)
                result = {
                    "content": [
                        {"type": "text", "text": f"{odd} {os.environ.get('SECRET', '')} {Path.cwd()}"}
                    ]
                }
            case _:
                say(id=message["id"], error={"code": -32601, "message": "Method not found"})
                continue
        say(id=message["id"], result=result)
        if odd == "restless" and message["method"] == "tools/list":
            say(method="notifications/tools/list_changed")
        if odd == "changing" and message["method"] == "tools/call":
            say(method="notifications/tools/list_changed")
        if odd == "fickle" and message["method"] == "tools/list":
            sys.exit(f"out of memory at {listings}")


def flood(odd: str) -> None:
    while True:
        match odd:
            case "garbage":
                print("\x1b[2Jwelcome to the machine", flush=True)
            case "endless":
                sys.stdout.write("x" * 65_536)
            case "binary":
                sys.stdout.buffer.write(os.urandom(4_096))
            case _:
                return


def main(odd: str) -> None:
    flood(odd)
    match odd:
        case "hanging":
            time.sleep(600)
        case "dying":
            sys.exit("no such \x1b[31mdatabase, password hunter2-hunter2")
        case "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        case "talkative":
            print("welcome\n\n{}\n[1]\n\xff", flush=True)
        case "muttering":
            print("I am a web server", flush=True)
            time.sleep(600)
        case "stubborn":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
    answer(odd)
    if odd == "stubborn":
        time.sleep(600)


if __name__ == "__main__":
    main(sys.argv[1])
