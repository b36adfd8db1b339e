"""The whole product in a real terminal: the story from the first frame to the reopened session, and every first run.

The local model is a real server on loopback or the real built-in one; Claude Code is the real program.
"""

import re
import time
from pathlib import Path
from typing import Any

from milk_tui.ui.widgets.card import DEAF_SECONDS
from tests.agents.canned_replies import held_reply, text_reply
from tests.agents.loopback_server import ModelServer
from tests.agents.messages_api import MessagesApi, Request, Say, UseTool
from tests.e2e.terminal import SLOW, Terminal, World, as_model_server, comes_true, nonce_told_to


def asked(server: ModelServer) -> str:
    """Everything that the last request told the local model."""
    return str(server.chats[-1].body["messages"])


def without_cache_marks(value: Any) -> Any:
    """What a request says, without the marks that say how far it should be kept."""
    if isinstance(value, dict):
        return {key: without_cache_marks(item) for key, item in value.items() if key != "cache_control"}
    return [without_cache_marks(item) for item in value] if isinstance(value, list) else value


def messages(request: Request) -> list[Any]:
    """A request's messages, each in the long form."""
    found: list[Any] = without_cache_marks(request.messages)
    for message in found:
        if isinstance(message["content"], str):
            message["content"] = [{"type": "text", "text": message["content"]}]
    return found


def test_the_whole_story_from_the_first_frame_to_the_reopened_session(
    world: World, server: ModelServer, api: MessagesApi
) -> None:
    written = world.cwd / "count.txt"
    with world.open("--url", server.url, size=(140, 80)) as terminal:
        terminal.wait_for("✓  Claude Code", SLOW)
        _talk_locally(terminal, server)
        told = _look_at_the_preview(terminal, world)
        api.play(
            UseTool("Write", {"file_path": str(written), "content": "three\n"}, text="Now I write it."),
            Say("The count is in the file."),
        )
        _hand_over(terminal, written)
        first = api.requests[0]
        assert told in " ".join(first.system.split())
        assert "Write the count to a file" in first.said
        _return_to_local(terminal, server)
        api.play(Say("I have checked the parity."))
        terminal.type("Check what it said")
        _hand_over_again(terminal, api)
        terminal.submit("/quit")
        assert terminal.ended() == 0
    api.play(Say("I remember the count."))
    _reopen(world, server, api)


def _talk_locally(terminal: Terminal, server: ModelServer) -> None:
    server.reply(text_reply("There are some files."))
    terminal.submit("What is in this folder?")
    terminal.wait_for("There are some files.")
    nonce = nonce_told_to(server)
    need = (
        f"Let me see. <milk:need:{nonce}>know how many files there are</milk:need:{nonce}>It takes counting."
    )
    server.reply(text_reply(need))
    terminal.submit("How many?")
    terminal.wait_for("It takes counting.")
    terminal.wait_for("know how many files there are")
    assert "Nobody has said yet" not in terminal.screen()
    assert "milk:need" not in terminal.screen()


def _look_at_the_preview(terminal: Terminal, world: World) -> str:
    """Open the hand-off preview and leave it; what it says is what would be sent."""
    terminal.type("Write the count to a file")
    terminal.press("ctrl+g")
    terminal.wait_for("Enter sends")
    shown = terminal.dialog("Hand over to Claude Code")
    told = world.run("context")
    for line in told.splitlines():
        assert " ".join(line.split()) in shown
    assert "Write the count to a file" in shown
    terminal.press("escape")
    terminal.wait_until_gone("Enter sends")
    terminal.wait_for("Write the count to a file")
    return " ".join(told.split())


def _hand_over(terminal: Terminal, written: Path) -> None:
    terminal.press("ctrl+g")
    terminal.wait_for("Enter sends")
    terminal.press("enter")
    terminal.wait_for("Claude wants to use Write", SLOW)
    terminal.wait_for("Now I write it.")
    terminal.type("yes yyy")
    time.sleep(DEAF_SECONDS)
    terminal.type(" sss nnn")
    terminal.wait_for("Claude wants to use Write")
    assert not written.exists()
    terminal.press("tab")
    terminal.wait_for("y Yes, once")
    terminal.press("y")
    terminal.wait_for("The count is in the file.", SLOW)
    terminal.wait_for("First hand-off:")
    assert written.read_text() == "three\n"
    terminal.wait_for("yes yyy sss nnn")


def _return_to_local(terminal: Terminal, server: ModelServer) -> None:
    terminal.press(*["backspace"] * len("yes yyy sss nnn"))
    terminal.press("f9")
    terminal.wait_for("to the local agent")
    _look_at_what_changed(terminal)
    server.reply(text_reply("It is an odd number."))
    terminal.submit("Is three odd?")
    terminal.wait_for("It is an odd number.")
    assert "The count is in the file." in asked(server)
    assert "count.txt" in asked(server)


def _look_at_what_changed(terminal: Terminal) -> None:
    terminal.wait_for("Changed: count.txt")
    terminal.press("tab")
    terminal.wait_for("f Files")
    terminal.press("f")
    terminal.wait_for("+ count.txt · created")
    terminal.wait_for("1 +three")
    terminal.press("escape")
    terminal.wait_until_gone("1 +three")
    terminal.press("escape")
    terminal.wait_for("Tab, then:")


def _hand_over_again(terminal: Terminal, api: MessagesApi) -> None:
    before = api.last
    terminal.press("ctrl+g")
    terminal.wait_for("Resumes Claude")
    terminal.press("enter")
    terminal.wait_for("I have checked the parity.", SLOW)
    terminal.wait_for("Resumed:")
    after = api.last
    earlier = messages(before)
    assert messages(after)[: len(earlier)] == earlier
    assert after.system_blocks == before.system_blocks
    assert "It is an odd number." in after.said
    assert "It is an odd number." not in before.said


def _reopen(world: World, server: ModelServer, api: MessagesApi) -> None:
    count = len(api.requests)
    with world.open("-c", "--url", server.url, size=(140, 80)) as terminal:
        terminal.wait_for("to Claude")
        for text in (
            "How many?",
            "The count is in the file.",
            "It is an odd number.",
            "I have checked the parity.",
        ):
            terminal.wait_for(text)
        terminal.wait_for("know how many files there are")
        terminal.submit("What was the count?")
        terminal.wait_for("I remember the count.", SLOW)
        assert len(api.requests) == count + 1
        assert "I have checked the parity." in api.last.said
        terminal.press("ctrl+q")
        assert terminal.ended() == 0


def test_a_preview_opened_right_behind_enter_does_not_stop_the_turn(
    world: World, server: ModelServer
) -> None:
    server.reply(held_reply("Half", " an answer"))
    with world.open("--url", server.url) as terminal:
        terminal.wait_for("✓  Local model")
        terminal.type("Hello")
        terminal.press("enter", "ctrl+g")
        terminal.wait_for("Enter sends")
        assert comes_true(lambda: server.chats)
        terminal.submit("Something else")
        terminal.wait_for("A turn is running.")
        terminal.wait_for("│ Something else")
        assert not server.chats[0].is_closed
        terminal.press("ctrl+q")
        assert terminal.ended() == 0


def test_the_built_in_model_answers_in_a_fresh_home_without_any_setting(world: World) -> None:
    with world.open() as terminal:
        terminal.wait_for("SmolLM2")
        terminal.submit("Say hello.")
        terminal.wait_for("tok/s", SLOW)
        terminal.wait_for("ready", SLOW)
        turn = world.last_turn()
        assert turn.status == "finished"
        terminal.wait_for(turn.answer.split()[0])
        assert world.processes("embedded")
        terminal.press("ctrl+q")
        assert terminal.ended() == 0
    assert world.soon_empty()


def test_with_nobody_to_answer_the_checklist_keeps_the_prompt_and_takes_an_address(world: World) -> None:
    with world.open(MILK_EMBEDDED="false", MILK_CLAUDE_PATH=str(world.home / "claude")) as terminal:
        terminal.wait_for("✗  Local model", SLOW)
        terminal.wait_for("✗  Claude Code")
        terminal.submit("Is anybody there?")
        terminal.wait_for("Press the key")
        terminal.wait_for("Is anybody there?")
        with ModelServer(default=text_reply("Now there is.")) as started:
            as_model_server(started)
            terminal.press("u")
            terminal.wait_for("The address of your model server")
            terminal.submit(f"127.0.0.1:{started.port}")
            terminal.wait_for("✓  Local model")
            terminal.wait_for("Is anybody there?")
            terminal.press("enter")
            terminal.wait_for("Now there is.")
            assert [chat.body["messages"][-1]["content"] for chat in started.chats] == ["Is anybody there?"]
        terminal.press("ctrl+q")
        assert terminal.ended() == 0


def test_prompt_need_and_gauge_are_there_at_every_size(world: World, server: ModelServer) -> None:
    with world.open("--url", server.url, size=(200, 60)) as terminal:
        terminal.wait_for("✓  Local model")
        terminal.submit("/need count the stars")
        terminal.wait_for("count the stars")
        for size in ((200, 60), (80, 24), (60, 20), (100, 30)):
            terminal.resize(*size)
            for text in (
                "count the stars",
                "to the local agent",
                "Write, and press Enter",
                "ready",
            ):
                terminal.wait_for(text)
            terminal.wait_for(lambda: re.search(r"of 17(,548|\.5k)", terminal.screen()))
        terminal.press("ctrl+q")
        assert terminal.ended() == 0
