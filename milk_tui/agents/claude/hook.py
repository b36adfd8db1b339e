"""What Claude Code runs while it has the terminal: it says which session begins, and asks what a prompt goes with.

Run as a program of its own for every hook, so it imports nothing but a little of the standard library and knows only
the folder it is given: `hook.py FOLDER begun`, or `hook.py FOLDER PLACE` for one piece of the context. Claude Code
writes what happens to standard input, as JSON.
"""

import json
import os
import sys
import time
from contextlib import suppress
from pathlib import Path

BEGUN = "begun"
"""The word for a session that begins or is gone back to, and the file with a line for each time one did."""
OPENED = "opened"
"""The file with the id of the session that is resumed; any other one knows nothing yet."""

WAIT_SECONDS = 5.0
"""How long a piece waits for the one before it."""


def piece(folder: Path, place: str, *, is_opened: bool) -> Path:
    """Where a piece of the context is: of what is new, or of all for a session that knows nothing."""
    return folder / f"{'news' if is_opened else 'whole'}-{place}"


def told(folder: Path, place: str, session: str) -> Path:
    """The file that is there once a session was told a piece."""
    return folder / f"told-{place}-{''.join(c for c in session if c.isalnum() or c == '-')}"


def begun(folder: Path) -> dict[str, str]:
    """The sessions that were open and the files they are kept in, in the order in which they were opened first."""
    path = folder / BEGUN
    found: dict[str, str] = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        with suppress(ValueError):  # it was killed while it wrote
            found |= {json.loads(line)["session_id"]: json.loads(line)["transcript_path"]}
    return found


def main(folder: Path, word: str) -> None:
    """Do what the word says."""
    event = json.load(sys.stdin)
    if word == BEGUN:
        line = json.dumps({name: event[name] for name in ("session_id", "transcript_path")})
        with (folder / BEGUN).open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")
        return
    session = event["session_id"]
    source = piece(folder, word, is_opened=session == (folder / OPENED).read_text(encoding="utf-8"))
    mark = told(folder, word, session)
    if source.is_file() and not mark.exists():
        _wait_for_the_one_before(folder, int(word), session)
        output = {
            "hookEventName": "UserPromptSubmit",
            "additionalContext": source.read_text(encoding="utf-8"),
        }
        sys.stdout.write(json.dumps({"hookSpecificOutput": output}))
        mark.write_text(str(os.getpid()), encoding="ascii")


def _wait_for_the_one_before(folder: Path, place: int, session: str) -> None:
    """Claude Code runs hooks side by side and takes what they say as they end; pieces must come in order."""
    before, deadline = told(folder, str(place - 1), session), time.monotonic() + WAIT_SECONDS
    while place and _is_to_come(before) and time.monotonic() < deadline:
        time.sleep(0.005)


def _is_to_come(mark: Path) -> bool:
    """Whether the hook that makes this mark has not ended yet, as far as Claude Code knows."""
    try:
        pid = int(mark.read_text(encoding="ascii"))
        if sys.platform != "win32":  # where this would end it
            os.kill(pid, 0)
            return True
    except ProcessLookupError:
        return False
    except (FileNotFoundError, ValueError):
        return True
    return False


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
