"""The user's own commands: run here, shown to whoever answers next, and asked of nobody."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from milk_tui.agents.scripted import Say, ScriptedAgent
from milk_tui.agents.server.messages import turn_messages
from milk_tui.conversation.controller import Conversation
from milk_tui.conversation.own_commands import OwnCommands
from milk_tui.conversation.toolbox import SessionToolbox
from milk_tui.core.permission import deny
from milk_tui.storage.config import Settings
from tests.conversation.talking import NOW, Memory, all_of, new_session

LONG = "Claude did a great deal of work here. " * 8


class Room:
    """A conversation in a real directory."""

    def __init__(self, tmp_path: Path) -> None:
        self.cwd = tmp_path / "work"
        self.cwd.mkdir()
        settings = Settings(home=tmp_path / "home")
        self.toolbox = SessionToolbox(settings, str(self.cwd), "s1", deny)
        self.local = ScriptedAgent([[Say("Local answer.")]])
        self.claude = ScriptedAgent([[Say(LONG)]], session_id="c-1")
        self.talk = Conversation(
            new_session(cwd=str(self.cwd)),
            local=self.local,
            claude=self.claude,
            store=Memory(),
            own=OwnCommands(self.toolbox),
            now=lambda: NOW,
        )


@pytest.fixture
async def room(tmp_path: Path) -> AsyncIterator[Room]:
    room = Room(tmp_path)
    yield room
    await room.talk.close()
    await room.toolbox.close()


async def test_a_command_runs_in_the_sessions_directory_without_a_question_and_no_model_is_asked(
    room: Room,
) -> None:
    await all_of(room.talk.send("!echo made > made.txt; pwd"))
    turn = room.talk.session.turns[-1]
    assert turn.status == "finished" and turn.is_own_command
    assert (room.cwd / "made.txt").read_text() == "made\n"
    assert str(room.cwd) in (turn.messages[-1].result or turn.messages[-2].result).text  # type: ignore[union-attr]
    assert not room.local.requests and not room.claude.requests


async def test_the_local_model_hears_of_it_in_words_with_and_without_tools(room: Room) -> None:
    await all_of(room.talk.send("!echo forty-two"))
    for has_tools in (True, False):
        wires = turn_messages(room.talk.session.turns[-1], has_tools=has_tools)
        assert [wire["role"] for wire in wires] == ["user", "assistant"]
        assert "echo forty-two" in wires[0]["content"] and "\nforty-two" in wires[0]["content"]


async def test_the_brick_tells_of_it(room: Room) -> None:
    await all_of(room.talk.send("!echo forty-two; exit 3"))
    summary = room.talk.session.local_summary.text
    assert "echo forty-two; exit 3" in summary and "forty-two" in summary and "3" in summary


async def test_claude_is_told_with_the_next_prompt_and_only_once(room: Room) -> None:
    await all_of(room.talk.escalate("Begin"))
    await all_of(room.talk.send("!echo forty-two"))
    assert room.talk.floor == "claude" and len(room.claude.requests) == 1
    await all_of(room.talk.send("What did it say?"))
    handoff = room.claude.requests[-1].handoff
    assert handoff is not None and handoff.situation == "resume" and "forty-two" in handoff.changing
    await all_of(room.talk.send("And now?"))
    assert room.claude.requests[-1].handoff is None


async def test_it_does_not_part_claudes_stay(room: Room) -> None:
    await all_of(room.talk.escalate("Begin"))
    await all_of(room.talk.send("!echo between"))
    await all_of(room.talk.send("Go on"))
    await room.talk.return_to_local()
    await all_of(room.talk.send("What happened?"))
    preface = room.local.requests[-1].preface
    assert "Begin" in preface and "Go on" in preface


async def test_nothing_is_run_while_only_plans_are_made(room: Room) -> None:
    room.toolbox.plans_only = True
    await all_of(room.talk.send("!touch made.txt"))
    assert not (room.cwd / "made.txt").exists()
    assert "only plans" in room.talk.session.local_summary.text


async def test_it_can_be_stopped_and_its_processes_are_gone(room: Room) -> None:
    async def stop() -> None:
        while not (room.cwd / "begun").exists():
            await asyncio.sleep(0.02)
        room.talk.stop()

    async with asyncio.timeout(30):
        await asyncio.gather(all_of(room.talk.send("!touch begun; sleep 300; touch ended")), stop())
    assert room.talk.session.turns[-1].status == "interrupted"
    assert not (room.cwd / "ended").exists()


@pytest.mark.parametrize("prompt", ["!", "!  ", " !ls"])
async def test_what_is_no_command_is_a_prompt(room: Room, prompt: str) -> None:
    await all_of(room.talk.send(prompt))
    assert room.local.requests[-1].prompt == prompt
