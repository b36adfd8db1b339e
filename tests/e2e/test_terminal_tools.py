"""The local agent at work in a real terminal: it reads, edits and runs here, and asks before it does."""

import json
import sys
import time
from pathlib import Path
from typing import Any

from milk_tui.ui.widgets.card import DEAF_SECONDS
from tests.agents.canned_replies import call, text_reply, tool_reply
from tests.agents.loopback_server import ModelServer
from tests.e2e.terminal import SLOW, Terminal, World, comes_true
from tests.tools.mcp_running import REAL


def calls(server: ModelServer, name: str, **arguments: object) -> None:
    """The model's next answer is this call."""
    number = len(server.chats)
    server.reply(
        tool_reply(call(name, json.dumps(arguments), id=f"{name}-{number}-{id(arguments)}", index=0))
    )


def told(server: ModelServer) -> list[dict[str, Any]]:
    """What the tools gave back, as the model was last told it."""
    return [message for message in server.chats[-1].body["messages"] if message["role"] == "tool"]


def answer(terminal: Terminal, key: str) -> None:
    """Go to the open question and answer it, as slowly as it wants to be read."""
    time.sleep(DEAF_SECONDS)
    terminal.press("tab")
    terminal.wait_for("n no (so do Enter and Esc)")
    terminal.press(key)


def test_a_model_reads_edits_and_runs_with_approval_and_the_bricks_tell_of_it(
    world: World, tool_server: ModelServer
) -> None:
    (world.cwd / "notes.txt").write_text("first\nsecond\n", encoding="utf-8")
    with world.open("--url", tool_server.url, size=(150, 50)) as terminal:
        terminal.wait_for("✓  Local model")
        calls(tool_server, "read_file", path="notes.txt")
        calls(tool_server, "edit_file", path="notes.txt", old="second", new="changed")
        calls(tool_server, "run_command", command="cat notes.txt; echo ran > ran.txt")
        tool_server.reply(text_reply("All three are done."))
        terminal.submit("Change the second line and show it.")

        terminal.wait_for("The local agent wants to use edit_file")
        terminal.wait_for("changed")
        assert (world.cwd / "notes.txt").read_text() == "first\nsecond\n"
        assert "second" in told(tool_server)[0]["content"]
        answer(terminal, "y")

        terminal.wait_for("The local agent wants to use run_command")
        assert (world.cwd / "notes.txt").read_text() == "first\nchanged\n"
        terminal.wait_for("cat notes.txt; echo ran > ran.txt")
        assert not (world.cwd / "ran.txt").exists()
        answer(terminal, "y")

        terminal.wait_for("All three are done.")
        assert (world.cwd / "ran.txt").read_text() == "ran\n"
        assert "changed" in told(tool_server)[2]["content"]
        summary = world.run("context", "--url", tool_server.url)
        for fact in ("Change the second line", "notes.txt", "cat notes.txt", "All three are done."):
            assert fact in summary
        terminal.submit("/quit")
        assert terminal.ended() == 0


def test_a_refusal_and_a_plan_change_nothing_and_the_model_is_told(
    world: World, tool_server: ModelServer
) -> None:
    with world.open("--url", tool_server.url, size=(120, 40)) as terminal:
        terminal.wait_for("✓  Local model")
        calls(tool_server, "write_file", path="no.txt", text="x")
        tool_server.reply(text_reply("Then not."))
        terminal.submit("Write it.")
        terminal.wait_for("wants to use write_file")
        answer(terminal, "n")
        terminal.wait_for("Then not.")
        assert "said no" in told(tool_server)[-1]["content"] and not (world.cwd / "no.txt").exists()

        terminal.submit("/mode plan")
        terminal.wait_for("plans only")
        calls(tool_server, "write_file", path="plan.txt", text="x")
        tool_server.reply(text_reply("Only planned."))
        terminal.submit("Now plan it.")
        terminal.wait_for("Only planned.")
        assert not (world.cwd / "plan.txt").exists()
        terminal.submit("/quit")
        assert terminal.ended() == 0


def test_stopping_a_command_ends_all_of_it_and_the_next_message_is_answered(
    world: World, tool_server: ModelServer, tmp_path: Path
) -> None:
    with world.open("--url", tool_server.url, size=(120, 40)) as terminal:
        terminal.wait_for("✓  Local model")
        calls(tool_server, "run_command", command="echo begun; sleep 300 & sleep 300")
        terminal.submit("Wait for a long time.")
        terminal.wait_for("wants to use run_command")
        answer(terminal, "y")
        terminal.wait_for("│ begun")
        terminal.press("escape")
        terminal.wait_for("Stopped.")
        assert comes_true(lambda: not world.processes("sleep"))
        tool_server.reply(text_reply("Here I am."))
        terminal.submit("Are you there?")
        terminal.wait_for("Here I am.")
        asked = tool_server.chats[-1].body["messages"]
        ids = [c["id"] for m in asked for c in m.get("tool_calls") or ()]
        assert ids and [m["tool_call_id"] for m in asked if m["role"] == "tool"] == ids
        terminal.submit("/quit")
        assert terminal.ended() == 0


def ids_asked_and_answered(server: ModelServer) -> tuple[list[str], list[str]]:
    """The ids of all calls that the model is reminded of, and those of their results."""
    messages = server.chats[-1].body["messages"]
    asked = [call["id"] for message in messages for call in message.get("tool_calls") or ()]
    return asked, [message["tool_call_id"] for message in messages if message["role"] == "tool"]


def test_a_kill_in_the_middle_of_a_command_leaves_one_result_and_a_session_that_goes_on(
    world: World, tool_server: ModelServer
) -> None:
    with world.open("--url", tool_server.url, size=(120, 40)) as terminal:
        terminal.wait_for("✓  Local model")
        calls(tool_server, "run_command", command="echo begun; sleep 300")
        terminal.submit("Wait for a long time.")
        terminal.wait_for("wants to use run_command")
        answer(terminal, "y")
        terminal.wait_for("│ begun")
        terminal.kill()
    assert comes_true(lambda: not world.processes("sleep"))
    with world.open("--url", tool_server.url, "-c", size=(120, 40)) as terminal:
        terminal.wait_for("Wait for a long time.")
        tool_server.reply(text_reply("Here I am."))
        terminal.submit("Are you there?")
        terminal.wait_for("Here I am.")
        asked, answered = ids_asked_and_answered(tool_server)
        assert asked and asked == answered
        terminal.submit("/quit")
        assert terminal.ended() == 0


def test_a_tool_of_an_mcp_server_is_offered_asked_about_and_answers(
    world: World, tool_server: ModelServer
) -> None:
    world.milk.mkdir(parents=True)
    settings = {"mcp_servers": [{"name": "real", "command": sys.executable, "args": [REAL, "stdio"]}]}
    (world.milk / "tui.json").write_text(json.dumps(settings), encoding="utf-8")
    with world.open("--url", tool_server.url, size=(120, 40)) as terminal:
        terminal.wait_for("✓  Local model")
        terminal.submit("/mcp")
        terminal.wait_for("8 tools:", SLOW)
        terminal.press("escape")
        terminal.wait_until_gone("8 tools:")
        calls(tool_server, "real__echo", text="over there", times=2)
        tool_server.reply(text_reply("It came back."))
        terminal.submit("Say it twice.")
        terminal.wait_for("wants to use real__echo")
        answer(terminal, "y")
        terminal.wait_for("It came back.")
        assert "over thereover there" in told(tool_server)[-1]["content"]
        offered = [tool["function"]["name"] for tool in tool_server.chats[-1].body["tools"]]
        assert "real__echo" in offered and "read_file" in offered
        terminal.submit("/quit")
        assert terminal.ended() == 0
