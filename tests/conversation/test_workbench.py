"""What is changed about the local role while the program runs."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from milk_tui.agents.no_model import NoModel
from milk_tui.agents.scripted import Pause, ScriptedAgent
from milk_tui.conversation.permissions import PermissionDesk
from milk_tui.conversation.toolbox import SessionToolbox
from milk_tui.conversation.workbench import Workbench
from milk_tui.core.errors import MilkError
from milk_tui.storage.config import Settings
from tests.agents.canned_replies import json_reply, text_reply
from tests.agents.loopback_server import ModelServer
from tests.conversation.talking import all_of, conversation, new_session


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Workbench]:
    """A workbench in a directory with instructions, and nobody in the local role."""
    (tmp_path / "AGENTS.md").write_text("Use tabs.")
    settings = Settings.model_validate({"home": tmp_path / "home", "embedded": False})
    desk = PermissionDesk()
    toolbox = SessionToolbox(settings, str(tmp_path), "s1", desk.ask)
    talk = conversation(NoModel(), (), session=new_session(cwd=str(tmp_path)))
    yield Workbench(settings, talk, desk, toolbox)
    await talk.close()
    await toolbox.close()


def saved(bench: Workbench) -> object:
    return json.loads((bench.settings.home / "tui.json").read_text())


async def test_a_chosen_server_answers_is_saved_and_keeps_the_conversation(bench: Workbench) -> None:
    async with ModelServer() as server:
        server.route("/v1/models", json_reply({"data": [{"id": "m"}]}))
        server.reply(text_reply("Hello."))
        assert await bench.use_server(server.url, "m") == ""
        assert saved(bench) == {"url": server.url, "model": "m"}
        assert (bench.settings.url, bench.settings.model) == (server.url, "m")
        await all_of(bench.conversation.send("Hi"))
        assert bench.conversation.session.turns[0].answer == "Hello."
        await bench.use_embedded()
        assert len(bench.conversation.session.turns) == 1
        assert (bench.settings.url, saved(bench)) == (None, {})


async def test_what_requests_carry_is_known_from_the_first_turn_on(bench: Workbench) -> None:
    async with ModelServer() as server:
        server.route("/v1/models", json_reply({"data": [{"id": "m"}]}))
        server.reply(text_reply("Hello."))
        assert bench.carried() == ()
        await bench.use_server(server.url)
        assert bench.carried() == ()
        await all_of(bench.conversation.send("Hi"))
        carried = {part.name: part.chars for part in bench.carried()}
        assert list(carried) == ["system", "tools", "AGENTS.md"]
        body = server.chats[0].body
        assert len(body["messages"][0]["content"]) - sum(carried.values()) + carried["tools"] <= 2
        assert abs(len(json.dumps(body["tools"])) - carried["tools"]) <= 2


async def test_no_other_agent_takes_the_role_while_a_turn_runs(bench: Workbench) -> None:
    await bench.conversation.use_local(ScriptedAgent([[Pause(0.0)]]))
    turn = bench.conversation.send("Hi")
    await anext(turn)
    with pytest.raises(MilkError):
        await bench.use_server("127.0.0.1:9", "m")
    assert bench.settings.url is None
    assert not (bench.settings.home / "tui.json").exists()
    await turn.aclose()
