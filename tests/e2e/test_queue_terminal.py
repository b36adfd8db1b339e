"""The queue in a real terminal, with the real Claude Code and over a kill: each text once, under its own prompt."""

import re

from tests.agents.canned_replies import held_reply, text_reply
from tests.agents.loopback_server import ModelServer
from tests.agents.messages_api import Hang, MessagesApi, Refuse, Say
from tests.e2e.terminal import SLOW, Terminal, World, comes_true

FIRST = "First is done. " + "It took some work, which is worth a summary. " * 5


def seconds_left(terminal: Terminal) -> int:
    """What the countdown says; none are left once the request is made again."""
    found = re.search(r"trying again in (\d+) s", terminal.screen())
    return int(found[1]) if found else 0


def test_claude_gets_each_queued_text_once_under_its_own_prompt_and_forgets_what_is_taken_back(
    world: World, server: ModelServer, api: MessagesApi
) -> None:
    api.play(Refuse(529, "overloaded", "overloaded_error", retry_after=8), Say(FIRST))
    api.play(Hang("Second begins"), Say("Third is done."))
    with world.open("--url", server.url, MILK_CLAUDE_SILENCE_SECONDS="1") as terminal:
        terminal.wait_for("✓  Local model")
        terminal.submit("/escalate! Do the first")
        terminal.wait_for("(attempt 1 of 3)", SLOW)
        at_first = seconds_left(terminal)
        assert at_first
        terminal.submit("Do the second")
        terminal.wait_for("→ Claude Do the second")
        terminal.wait_for(lambda: seconds_left(terminal) < at_first)
        terminal.wait_for("First is done.", SLOW)
        terminal.wait_for("Second begins")
        terminal.wait_for("silent for")
        terminal.submit("Do the third")
        terminal.wait_for("→ Claude Do the third")
        terminal.press("escape")
        terminal.wait_for("Held: you stopped the turn.")
        terminal.press("enter")
        terminal.wait_for("Third is done.")
        terminal.wait_until_gone("→ Claude Do the third")
        assert len(api.requests) == 4
        for text in ("Do the first", "Do the second", "Do the third"):
            assert api.last.said.count(text) == 1
        api.play(Say("Third is done otherwise."))
        terminal.submit("/undo")
        terminal.wait_for("│ Do the third")
        terminal.wait_for("a fresh one.")
        terminal.press("enter")
        terminal.wait_for("Third is done otherwise.", SLOW)
        terminal.wait_for("ready")
        terminal.press("ctrl+q")
        assert terminal.ended() == 0
    turns = world.last_session().turns
    assert [(turn.prompt, turn.status, turn.answer) for turn in turns] == [
        ("Do the first", "finished", FIRST),
        ("Do the second", "interrupted", "Second begins"),
        ("Do the third", "finished", "Third is done otherwise."),
    ]
    assert "First is done." in api.last.system
    assert "Third is done." not in api.last.system + api.last.said


def test_a_kill_keeps_what_is_queued_and_the_next_start_sends_it_once_when_asked(
    world: World, server: ModelServer
) -> None:
    server.reply(held_reply(), text_reply("Second is done."), text_reply("Third is done."))
    with world.open("--url", server.url) as terminal:
        terminal.wait_for("✓  Local model")
        terminal.submit("Do the first")
        assert comes_true(lambda: server.chats)
        terminal.submit("Do the second")
        terminal.wait_for("→ local  Do the second")
        terminal.submit("Do the third")
        terminal.wait_for("→ local  Do the third")
        assert comes_true(lambda: not list(world.milk.glob("drafts/*")))
        terminal.kill()
    with world.open("-c", "--url", server.url) as terminal:
        terminal.wait_for("Held: the session was reopened.")
        terminal.wait_for("→ local  Do the second")
        assert len(server.chats) == 1
        terminal.press("enter")
        terminal.wait_for("Second is done.")
        terminal.wait_for("Third is done.")
        terminal.wait_until_gone("→ local  Do the third")
    asked = [chat.body["messages"][-1]["content"] for chat in server.chats]
    assert asked == ["Do the first", "Do the second", "Do the third"]
    assert [turn.prompt for turn in world.last_session().turns] == asked
    assert world.last_session().state.queue == ()
