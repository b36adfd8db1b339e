"""The chat line by line in a real terminal: nothing but words comes out, and nothing but a number means yes."""

import time

from milk_tui.cli.plain.asking import DEAF_SECONDS
from tests.agents.canned_replies import held_reply, text_reply
from tests.agents.loopback_server import ModelServer
from tests.agents.messages_api import MessagesApi, Say
from tests.e2e.terminal import SLOW, World
from tests.e2e.test_terminal_tools import calls


def test_a_line_is_answered_in_plain_words_and_the_session_is_kept(world: World, server: ModelServer) -> None:
    server.reply(text_reply("Hello from loopback."))
    with world.open("--plain", "--url", server.url) as terminal:
        terminal.wait_for("To Local agent:")
        terminal.submit("Hello there")
        terminal.wait_for("Hello from loopback.")
        terminal.submit("/theme")
        terminal.wait_for("needs the screen")
        assert b"\x1b" not in terminal.raw and "│" not in terminal.raw.decode()
        terminal.press("ctrl+d")
        assert terminal.ended() == 0
    assert world.last_turn().answer == "Hello from loopback."


def test_a_question_is_answered_by_its_number_and_by_nothing_else(
    world: World, tool_server: ModelServer
) -> None:
    with world.open("--plain", "--url", tool_server.url) as terminal:
        terminal.wait_for("To Local agent:")
        for _ in range(2):
            calls(tool_server, "run_command", command="echo ran >> ran.txt")
            tool_server.reply(text_reply("That is all."))
        terminal.submit("Run it")
        terminal.wait_for("Command: echo ran >> ran.txt")
        terminal.wait_for("Number, or Enter for no:")
        time.sleep(DEAF_SECONDS)
        terminal.submit("yes of course")
        terminal.wait_for("That is all.")
        assert not (world.cwd / "ran.txt").exists()
        assert "yes of course" in str(tool_server.chats[-1].body["messages"])
        before = terminal.raw.count(b"Number, or Enter")
        terminal.submit("Run it now")
        terminal.wait_for(lambda: terminal.raw.count(b"Number, or Enter") > before)
        time.sleep(DEAF_SECONDS)
        terminal.press("1", "enter")
        terminal.wait_for(lambda: (world.cwd / "ran.txt").exists())


def test_ctrl_c_stops_the_turn_and_twice_it_leaves(world: World, server: ModelServer) -> None:
    server.reply(held_reply("Half", " an answer"))
    with world.open("--plain", "--url", server.url) as terminal:
        terminal.wait_for("To Local agent:")
        terminal.submit("Hello")
        terminal.wait_for("Half an answer")
        terminal.press("ctrl+c")
        terminal.wait_for("Stopped.")
        terminal.wait_for(lambda: terminal.raw.count(b"To Local agent:") == 2)
        terminal.press("ctrl+c")
        terminal.wait_for("again to quit")
        terminal.press("ctrl+c")
        assert terminal.ended() == 0


def test_what_is_handed_over_is_read_out_and_sent_only_after_a_yes(
    world: World, server: ModelServer, api: MessagesApi
) -> None:
    api.play(Say("Claude was here."))
    with world.open("--plain", "--url", server.url, size=(100, 60)) as terminal:
        terminal.wait_for("To Local agent:")
        terminal.submit("/escalate Say hello")
        terminal.wait_for("Type yes to send it:")
        terminal.wait_for("You are Claude Code")
        terminal.submit("no")
        terminal.wait_for("Nothing was sent.")
        assert not api.requests
        terminal.submit("/escalate Say hello")
        terminal.wait_for(lambda: terminal.raw.count(b"Type yes to send it:") == 2)
        terminal.submit("yes")
        terminal.wait_for("Claude was here.", SLOW)
        terminal.wait_for("First hand-off:", SLOW)
        terminal.wait_for("To Claude:")
        terminal.submit("/quit")
        assert terminal.ended() == 0
