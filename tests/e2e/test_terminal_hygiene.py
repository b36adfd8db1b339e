"""What the program does to the terminal: it gives it back whatever ends it, and nothing foreign ever drives it."""

import re
import signal
import sys
import time
from collections.abc import Callable

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
    assert {int(number) for number in re.findall(rb"\x1b\[\?(\d+)[hl]", terminal.raw)} >= MODES
    assert not terminal.modes_on() & MODES
    assert terminal.line_settings() == terminal.attributes
    assert terminal.raw.count(b"\x1b[>") == terminal.raw.count(b"\x1b[<u")
    for words in ("Traceback", "never retrieved", "loop is closed", "never awaited", "Task"):
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


def _stopped(terminal: Terminal) -> bool:
    """Ask it to stop; asked while it still starts, it may have no ear for that."""
    terminal.signal(signal.SIGTSTP)
    return comes_true(terminal.is_stopped, 3.0)


def test_a_suspended_program_gives_the_terminal_back_and_takes_it_again(
    world: World, server: ModelServer
) -> None:
    with world.open("--url", server.url) as terminal:
        terminal.wait_for("✓  Local model")
        assert comes_true(lambda: _stopped(terminal))
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


def test_quitting_in_the_middle_of_anything_ends_everything(
    world: World, server: ModelServer, api: MessagesApi
) -> None:
    for begin in (_stream_an_answer, _let_claude_start, _let_claude_work, _be_asked, _look_at_the_preview):
        with world.open("--url", server.url) as terminal:
            terminal.wait_for("✓  Local model")
            begin(terminal, server, api)
            terminal.press("ctrl+q")
            assert terminal.ended() == 0
            assert_given_back(terminal)
            assert world.soon_empty(), begin.__name__


def _stream_an_answer(terminal: Terminal, server: ModelServer, api: MessagesApi) -> None:
    server.reply(held_reply("Half", " an answer"))
    terminal.submit("Hello")
    terminal.wait_for("Half an answer")


def _let_claude_start(terminal: Terminal, server: ModelServer, api: MessagesApi) -> None:
    terminal.submit("/escalate! Something urgent")
    terminal.wait_for("starting")


def _let_claude_work(terminal: Terminal, server: ModelServer, api: MessagesApi) -> None:
    api.play(Hang("Claude thinks about"))
    terminal.submit("/escalate! Something hard")
    terminal.wait_for("Claude thinks", SLOW)


def _be_asked(terminal: Terminal, server: ModelServer, api: MessagesApi) -> None:
    api.play(UseTool("Bash", {"command": "touch asked"}))
    terminal.submit("/escalate! Something else")
    terminal.wait_for("Claude wants to use Bash", SLOW)


def _look_at_the_preview(terminal: Terminal, server: ModelServer, api: MessagesApi) -> None:
    terminal.type("Please")
    terminal.press("ctrl+g")
    terminal.wait_for("Hand over to Claude Code")


HOSTILE = (
    "one\x1b]52;c;ZXZpbA==\x07two\x1b[2Jthree\x9b2Jfour\x1bcfive"
    "\x1b]8;;http://evil.example\x1b\\six\x1b]8;;\x1b\\seven\x07eight\x1b]0;nine"
)
VISIBLE = "onetwothreefourfivesixseveneight"
FORBIDDEN = re.compile("\x1b\\]|\x1b\\[2J|\x9b|\x1bc|\x07|ZXZpbA|evil")
OURS = re.compile("\x1b\\]22;[a-z-]+\x07|\x1b\\]2;[^\x00-\x1f\x7f-\x9f]* · milk-tui\x07")
"""The sequences of the kind that the program itself sends: the mouse pointer's shape and the window's title."""


def assert_nothing_drove(terminal: Terminal) -> None:
    """None of the hostile sequences is in what the program has written."""
    written = OURS.sub("", terminal.raw.decode())
    found = [written[match.start() - 60 :][:120] for match in FORBIDDEN.finditer(written)]
    assert found == []


def test_no_text_from_outside_drives_the_terminal(
    world: World, server: ModelServer, api: MessagesApi
) -> None:
    as_model_server(server, model=f"Model{HOSTILE}")
    (world.cwd / "hostile.txt").write_text(f"Read{HOSTILE}\n")
    with world.open("--url", server.url, size=(160, 60)) as terminal:
        terminal.wait_for("✓  Local model")
        server.reply(text_reply(f"Answer {HOSTILE}"))
        terminal.submit("Hello")
        terminal.wait_for(f"Answer {VISIBLE}")
        nonce = nonce_told_to(server)
        server.reply(text_reply(f"Done. <milk:need:{nonce}>Need {HOSTILE}</milk:need:{nonce}>"))
        terminal.submit("Again")
        terminal.wait_for("Done.")
        api.play(UseTool("Read", {"file_path": str(world.cwd / "hostile.txt")}), Say(f"Claude {HOSTILE}"))
        terminal.submit("/escalate! Read it")
        terminal.wait_for("First hand-off:", SLOW)
        for word in ("Model", "Need ", "Read", "Claude "):
            terminal.wait_for(f"{word}{VISIBLE}")
        terminal.press("f9")
        terminal.wait_for("to the local agent")
        terminal.press("ctrl+g")
        terminal.wait_for("Hand over to Claude Code")
        assert_nothing_drove(terminal)
    with world.open("-c", "--url", server.url, size=(160, 60)) as terminal:
        terminal.wait_for("First hand-off:")
        assert_nothing_drove(terminal)


def test_no_paste_and_no_broken_mouse_report_sends_or_types_anything(
    world: World, server: ModelServer
) -> None:
    with world.open("--url", server.url) as terminal:
        terminal.wait_for("✓  Local model")
        server.reply(text_reply("Three pasted."), text_reply("Three burst."))
        terminal.paste("alpha\nbeta\ngamma\n")
        _assert_three_lines_wait(terminal, server, "alpha", "beta", "gamma")
        terminal.press("enter")
        terminal.wait_for("Three pasted.")
        terminal.write(b"delta\repsilon\rzeta\r")
        _assert_three_lines_wait(terminal, server, "delta", "epsilon", "zeta")
        terminal.press("enter")
        terminal.wait_for("Three burst.")
        server.reply(held_reply(*["word "] * 50))
        terminal.submit("Stream")
        terminal.wait_for("word word")
        terminal.type("a draft")
        terminal.write(b"\x1b[<")
        time.sleep(0.1)
        terminal.write(b"65;59;28M")
        terminal.write(b"\x1b[<64;20;10M\x1b[<65;20;10M" * 100)
        terminal.type(" stays")
        assert "│ a draft stays  " in terminal.line_with("a draft")
        terminal.press("escape")
        terminal.wait_for("Stopped.")
        said = [str(chat.body["messages"][-1]["content"]).split() for chat in server.chats]
        assert said == [["alpha", "beta", "gamma"], ["delta", "epsilon", "zeta"], ["Stream"]]


def _assert_three_lines_wait(terminal: Terminal, server: ModelServer, *lines: str) -> None:
    before = len(server.chats)
    for line in lines:
        terminal.wait_for(f"│ {line}  ")
    time.sleep(0.2)
    assert len(server.chats) == before
    assert all(f"│ {line}  " in terminal.screen() for line in lines)
