"""A bare turn: the local model is asked this alone, and offered nothing."""

from milk_tui.agents.base import TurnRequest
from milk_tui.agents.server.chat import OpenAIChat
from milk_tui.agents.server.facts import Server
from milk_tui.agents.toolbox import Report
from milk_tui.core.events import AgentFinished
from milk_tui.core.messages import ToolCall
from tests.agents.canned_replies import text_reply
from tests.agents.loopback_server import ModelServer
from tests.agents.test_tool_steps import Working


async def refuse(call: ToolCall, report: Report) -> str:
    raise AssertionError


async def test_a_bare_turn_offers_no_tool_and_the_next_one_offers_them_again() -> None:
    async with ModelServer() as server:
        described = Server(url=server.url, model="m", window=8192, supports_tools=True)
        agent = OpenAIChat(described, None, Working(refuse))
        try:
            server.reply(text_reply("Clear."), text_reply("Yes."))
            request = TurnRequest(prompt="What is unclear?", cwd="/tmp", nonce="n0nce", is_bare=True)
            events = [event async for event in agent.run(request)]
            assert isinstance(events[-1], AgentFinished)
            [event async for event in agent.run(TurnRequest(prompt="Work", cwd="/tmp", nonce="n0nce"))]
            bare, plain = server.chats
            assert "tools" not in bare.body and len(bare.body["messages"]) == 2
            assert len(plain.body["tools"]) == 2
        finally:
            await agent.close()
