"""What Claude Code runs while it has the terminal: it says which session begins, and asks what a prompt goes with.

Run as a program of its own for every hook, so it imports nothing but a little of the standard library and knows only
the folder it is given: `hook.py FOLDER begun`, or `hook.py FOLDER PLACE` for one piece of the context. Claude Code
writes what happens to standard input, as JSON.
"""

import json
import sys
from pathlib import Path

BEGUN = "begun"
"""The file with a line for each session that began or was gone back to, and the word that stands for it."""
OPENED = "opened"
"""The file with the id of the session that is resumed; any other one knows nothing yet."""


def piece(folder: Path, place: str, *, is_opened: bool) -> Path:
    """Where a piece of the context is: of what is new, or of all for a session that knows nothing."""
    return folder / f"{'news' if is_opened else 'whole'}-{place}"


def told(folder: Path, place: str, session: str) -> Path:
    """The file that is there once a session was told a piece."""
    return folder / f"told-{place}-{''.join(c for c in session if c.isalnum() or c == '-')}"


def main(folder: Path, word: str) -> None:
    """Do what the word says."""
    event = json.load(sys.stdin)
    if word == BEGUN:
        with (folder / BEGUN).open("a", encoding="utf-8") as file:
            file.write(json.dumps(event) + "\n")
        return
    session = event["session_id"]
    source = piece(folder, word, is_opened=session == (folder / OPENED).read_text(encoding="utf-8"))
    mark = told(folder, word, session)
    if source.is_file() and not mark.exists():
        output = {
            "hookEventName": "UserPromptSubmit",
            "additionalContext": source.read_text(encoding="utf-8"),
        }
        sys.stdout.write(json.dumps({"hookSpecificOutput": output}))
        mark.touch()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
