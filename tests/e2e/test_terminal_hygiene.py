"""What the program does to the terminal: it gives it back whatever ends it, and nothing foreign ever drives it."""

import json
import re
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.agents.canned_replies import held_reply, text_reply
from tests.agents.loopback_server import ModelServer
from tests.agents.messages_api import Hang, MessagesApi, Say, UseTool
from tests.e2e.terminal import SLOW, Terminal, World, as_model_server, comes_true, nonce_told_to

MODES = {1000, 1003, 1004, 1006, 1049, 2004, 25}
"""Mouse, focus, alternate screen, paste, and the hidden cursor: all turned on by the program."""
OUR_BUG = """
from milk_tui.ui.screens.chat import ChatScreen

def submit(self, event):
    raise RuntimeError("the secret plan failed")

ChatScreen.submit.__code__ = submit.__code__
from milk_tui.cli import main
main()
"""


def assert_given_back(terminal: Terminal) -> None:
    """The shell finds its terminal as it was, and nothing but a sentence on it."""
    assert MODES <= {int(number) for number in re.findall(rb"\x1b\[\?(\d+)[hl]", terminal.raw)}
    assert not terminal.modes_on() & MODES
    assert terminal.line_settings() == terminal.attributes
    assert terminal.raw.count(b"\x1b[>") == terminal.raw.count(b"\x1b[<u")
    for words in ("Traceback", "Error", "never retrieved", "loop is closed", "never awaited", "Task"):
        assert words not in terminal.afterwards


def press_ctrl_c_twice(terminal: Terminal) -> None:
    terminal.press("ctrl+c")
    terminal.wait_for("Press Ctrl+C again to quit.")
    terminal.press("ctrl+c")


@pytest.mark.parametrize(
    ("end", "status"),
    [
        pytest.param(press_ctrl_c_twice, 0, id="ctrl_c_twice"),
        pytest.param(lambda terminal: terminal.press("ctrl+d"), 0, id="ctrl_d"),
        pytest.param(lambda terminal: terminal.signal(signal.SIGTERM), 143, id="sigterm"),
        pytest.param(lambda terminal: terminal.signal(signal.SIGHUP), 129, id="sighup"),
        pytest.param(lambda terminal: terminal.signal(signal.SIGINT), 130, id="sigint"),
    ],
)
def test_the_terminal_is_given_back(
    world: World, server: ModelServer, end: Callable[[Terminal], None], status: int
) -> None:
    with world.open("--url", server.url) as terminal:
        terminal.wait_for("✓  Local model")
        end(terminal)
        assert terminal.ended() == status
        assert_given_back(terminal)
        assert world.soon_empty()


def test_a_mistake_of_ours_ends_in_a_sentence_and_a_log(world: World, server: ModelServer) -> None:
    command = [sys.executable, "-c", OUR_BUG, "--url", server.url]
    with Terminal(command, world.environ, world.cwd) as terminal:
        terminal.wait_for("✓  Local model")
        terminal.submit("Hello")
        assert terminal.ended() == 1
        assert_given_back(terminal)
        log = world.milk / "logs" / "milk-tui.log"
        assert "milk-tui made a mistake" in terminal.afterwards
        assert str(log) in terminal.afterwards
        assert "the secret plan failed" in log.read_text()


def test_closing_the_window_ends_everything(world: World, server: ModelServer) -> None:
    server.reply(held_reply("Half", " an answer"))
    with world.open("--url", server.url) as terminal:
        terminal.wait_for("✓  Local model")
        terminal.submit("Hello")
        terminal.wait_for("Half an answer")
        terminal.hang_up()
        terminal.process.wait(5)
        assert world.soon_empty()
        assert world.last_turn().answer == "Half an answer"


def test_a_suspended_program_gives_the_terminal_back_and_takes_it_again(
    world: World, server: ModelServer
) -> None:
    with world.open("--url", server.url) as terminal:
        terminal.wait_for("✓  Local model")
        terminal.signal(signal.SIGTSTP)
        assert comes_true(terminal.is_stopped)
        terminal.wait_for(lambda: not terminal.modes_on() & MODES)
        assert terminal.line_settings() == terminal.attributes
        written = len(terminal.raw)
        terminal.signal(signal.SIGCONT)
        terminal.wait_for(lambda: terminal.modes_on() >= MODES)
        terminal.wait_for(lambda: b"Local model" in terminal.raw[written:])
        server.reply(text_reply("Still here."))
        terminal.submit("Hello again")
        terminal.wait_for("Still here.")
        terminal.press("ctrl+q")
        assert terminal.ended() == 0
        assert_given_back(terminal)
