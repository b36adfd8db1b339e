"""`milk-tui context` prints what `ask --escalate` hands over, to the letter; and nobody is asked who was not meant."""

import asyncio
import re
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.agents.canned_replies import text_reply
from tests.agents.loopback_server import ModelServer
from tests.agents.messages_api import Hang, MessagesApi, Say
from tests.e2e.running import Program, Ran, assert_sentence, llama_server, read_until

MENDED = "The parser is mended, ünïcode 🧀 and all" + ", and so is the rest" * 10 + "."
"""Long enough to count as work of Claude's."""
STANDING = {"identity", "instructions"}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with llama_server() as server:
        yield server


@pytest.fixture
def program(server: ModelServer, tmp_path: Path) -> Program:
    return Program(tmp_path, server.url)


@pytest.fixture
async def api(program: Program) -> AsyncIterator[MessagesApi]:
    async with MessagesApi() as api:
        program.environ["ANTHROPIC_BASE_URL"] = api.url
        yield api


def nonce_of(server: ModelServer) -> str:
    found = re.search(r"<milk:need:(\w+)>", server.chats[-1].raw.decode())
    assert found
    return found[1]


def tagged(server: ModelServer, need: str, percept: str) -> str:
    nonce = nonce_of(server)
    return (
        f"Noted. <milk:need:{nonce}>{need}</milk:need:{nonce}>"
        f"<milk:percept:{nonce}>{percept}</milk:percept:{nonce}>"
    )


async def run(program: Program, *arguments: str) -> Ran:
    return await asyncio.to_thread(program.run, *arguments)


def test_the_parts_are_those_of_the_table_and_each_is_within_its_budget(
    program: Program, server: ModelServer
) -> None:
    server.reply(text_reply("One."))
    assert program.run("ask", "x" * 40_000).status == 0
    server.reply(text_reply(tagged(server, "ship the parser", "tests live in spec/")))
    second = program.run("ask", "-c", "Go on")
    assert second.out == "Noted.\n"
    names = {
        "first": ["identity", "current_need", "local_summary", "instructions", "percepts"],
        "agent": [
            "identity",
            "escalation_brief",
            "current_need",
            "local_summary",
            "instructions",
            "percepts",
        ],
        "resume": ["identity", "current_need", "local_summary", "instructions", "percepts"],
    }
    for situation, expected in names.items():
        said = program.run("context", "--situation", situation, "--reason", "Too hard for me", "--json").json
        assert said["situation"] == situation
        assert [part["name"] for part in said["parts"]] == expected
        assert all(len(part["text"]) == part["chars"] <= part["budget"] for part in said["parts"])
        texts = {part["name"]: part["text"] for part in said["parts"]}
        assert said["standing"] == "".join(texts[name] for name in texts if name in STANDING)
        assert said["changing"] == "".join(texts[name] for name in texts if name not in STANDING)
        assert said["chars"] == len(said["standing"]) + len(said["changing"]) < 20_000
        assert said["history_chars"] > 40_000
        assert "ship the parser" in texts["current_need"] and "tests live in spec/" in texts["percepts"]
        assert ("Too hard for me" in texts.get("escalation_brief", "")) == (situation == "agent")
    plain = program.run("context", "--situation", "resume").out
    assert plain == said["standing"] + said["changing"]


def test_a_fact_of_one_session_is_in_the_hand_off_of_the_directorys_next(
    program: Program, server: ModelServer
) -> None:
    server.reply(text_reply("One."))
    program.run("ask", "Hello")
    old = program.last.state.id
    server.reply(text_reply(tagged(server, "an old goal", "the cheese is in the cellar")))
    program.run("ask", "-c", "Where is the cheese?")
    server.reply(text_reply("Two."))
    program.run("ask", "A new matter")
    assert program.last.state.id != old
    said = program.run("context").out
    assert "the cheese is in the cellar" in said and "an old goal" not in said
    elsewhere = program.run("context", cwd=program.root).out
    assert "the cheese is in the cellar" not in elsewhere
    assert "an old goal" in program.run("context", old[:8]).out


@pytest.mark.parametrize("arguments", [("nope",), ("",)])
def test_without_a_session_there_is_the_hand_off_of_a_new_one_but_an_unknown_one_is_told(
    program: Program, arguments: tuple[str, ...]
) -> None:
    ran = program.run("context", *arguments)
    if arguments[0]:
        assert (ran.status, ran.out) == (1, "")
        assert_sentence(ran.err)
        assert "'nope'" in ran.err
    else:
        assert ran.status == 0 and ran.out.startswith("You are Claude Code") and not program.home.exists()


async def test_claude_is_told_what_context_printed_and_the_local_agent_what_claude_did(
    program: Program, server: ModelServer, api: MessagesApi
) -> None:
    server.reply(text_reply("A `local` answer."), text_reply("I know what Claude did."))
    api.play(Say(MENDED), Say("Mended once more."))
    assert (await run(program, "ask", "Mend the parser")).status == 0
    printed = (await run(program, "context", "--situation", "first", "--json")).json
    text = (await run(program, "context", "--situation", "first")).out
    handed = await run(program, "ask", "-c", "--escalate", "Please take over")
    assert (handed.status, handed.out) == (0, f"{MENDED}\n"), handed.err
    (request,) = api.requests
    assert text == printed["standing"] + printed["changing"]
    assert f"{printed['standing']}\n\n{printed['changing']}".strip() in request.system
    assert "Please take over" in request.said and "A `local` answer." not in request.said
    handed_over = program.last.state
    assert handed_over.floor == "claude" and len(server.chats) == 1

    back = await run(program, "ask", "-c", "What now?")
    assert (back.status, back.out) == (0, "I know what Claude did.\n")
    state = program.last.state
    assert len(api.requests) == 1 and state.floor == "local"
    nonce = state.nonce
    asked = server.chats[-1].body["messages"][-1]["content"]
    fence = re.search(rf"<<<claude_summary {nonce}\n(.*?)\n>>> {nonce}\n", asked, re.DOTALL)
    assert fence, asked
    assert MENDED in fence[1]
    assert asked.endswith("What now?")

    changing = (await run(program, "context", "--situation", "resume", "--json")).json["changing"]
    again = await run(program, "ask", "-c", "--escalate", "And again")
    assert (again.status, again.out) == (0, "Mended once more.\n"), again.err
    assert "I know what Claude did." in changing and "A `local` answer." not in changing
    assert changing.strip() in api.last.said
    assert [turn.agent for turn in program.last.turns] == ["local", "claude", "local", "claude"]


@pytest.mark.parametrize("policy", ["ask", "auto", "off"])
async def test_a_local_agent_that_asks_for_claude_is_told_of_and_nothing_is_sent(
    program: Program, server: ModelServer, api: MessagesApi, policy: str
) -> None:
    program.environ["MILK_AGENT_ESCALATION"] = policy
    server.reply(text_reply("First."))
    await run(program, "ask", "Hello")
    nonce = nonce_of(server)
    server.reply(text_reply(f"I give up. <milk:escalate:{nonce}>too hard</milk:escalate:{nonce}>"))
    ran = await run(program, "ask", "-c", "Prove it")
    assert (ran.status, ran.out) == (0, "I give up.\n")
    assert "too hard" in ran.err
    assert not api.requests and not api.side and program.last.state.floor == "local"


async def test_a_hand_off_that_fails_is_a_sentence_and_the_local_agent_is_not_asked_instead(
    program: Program, server: ModelServer
) -> None:
    program.environ["MILK_CLAUDE_PATH"] = str(program.root / "no-claude")
    ran = await run(program, "ask", "--escalate", "Please take over")
    assert (ran.status, ran.out) == (1, "")
    assert_sentence(ran.err)
    assert not server.chats and program.last.state.floor == "local"
    assert program.last.turns[0].prompt == "Please take over"


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
async def test_claude_stopped_in_the_middle_leaves_its_words_and_no_process(
    program: Program, api: MessagesApi, number: signal.Signals, status: int
) -> None:
    api.play(Hang("Half of an answer"))
    with program.started("ask", "--escalate", "Please take over") as process:
        # The last characters may wait until it is certain that they begin no mark.
        shown = await asyncio.to_thread(read_until, process, b"Half of")
        process.send_signal(number)
        rest, err = await asyncio.to_thread(process.communicate, timeout=30)
    assert (process.returncode, err) == (status, b"")
    turn = program.last.turns[0]
    assert turn.status == "interrupted" and (shown + rest).decode() == f"{turn.answer.rstrip()}\n"
    assert program.last.state.claude_session_id and living(program) == []


def living(program: Program) -> list[str]:
    """Processes that run with the program's own home."""
    mark = f"HOME={program.root / 'home'}".encode()
    return [path.parent.name for path in Path("/proc").glob("[0-9]*/environ") if mark in environ_of(path)]


def environ_of(path: Path) -> list[bytes]:
    try:
        return path.read_bytes().split(b"\0")
    except OSError:
        return []
