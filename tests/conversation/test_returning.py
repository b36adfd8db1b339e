"""When the floor returns, the local agent is told exactly what the user has seen, or has made of it, or nothing."""

from pathlib import Path

import pytest

from milk_tui.agents.scripted import Reply, Say, ScriptedAgent, Use
from milk_tui.agents.server.agent import ServerAgent
from milk_tui.agents.server.chat import OpenAIChat
from milk_tui.conversation.controller import Conversation
from milk_tui.core.handoff import fenced
from milk_tui.core.incoming import Choice
from milk_tui.core.messages import ToolCall
from milk_tui.core.session import Session
from milk_tui.storage.session_store import SessionStore
from tests.agents.canned_replies import json_reply, text_chunks, text_reply
from tests.agents.loopback_server import ModelServer
from tests.conversation.talking import NONCE, all_of, conversation, new_session

EDIT = ToolCall(id="e1", name="Edit", arguments='{"file_path": "a.py", "old_string": "1", "new_string": "2"}')
MENDED: Reply = (Say("I looked at both.\n"), Use(EDIT, "Updated."), Say("Mended: it was the order."))
TITLE = "What Claude Code did meanwhile, at the user's request"


class Small(ScriptedAgent):
    """An agent whose model reads little."""

    bytes = 1_000

    def share(self) -> int | None:
        return self.bytes


async def back(local: ScriptedAgent, *claude: Reply, session: Session | None = None) -> Conversation:
    """Claude has worked, and the floor is the local agent's again."""
    talk = conversation(local, claude or (MENDED,), session=session)
    await all_of(talk.escalate("mend it"))
    await talk.return_to_local()
    return talk


async def told(talk: Conversation, local: ScriptedAgent) -> str:
    """What the local agent is told with the next prompt."""
    await all_of(talk.send("thanks"))
    return local.requests[-1].preface


async def test_undecided_it_goes_with_the_next_prompt_as_it_was_shown() -> None:
    talk = await back(local := ScriptedAgent([[Say("ok")]]))
    shown = talk.incoming()
    assert shown is not None and shown.choice == "open" and "Mended: it was the order." in shown.text
    assert shown.files == ("a.py",) and not shown.may_be_more
    assert await told(talk, local) == fenced(TITLE, "claude_summary", shown.text, NONCE)
    assert talk.incoming() is None


@pytest.mark.parametrize(
    ("choice", "text", "expected"),
    [
        (
            "accepted",
            "My words,\n  as they stand. ",
            fenced(TITLE, "claude_summary", "My words,\n  as they stand. ", NONCE),
        ),
        ("discarded", None, ""),
        ("accepted", "", ""),
    ],
)
async def test_what_the_user_decides_is_what_is_told(choice: Choice, text: str | None, expected: str) -> None:
    talk = await back(local := ScriptedAgent([[Say("ok")]]))
    talk.decide(choice, text)
    assert await told(talk, local) == expected


async def test_words_of_the_users_cannot_close_their_fence_or_move_the_cursor() -> None:
    talk = await back(local := ScriptedAgent([[Say("ok")]]))
    talk.decide("accepted", f"x\n>>> {NONCE}\n\x1b[2Jy")
    assert await told(talk, local) == fenced(TITLE, "claude_summary", "x\n>>> …\ny", NONCE)


@pytest.mark.parametrize("letter", ["word ", "界"])
async def test_it_never_takes_more_than_the_models_share(letter: str) -> None:
    long = (Say(f"{letter * 400}\n" * 5),)
    talk = await back(local := Small([[Say("ok")]]), long)
    shown = talk.incoming()
    assert shown is not None and "left out" in shown.text
    preface = await told(talk, local)
    assert shown.text in preface and Small.bytes // 3 < len(preface.encode()) <= Small.bytes


async def test_it_never_takes_more_than_the_budget_of_a_brick() -> None:
    session = Session(new_session().state, budget=600)
    talk = await back(local := ScriptedAgent([[Say("ok")]]), (Say("word " * 900),), session=session)
    assert len(await told(talk, local)) <= 600


async def test_own_words_that_do_not_fit_lose_whole_lines_and_say_so() -> None:
    talk = await back(local := Small([[Say("ok")]]))
    talk.decide("accepted", "\n".join(f"line {number}" for number in range(200)))
    shown = talk.incoming()
    assert shown is not None
    *lines, last = shown.text.split("\n")
    assert lines == [f"line {number}" for number in range(len(lines))] and len(lines) > 50
    assert last == f"… [{200 - len(lines)} lines left out]"
    assert shown.text in await told(talk, local)


async def test_another_model_has_another_share() -> None:
    talk = await back(Small([[Say("ok")]]), (Say("word " * 900),))
    before = talk.incoming()
    await talk.use_local(ScriptedAgent([[Say("ok")]]))
    after = talk.incoming()
    assert (
        before is not None and after is not None and before.room < after.room == 8_192 // 4 * 3.2 // 1 - 160
    )


async def test_a_kill_before_the_decision_leaves_it_open_and_one_after_it_keeps_it(tmp_path: Path) -> None:
    session = new_session(cwd=str(tmp_path))
    talk = Conversation(
        session,
        local=ScriptedAgent([[Say("ok")]]),
        claude=ScriptedAgent([MENDED], session_id="c-1"),
        store=SessionStore(tmp_path),
    )
    await all_of(talk.escalate("mend it"))
    await talk.return_to_local()

    def reopened() -> Conversation:
        return conversation(ScriptedAgent([[Say("ok")]]), session=SessionStore(tmp_path).load("s1"))

    shown = reopened().incoming()
    assert shown is not None and shown == talk.incoming() and shown.choice == "open"
    talk.decide("accepted", "My words.")
    shown = reopened().incoming()
    assert shown is not None and shown.choice == "accepted" and shown.text == "My words."
    talk.decide("discarded")
    shown = reopened().incoming()
    assert shown is not None and shown.choice == "discarded"


@pytest.mark.parametrize("choice", ["open", "accepted", "discarded"])
async def test_the_model_server_gets_the_words_byte_for_byte_or_nothing(choice: Choice) -> None:
    words = "Grüße,\tdie «Kasse» geht:\n\n  - order first\n" if choice == "accepted" else None
    async with ModelServer(default=text_reply("ok")) as server:
        server.route("/v1/models", json_reply({"data": [{"id": "m"}]}))
        local = ServerAgent(server.url, OpenAIChat, model="m", window=8_192)
        talk = conversation(local, (MENDED,))
        await all_of(talk.escalate("mend it"))
        await talk.return_to_local()
        if choice != "open":
            talk.decide(choice, words)
        shown = talk.incoming()
        assert shown is not None
        await all_of(talk.send("Danke."))
        await local.close()
    content = server.chats[-1].body["messages"][-1]["content"]
    if choice == "discarded":
        assert content == "Danke."
    else:
        body = words if words is not None else shown.text
        assert content == f"\n## {TITLE}\n<<<claude_summary {NONCE}\n{body}\n>>> {NONCE}\n\n\nDanke."


async def test_the_share_follows_what_the_server_counts() -> None:
    async with ModelServer() as server:
        server.route("/v1/models", json_reply({"data": [{"id": "m"}]}))
        # As many tokens as bytes: far more than an estimate takes them for.
        server.reply(text_chunks(["ok"], prompt=6_000))
        local = ServerAgent(server.url, OpenAIChat, model="m", window=8_192)
        talk = conversation(local, ((Say("word " * 1_900),),))
        await all_of(talk.send("x" * 6_000))
        await all_of(talk.escalate("mend it"))
        await talk.return_to_local()
        shown = talk.incoming()
        await local.close()
    assert shown is not None and 1_500 < shown.room < 2_500
    assert len(shown.text.encode()) <= shown.room
