"""What Claude may spend, with the real CLI: it is told, it stops, and it goes on when it may."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from milk_tui.core.events import AgentEvent, CostEstimated, UsageReported
from tests.agents.claude_environment import (
    Stage,
    claude_stage,
    events_of,
    failure_of,
    handed,
    is_finished,
    session_of,
    text_of,
)
from tests.agents.messages_api import Say

# The answers' model costs 3 dollars for a million tokens read and 15 for a million written.
DEAR = Say("Much read.", usage={"input_tokens": 100_000, "cache_read_input_tokens": 0}, output_tokens=10)


@pytest.fixture
async def stage(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> AsyncIterator[Stage]:
    async with claude_stage(monkeypatch, tmp_path) as stage:
        yield stage


def cost_of(events: list[AgentEvent]) -> float:
    return sum(e.usage.cost_usd or 0.0 for e in events if isinstance(e, UsageReported))


async def test_claude_stops_when_its_allowance_is_spent_and_goes_on_with_a_new_one(stage: Stage) -> None:
    stage.api.play(DEAR, Say("And on."))
    agent = stage.agent()
    first = await events_of(agent, stage.request("one", handoff=handed(), allowance_usd=0.2))
    failure = failure_of(first)
    assert failure.kind == "spent" and "work is kept" in failure.sentence and "/spend" in failure.remedy
    assert text_of(first) == "Much read." and cost_of(first) > 0.2
    assert stage.pids() == [], "a process that may not spend any more is of no use"
    later = stage.request("two", allowance_usd=0.2, resume_id=session_of(first))
    second = await events_of(agent, later)
    assert is_finished(second) and text_of(second) == "And on."
    assert session_of(second) == session_of(first)
    assert len(stage.api.requests) == 2 and cost_of(second) < 0.1, "the first turn is not counted again"


async def test_within_its_allowance_one_process_serves_on_and_more_of_it_needs_another(stage: Stage) -> None:
    agent = stage.agent()
    first = await events_of(agent, stage.request("one", handoff=handed(), allowance_usd=1.0))
    pids, spent = stage.pids(), cost_of(first)
    again = stage.request("two", allowance_usd=1.0 - spent, resume_id=session_of(first))
    spent += cost_of(await events_of(agent, again))
    assert stage.pids() == pids
    more = await events_of(
        agent, stage.request("three", allowance_usd=3.0 - spent, resume_id=session_of(first))
    )
    assert is_finished(more) and stage.pids() != pids
    assert "one" in stage.api.last.said and "two" in stage.api.last.said


async def test_while_claude_works_its_cost_is_estimated_from_the_published_price(stage: Stage) -> None:
    stage.api.play(DEAR)
    events = await events_of(stage.agent(), stage.request("one", handoff=handed()))
    estimates = [event.cost_usd for event in events if isinstance(event, CostEstimated)]
    assert estimates == [pytest.approx(0.30015)]
    kinds = [event.type for event in events]
    assert kinds.index("cost_estimated") < kinds.index("usage_reported")
