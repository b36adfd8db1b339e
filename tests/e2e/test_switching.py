"""One session takes another one's place in a real terminal: real processes end, and what was said is on disk."""

from contextlib import closing

from milk_tui.storage.locks import held_elsewhere
from milk_tui.storage.session_store import SessionStore
from tests.agents.canned_replies import text_reply
from tests.agents.loopback_server import ModelServer
from tests.agents.messages_api import MessagesApi, Say
from tests.e2e.terminal import SLOW, World, comes_true
from tests.storage.stored_sessions import new_session, say


def test_another_session_is_opened_searched_and_left_and_claude_ends_with_its_own(
    world: World, server: ModelServer, api: MessagesApi
) -> None:
    other = new_session("other-matter", str(world.cwd))
    say(other, "Where do the cats live?", "In the 日本 house.")
    with closing(SessionStore(world.milk)) as store:
        store.save(other)
    with world.open("--url", server.url, size=(140, 50)) as terminal:
        terminal.wait_for("✓  Claude Code", SLOW)
        server.reply(text_reply("There are some files."))
        terminal.submit("What is in this folder?")
        terminal.wait_for("There are some files.")
        api.play(Say("Claude was here."))
        terminal.submit("/escalate! Count them")
        terminal.wait_for("Claude was here.", SLOW)
        terminal.wait_for("F9 gives the floor back")
        assert world.processes("stream-json")
        first = world.last_session().state.id
        terminal.type("half a thought")

        terminal.press("ctrl+s")
        terminal.wait_for("Where do the cats live?")
        terminal.type("cats")
        terminal.wait_until_gone("open here")
        terminal.press("enter")
        terminal.wait_for("In the 日本 house.")
        assert world.soon_empty("stream-json"), "Claude Code ends with the session it was in"
        assert comes_true(lambda: first not in held_elsewhere(world.milk)), "its lock is given back"

        server.reply(text_reply("They still do."))
        terminal.submit("And now?")
        terminal.wait_for("They still do.")
        terminal.submit("/search claude was")
        terminal.wait_for("Search all sessions")
        terminal.wait_for("Claude was here.")
        terminal.press("enter")
        terminal.wait_for("There are some files.")
        terminal.wait_for("half a thought")

        terminal.press("ctrl+s")
        terminal.wait_for("Where do the cats live?")
        terminal.press("ctrl+d")
        terminal.wait_for("deleted when you quit")
        terminal.press("escape")
        terminal.wait_until_gone("Enter opens")
        terminal.press("ctrl+q")
        assert terminal.ended() == 0
    left = world.run("sessions")
    assert "What is in this folder?" in left and "cats" not in left
