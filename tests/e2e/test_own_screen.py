"""Claude Code's own screen in the user's terminal: the real program, opened from the chat and left again."""

import os
import signal
import sys
from pathlib import Path

import pytest

from tests.agents.canned_replies import text_reply
from tests.agents.claude_environment import know_own_screen
from tests.agents.loopback_server import ModelServer
from tests.agents.messages_api import MessagesApi, Say, UseTool
from tests.e2e.terminal import SLOW, Terminal, World, nonce_told_to
from tests.e2e.test_terminal import asked, messages
from tests.e2e.test_terminal_hygiene import MODES

OPEN = "Claude Code v"
FRAMES = """
import asyncio
from textual import work
from milk_tui.ui.lending import LendingApp

class App(LendingApp):
    def on_mount(self):
        self.step_aside()

    @work
    async def step_aside(self):
        with self.lend():
            print("lent", flush=True)
            for number in range(40):
                self.screen.styles.background = f"rgb({number},0,0)"
                await asyncio.sleep(0.01)
        self.exit(message="It went on.")

App().run()
"""


@pytest.fixture
def world(world: World) -> World:
    """The world of an end-to-end test, in which Claude Code asks nothing before it opens."""
    know_own_screen(world.home, world.cwd)
    return world


def talk_locally(terminal: Terminal, server: ModelServer, prompt: str, answer: str) -> None:
    server.reply(text_reply(answer))
    terminal.submit(prompt)
    terminal.wait_for(answer)
    terminal.wait_for("ready")


def leave(terminal: Terminal) -> None:
    """End Claude Code and see the whole chat again."""
    terminal.submit("/exit")
    for text in ("to Claude, until F9", "Write, and press Enter", "╭─ need", "^q Quit", "ready"):
        terminal.wait_for(text)


def test_it_is_handed_over_to_and_what_is_done_there_is_a_part_of_the_conversation(
    world: World, server: ModelServer, api: MessagesApi
) -> None:
    (world.cwd / "files.txt").write_text("one two three\n")
    with world.open("--url", server.url, size=(140, 50)) as terminal:
        terminal.wait_for("✓  Local model")
        talk_locally(terminal, server, "How many files are there?", "There are three files.")
        nonce = nonce_told_to(server)
        told = " ".join(world.run("context").split())
        tag = f"<milk:need:{nonce}>be sure about the count</milk:need:{nonce}>"
        api.play(UseTool("Read", {"file_path": str(world.cwd / "files.txt")}), Say(f"Counted once. {tag}"))
        terminal.type("Count them again")
        terminal.press("ctrl+o")
        terminal.wait_for(OPEN, SLOW)
        terminal.wait_for("Counted once.", SLOW)
        assert told in " ".join(api.requests[0].system.split())
        assert "Count them again" in api.requests[0].said
        terminal.resize(100, 40)
        api.play(Say("Counted twice."))
        terminal.submit("And once more")
        terminal.wait_for("Counted twice.")
        leave(terminal)
        for text in ("Counted once.", "Read", "Counted twice.", "be sure about the count"):
            terminal.wait_for(text)
        terminal.wait_for("In Claude Code's own screen · First hand-off:")
        assert "milk:need" not in terminal.screen()
        turn = world.last_turn()
        assert (turn.number, turn.prompt, turn.status) == (3, "And once more", "finished")
        assert turn.receipt and turn.receipt.in_own_screen and turn.usage.cost_usd
        _return_to_local(terminal, server)


def _return_to_local(terminal: Terminal, server: ModelServer) -> None:
    terminal.press("f9")
    terminal.wait_for("to the local agent")
    talk_locally(terminal, server, "Thanks", "You are welcome.")
    assert "Counted twice." in asked(server)
    terminal.press("ctrl+q")
    assert terminal.ended() == 0
    assert not terminal.modes_on() & MODES and terminal.line_settings() == terminal.attributes


def test_a_resumed_session_is_told_what_is_new_and_one_that_is_begun_there_everything(
    world: World, server: ModelServer, api: MessagesApi
) -> None:
    with world.open("--url", server.url, size=(120, 50)) as terminal:
        terminal.wait_for("✓  Local model")
        talk_locally(terminal, server, "What is old?", "This is old news.")
        api.play(Say("I know the old news."))
        terminal.submit("/escalate! Learn it")
        terminal.wait_for("First hand-off:", SLOW)
        terminal.press("f9")
        terminal.wait_for("to the local agent")
        talk_locally(terminal, server, "What is fresh?", "This is fresh news.")
        api.play(Say("I know the fresh news."))
        terminal.submit("/claude Learn that too")
        terminal.wait_for("I know the fresh news.", SLOW)
        before, after = api.requests
        assert messages(after)[: len(messages(before))] == messages(before)
        assert after.system_blocks[1:] == before.system_blocks[1:]
        assert "This is fresh news." in after.said and "This is old news." not in after.said
        api.play(Say("I am new here."), Say("I am still here."))
        terminal.submit("/clear")
        terminal.wait_until_gone("I know the fresh news.")
        terminal.submit("Begin anew")
        terminal.wait_for("I am new here.")
        fresh = api.last.said
        assert "This is fresh news." in fresh and "This is old news." in fresh and "I know" not in fresh
        leave(terminal)
        terminal.wait_for("Resumed:")
        terminal.submit("Who are you?")
        terminal.wait_for("I am still here.", SLOW)
        assert "I am new here." in api.last.said and "Learn that too" not in api.last.said
        assert api.last.said.count("This is fresh news.") == 1
        terminal.press("ctrl+q")
        assert terminal.ended() == 0


def test_it_is_stopped_and_brought_back_with_the_chat_and_killed_without_it(
    world: World, server: ModelServer, api: MessagesApi
) -> None:
    shell = world.environ | {"PS1": "shell> ", "ENV": ""}
    with Terminal(["/bin/sh", "-im"], shell, world.cwd, (120, 40)) as terminal:
        terminal.wait_for("shell>")
        terminal.submit(f"{sys.executable} -m milk_tui --url {server.url}")
        terminal.wait_for("✓  Local model")
        api.play(Say("Hello from its own screen."), Say("Here I am again."))
        terminal.submit("/claude Hello")
        terminal.wait_for("Hello from its own screen.", SLOW)
        [claude] = world.processes("--settings")
        [chat] = world.processes("milk_tui")
        assert os.getpgid(claude) == os.getpgid(chat)
        terminal.press("ctrl+z")
        terminal.wait_for("Stopped")
        assert is_stopped(claude) and is_stopped(chat)
        terminal.submit("fg")
        terminal.wait_until_gone("Stopped")
        terminal.submit("Are you there?")
        terminal.wait_for("Here I am again.")
        terminal.wait_for(lambda: is_written(world, "Here I am again."))
        os.kill(claude, signal.SIGKILL)
        terminal.wait_for("Claude Code was killed by signal 9; what was said there is kept.")
        for text in ("Hello from its own screen.", "Here I am again.", "to Claude, until F9"):
            terminal.wait_for(text)
        terminal.press("ctrl+q")
        assert world.soon_empty("milk_tui")
        terminal.wait_for(lambda: terminal.line_settings() == terminal.attributes)
        terminal.submit("exit")
        assert terminal.ended() == 0


def is_stopped(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def test_the_program_told_to_end_ends_it_too_and_keeps_what_was_said_there(
    world: World, server: ModelServer, api: MessagesApi
) -> None:
    with world.open("--url", server.url) as terminal:
        terminal.wait_for("✓  Local model")
        api.play(Say("Hello from its own screen."))
        terminal.submit("/claude Hello")
        terminal.wait_for("Hello from its own screen.", SLOW)
        terminal.wait_for(lambda: is_written(world, "Hello from its own screen."))
        terminal.signal(signal.SIGTERM)
        assert terminal.ended() == 143
        assert world.soon_empty()
        assert world.last_turn().answer == "Hello from its own screen."
        assert terminal.line_settings() == terminal.attributes


def is_written(world: World, text: str) -> bool:
    """Whether Claude Code has it on disk."""
    return any(text in path.read_text() for path in world.home.glob(".claude/projects/*/*.jsonl"))


def stub(world: World, script: str) -> str:
    """A program in Claude Code's place that does this where its own screen is asked for."""
    path = world.home / "claude"
    path.write_text(f'#!/bin/sh\ncase "$1" in --settings) {script} ;; esac\n')
    path.chmod(0o755)
    return str(path)


def test_ctrl_c_and_the_windows_title_are_whoevers_who_has_the_terminal(
    world: World, server: ModelServer
) -> None:
    path = stub(
        world, "trap 'echo interrupted' INT; printf '\\033]0;theirs\\007'; echo waiting; read line; read line"
    )
    with world.open("--url", server.url, MILK_CLAUDE_PATH=path) as terminal:
        terminal.wait_for("✓  Local model")
        terminal.press("ctrl+o")
        terminal.wait_for("waiting")
        terminal.press("ctrl+c")
        terminal.wait_for("interrupted")
        assert terminal.title == "theirs"
        terminal.press("enter", "enter")
        terminal.wait_for("closed without a turn")
        terminal.wait_for(lambda: terminal.title.endswith("· milk-tui"))
        talk_locally(terminal, server, "Hello", "Still here.")
        terminal.press("ctrl+q")
        assert terminal.ended() == 0


def test_the_chat_goes_on_however_much_it_would_have_drawn_meanwhile(world: World) -> None:
    with Terminal([sys.executable, "-c", FRAMES], world.environ, world.cwd) as terminal:
        terminal.wait_for("lent")
        terminal.wait_for("It went on.")
        assert terminal.ended() == 0
