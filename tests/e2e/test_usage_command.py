"""`milk-tui usage` adds up what is stored, and `context --mask` prints what a masked hand-off would be."""

import asyncio
import json

import pytest

from milk_tui.core import events as ev
from milk_tui.core.messages import Usage
from milk_tui.storage.session_store import SessionStore
from tests.agents.messages_api import MessagesApi, Say
from tests.e2e.running import Program
from tests.storage.stored_sessions import begin, end, new_session


@pytest.fixture
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return Program(tmp_path_factory.mktemp("program"))


def store_turn(program: Program) -> None:
    program.environment()
    session = new_session("abcd1234-x", str(program.cwd))
    begin(session, "Write to ann@firm.com", "claude")
    session.apply(ev.AgentReady(model="opus"))
    session.apply(ev.UsageReported(usage=Usage(input_tokens=1_234, output_tokens=5, cost_usd=0.25)))
    end(session)
    begin(session, "And to bob@firm.com")
    end(session)
    store = SessionStore(program.home)
    store.save(session)
    store.close()


def test_usage_is_printed_by_day_by_session_and_by_model(program: Program) -> None:
    assert program.run("usage").out == "Nothing has been spent yet.\n"
    store_turn(program)
    ran = program.run("usage")
    assert ran.status == 0 and ran.err == ""
    for words in ("By day", "By session", "By model", "2026-01-02", "abcd1234", "opus", "1,234", "$0.25"):
        assert words in ran.out
    report = json.loads(program.run("usage", "--json").out)
    assert report["total"]["cost_usd"] == 0.25 and report["models"][0]["name"] == "opus"


def test_context_says_how_many_secrets_there_are_and_masks_them_if_told_to(program: Program) -> None:
    store_turn(program)
    plain = program.run("context")
    assert "bob@firm.com" in plain.out and "2 things look like secrets; --mask masks" in plain.err
    masked = program.run("context", "--mask")
    assert "[masked: e-mail address]" in masked.out and "@firm.com" not in masked.out


async def test_claude_stops_at_the_limit_that_is_set_and_what_it_cost_is_counted(program: Program) -> None:
    dear = Say("Half of it.", usage={"input_tokens": 100_000, "cache_read_input_tokens": 0})
    async with MessagesApi(dear) as api:
        program.environ |= {"ANTHROPIC_BASE_URL": api.url, "MILK_CLAUDE_BUDGET_USD": "0.2"}
        ran = await asyncio.to_thread(program.run, "ask", "--escalate", "Do it")
    assert ran.status == 1 and ran.out == "Half of it.\n"
    assert "The money allowed for this hand-off is spent" in ran.err
    total = program.run("usage", "--json").json["total"]
    assert total["turns"] == 1 and total["cost_usd"] > 0.2
