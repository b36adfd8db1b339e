"""A shaped hand-off as the real Claude Code sends it on: what was dropped is nowhere, what was edited is there."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from milk_tui.agents.scripted import Say, ScriptedAgent
from milk_tui.conversation.controller import Conversation
from milk_tui.core.bricks import BrickLine
from tests.agents import messages_api as api
from tests.agents.claude_environment import Stage, claude_stage
from tests.conversation.talking import Memory, all_of, new_session

WORK = "Claude looked at all of it and changed what was wrong. " * 5


@pytest.fixture
async def stage(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> AsyncIterator[Stage]:
    async with claude_stage(monkeypatch, tmp_path) as stage:
        yield stage


def line(talk: Conversation, words: str) -> BrickLine:
    return next(line for line in talk.bricks().local_summary.lines if words in line.text)


async def test_claude_is_told_what_was_edited_and_kept_and_nothing_that_was_dropped(stage: Stage) -> None:
    local = ScriptedAgent([[Say("The port is 8041.")], [Say("The colour is teal.")], [Say("It is Monday.")]])
    session = new_session(cwd=str(stage.cwd), nonce="n0nce")
    talk = Conversation(session, local=local, claude=stage.agent(), store=Memory())
    for prompt in ("which port?", "which colour?", "which day?"):
        await all_of(talk.send(prompt))
    talk.shaping.shape("local_summary", [line(talk, "8041")], "drop")
    talk.shaping.shape("local_summary", [line(talk, "teal")], "edit", "The colour is sky blue.")
    stage.api.play(api.Say(WORK))
    await all_of(talk.escalate("Solve it."))
    first = stage.api.last
    assert "The colour is sky blue." in first.system and "It is Monday." in first.system
    body = str(first.body)
    assert "8041" not in body and "teal" not in body

    await talk.return_to_local()
    await all_of(talk.send("and the week?"))
    item = next(item for item in session.ledger() if item.why == "dropped")
    talk.shaping.take_back(item)
    stage.api.play(api.Say(WORK))
    await all_of(talk.escalate("Go on."))
    resumed = stage.api.last
    assert resumed.system_blocks[-1] == first.system_blocks[-1]
    assert "The port is 8041." in resumed.said and "and the week?" in resumed.said
    assert "sky blue" not in resumed.said and "It is Monday." not in resumed.said.split("and the week?")[0]
    await talk.close()
