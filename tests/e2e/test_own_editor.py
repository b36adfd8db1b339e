"""The prompt in the user's own editor, in a real terminal: the editor has it while it runs, and then the chat again."""

import os
import signal

from tests.agents.canned_replies import DONE, finish, stream, text
from tests.agents.loopback_server import Gate, ModelServer
from tests.e2e.terminal import World
from tests.e2e.test_terminal_hygiene import MODES

EDITOR = """#!/bin/sh
ps -o pgid= -p $$ >"$HOME/group"
echo "editing: $(cat "$1")"
read line
echo "$line" >"$1"
echo "saved: $line"
read line
"""


def editor(world: World) -> str:
    path = world.home / "editor"
    path.write_text(EDITOR)
    path.chmod(0o755)
    return str(path)


def test_the_editor_has_the_terminal_while_an_answer_comes_and_the_chat_has_it_again(
    world: World, server: ModelServer
) -> None:
    with world.open("--url", server.url, EDITOR=editor(world), size=(120, 40)) as terminal:
        terminal.wait_for("✓  Local model")
        gate = Gate()
        server.reply(stream(text("One two"), gate, text(" three four."), finish(), DONE))
        terminal.submit("Count")
        terminal.wait_for("One two")
        terminal.type("Second prompt")
        terminal.press("f4")
        terminal.wait_for("editing: Second prompt")
        assert int((world.home / "group").read_text()) == os.getpgid(terminal.pid)
        gate.open()
        terminal.type("Written elsewhere")
        terminal.press("enter")
        terminal.wait_for("saved: Written elsewhere")
        terminal.press("enter")
        for words in ("│ Written elsewhere", "One two three four.", "╭─ need", "^q Quit"):
            terminal.wait_for(words)
        terminal.wait_until_gone("Second prompt")
        terminal.press("ctrl+q")
        assert terminal.ended() == 0
        assert not terminal.modes_on() & MODES and terminal.line_settings() == terminal.attributes


def test_the_program_told_to_end_ends_the_editor_and_keeps_what_was_saved_in_it(
    world: World, server: ModelServer
) -> None:
    with world.open("--url", server.url, EDITOR=editor(world)) as terminal:
        terminal.wait_for("✓  Local model")
        terminal.press("f4")
        terminal.wait_for("editing:")
        terminal.submit("Half a prompt")
        terminal.wait_for("saved: Half a prompt")
        terminal.signal(signal.SIGTERM)
        assert terminal.ended() == 143
        assert world.soon_empty()
        assert terminal.line_settings() == terminal.attributes
    with world.open("--url", server.url) as terminal:
        terminal.wait_for("Half a prompt")
