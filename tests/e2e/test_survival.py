"""What is left after the worst: a kill at any moment, a second window, a server that goes away and comes back."""

import signal
import time

from milk_tui.ui.widgets.card import DEAF_SECONDS
from tests.agents.canned_replies import held_reply, loading_reply, text_reply
from tests.agents.loopback_server import ModelServer
from tests.agents.messages_api import Hang, MessagesApi, UseTool
from tests.e2e.terminal import SLOW, World, as_model_server, comes_true

LOST_AT_MOST = 8.0
"""Seconds of a streamed answer that a kill may cost on a machine with other things to do; two on a quiet one."""


def test_a_kill_in_the_middle_of_an_answer_loses_at_most_its_last_seconds(
    world: World, server: ModelServer
) -> None:
    server.reply(text_reply("The first answer."), held_reply("The second ", "answer begins"))
    with world.open("--url", server.url) as terminal:
        terminal.wait_for("✓  Local model")
        terminal.submit("First question")
        terminal.wait_for("The first answer.")
        terminal.submit("Second question")
        terminal.wait_for("The second answer begins")
        assert comes_true(lambda: world.last_turn().answer == "The second answer begins", LOST_AT_MOST)
        terminal.kill()
    server.reply(text_reply("The second answer, whole."))
    with world.open("-c", "--url", server.url) as terminal:
        for text in ("First question", "The first answer.", "Second question", "The second answer begins"):
            terminal.wait_for(text)
        terminal.wait_for("Stopped.")
        assert world.last_turn().status == "interrupted"
        terminal.submit("Go on")
        terminal.wait_for("The second answer, whole.")
        assert "The second answer begins" in str(server.chats[-1].body["messages"])


def test_a_kill_right_after_enter_keeps_the_prompt(world: World, server: ModelServer) -> None:
    server.reply(held_reply())
    with world.open("--url", server.url) as terminal:
        terminal.wait_for("✓  Local model")
        terminal.submit("A question nobody answers")
        assert comes_true(lambda: server.chats)
        terminal.kill()
    with world.open("-c", "--url", server.url) as terminal:
        terminal.wait_for("A question nobody answers")
        assert world.last_turn().status == "interrupted"


def test_the_built_in_model_does_not_outlive_a_killed_program(world: World) -> None:
    with world.open() as terminal:
        terminal.wait_for("SmolLM2")
        terminal.submit("Count from one to one hundred in words.")
        terminal.wait_for("answering", SLOW)
        assert world.processes("embedded")
        terminal.kill()
        assert world.soon_empty(seconds=2.0)


def test_claude_does_not_outlive_a_killed_program(
    world: World, server: ModelServer, api: MessagesApi
) -> None:
    api.play(Hang("Claude has begun to"))
    with world.open("--url", server.url) as terminal:
        terminal.wait_for("✓  Local model")
        terminal.submit("/escalate! Do it")
        terminal.wait_for("Claude has begun", SLOW)
        assert len(world.processes()) > 1
        assert comes_true(lambda: world.last_turn().answer == "Claude has begun to", LOST_AT_MOST)
        terminal.kill()
        assert world.soon_empty()
    with world.open("-c", "--url", server.url) as terminal:
        terminal.wait_for("Claude has begun to")
        assert world.last_turn().status == "interrupted"


def test_a_tool_of_claudes_does_not_outlive_a_killed_program(
    world: World, server: ModelServer, api: MessagesApi
) -> None:
    api.play(UseTool("Bash", {"command": "mkfifo waiting && cat waiting"}))
    with world.open("--url", server.url) as terminal:
        terminal.wait_for("✓  Local model")
        terminal.submit("/escalate! Wait a little")
        terminal.wait_for("Claude wants to use Bash", SLOW)
        terminal.press("tab")
        terminal.wait_for("y Yes, once")
        time.sleep(DEAF_SECONDS)
        terminal.press("y")
        assert comes_true(lambda: world.processes("cat\0waiting"))
        assert comes_true(lambda: world.last_turn().calls, LOST_AT_MOST)
        terminal.kill()
        assert world.soon_empty()
    with world.open("-c", "--url", server.url) as terminal:
        terminal.wait_for("mkfifo waiting")
        turn = world.last_turn()
        assert turn.status == "interrupted"
        assert [m.result.text for m in turn.messages if m.result] == ["Cancelled."]


def test_a_second_window_works_on_a_copy(world: World, server: ModelServer) -> None:
    server.reply(
        text_reply("Original answer."), text_reply("Answer in the copy."), text_reply("Answer at home.")
    )
    with world.open("--url", server.url) as first:
        first.wait_for("✓  Local model")
        first.submit("Original question")
        first.wait_for("Original answer.")
        with world.open("-c", "--url", server.url, size=(200, 30)) as second:
            second.wait_for("Original answer.")
            second.wait_for(f"is open in another window (process {first.pid}).")
            second.wait_for("of it; the other window is not touched.")
            second.submit("Question in the copy")
            second.wait_for("Answer in the copy.")
        first.submit("Question at home")
        first.wait_for("Answer at home.")
        assert "the copy" not in first.screen()
        assert "the copy" not in str(server.chats[-1].body["messages"])
        assert "Original answer." in str(server.chats[-1].body["messages"])


def test_a_server_that_goes_away_and_comes_back_costs_no_word(world: World) -> None:
    server = as_model_server(ModelServer(default=text_reply("Here I am."))).start()
    port = server.port
    with world.open("--url", server.url) as terminal:
        terminal.wait_for("✓  Local model")
        terminal.submit("Are you there?")
        terminal.wait_for("Here I am.")
        server.stop()
        terminal.submit("And now?")
        terminal.wait_for("✗")
        terminal.wait_for("│ And now?")
        with ModelServer(port=port, default=text_reply("Here I am again.")) as back:
            as_model_server(back)
            back.reply(loading_reply())
            terminal.press("enter")
            terminal.wait_for("Loading model")
            terminal.wait_for("│ And now?")
            terminal.press("enter")
            terminal.wait_for("Here I am again.")
            assert back.chats[-1].body["messages"][-1]["content"] == "And now?"
        terminal.signal(signal.SIGTERM)
        assert terminal.ended() == 143


def test_what_was_not_sent_comes_back_after_a_kill_in_a_new_session_and_in_an_old_one(
    world: World, server: ModelServer
) -> None:
    def is_kept() -> bool:
        return any("half a thought" in path.read_text() for path in (world.milk / "drafts").glob("*.json"))

    with world.open("--url", server.url) as terminal:
        terminal.wait_for("✓  Local model")
        terminal.type("half a thought")
        assert comes_true(is_kept)
        terminal.kill()
    server.reply(text_reply("An answer."))
    with world.open("--url", server.url) as terminal:
        terminal.wait_for("│ half a thought")
        terminal.press("enter")
        terminal.wait_for("An answer.")
        terminal.type("half a thought more")
        assert comes_true(is_kept)
        terminal.kill()
    with world.open("-c", "--url", server.url) as terminal:
        terminal.wait_for("│ half a thought more")
