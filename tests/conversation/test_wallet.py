"""The wallet: Claude spends what it may, and goes on with the user's word alone."""

import pytest

from milk_tui.agents.base import TurnRequest
from milk_tui.agents.scripted import Pause, Reply, Say, ScriptedAgent
from milk_tui.conversation.controller import Conversation
from milk_tui.conversation.wallet import Wallet
from milk_tui.core import events as ev
from milk_tui.core.errors import MilkError
from milk_tui.core.messages import Receipt, Usage
from milk_tui.core.session import Session
from tests.conversation.talking import NOW, Memory, all_of, new_session


def costs(amount: float) -> ev.UsageReported:
    return ev.UsageReported(usage=Usage(output_tokens=1, cost_usd=amount))


def talking(
    *claude: Reply, wallet: Wallet, session: Session | None = None
) -> tuple[Conversation, ScriptedAgent]:
    agent = ScriptedAgent(claude, session_id="c-1")
    local = ScriptedAgent([[Say("local"), costs(9.0)]])
    talk = Conversation(
        session or new_session(), local=local, claude=agent, store=Memory(), wallet=wallet, now=lambda: NOW
    )
    return talk, agent


async def test_claude_is_told_what_is_left_and_a_spent_wallet_refuses_the_next_prompt() -> None:
    talk, claude = talking([Say("one"), costs(0.3)], [Say("two"), costs(0.3)], wallet=Wallet(0.5))
    await all_of(talk.escalate("go"))
    await all_of(talk.send("on"))
    assert [request.allowance_usd for request in claude.requests] == [0.5, pytest.approx(0.2)]
    with pytest.raises(MilkError, match=r"\$0\.60 of \$0\.50 for this hand-off"):
        await all_of(talk.send("and on"))
    assert len(claude.requests) == 2 and talk.session.turns[-1].answer == "two" and talk.floor == "claude"


async def test_the_users_word_lets_it_go_on_for_as_much_again_or_for_an_amount() -> None:
    talk, claude = talking([Say("x"), costs(0.6)], wallet=Wallet(0.5))
    await all_of(talk.escalate("go"))
    assert "$0.60 of $1.10" in talk.allow_spending()
    await all_of(talk.send("on"))
    assert claude.requests[-1].allowance_usd == pytest.approx(0.5)
    talk.allow_spending(2.0)
    await all_of(talk.send("on"))
    assert claude.requests[-1].allowance_usd == pytest.approx(2.0)


async def test_a_new_hand_off_has_a_full_purse_and_the_sessions_purse_is_the_harder_limit() -> None:
    talk, claude = talking([Say("x"), costs(0.4)], wallet=Wallet(0.5, 1.0))
    for _ in range(3):
        await all_of(talk.escalate("go"))
        await talk.return_to_local()
    assert [request.allowance_usd for request in claude.requests] == [0.5, 0.5, pytest.approx(0.2)]
    with pytest.raises(MilkError, match="for this session"):
        await all_of(talk.escalate("go"))
    assert talk.floor == "local" and len(claude.requests) == 3
    await all_of(talk.send("the local agent costs nothing"))
    assert talk.wallet.session_cost == pytest.approx(1.2)


async def test_without_limits_nothing_is_checked_and_there_is_nothing_to_raise() -> None:
    talk, claude = talking([Say("x"), costs(100.0)], wallet=Wallet())
    await all_of(talk.escalate("go"))
    await all_of(talk.send("on"))
    assert claude.requests[-1].allowance_usd is None and talk.wallet.tightest is None
    with pytest.raises(MilkError, match="without a limit"):
        talk.allow_spending()


async def test_an_estimate_burns_the_wallet_until_the_report_takes_its_place() -> None:
    talk, _ = talking([Say("a"), ev.CostEstimated(cost_usd=0.12), costs(0.1)], wallet=Wallet(0.5))
    seen = [str(talk.wallet.tightest) async for _ in talk.escalate("go")]
    assert "about $0.12 of $0.50" in seen and seen[-1] == "$0.10 of $0.50"


async def test_a_turn_that_goes_on_with_an_empty_wallet_is_stopped_with_what_it_has_said() -> None:
    replies: Reply = [
        Say("half"),
        ev.CostEstimated(cost_usd=0.6),
        ev.StepStarted(),
        Pause(3600),
        Say("whole"),
    ]
    talk, claude = talking(replies, [Say("more")], wallet=Wallet(0.5))
    await all_of(talk.escalate("go"))
    turn = talk.session.turns[-1]
    assert turn.status == "failed" and turn.answer == "half"
    assert turn.failure is not None and turn.failure.kind == "spent" and "/spend" in turn.failure.remedy
    assert "about $0.60 of $0.50" in turn.failure.sentence
    assert talk.floor == "claude", "going on is one word away"
    with pytest.raises(MilkError, match="spent"):
        await all_of(talk.send("on"))
    talk.allow_spending()
    await all_of(talk.send("on"))
    assert claude.requests[-1].handoff is not None, "the hand-off did not succeed, so it is sent again"


async def test_what_a_stopped_turn_cost_counts_once_although_it_is_reported_with_the_next() -> None:
    stopped: Reply = [Say("a"), ev.CostEstimated(cost_usd=0.2), Pause(3600)]
    talk, _ = talking(stopped, [Say("b"), costs(0.3)], wallet=Wallet(0.5))
    async for update in talk.escalate("go"):
        if isinstance(update.event, ev.CostEstimated):
            talk.stop()
    assert talk.session.turns[-1].status == "interrupted" and talk.wallet.left == pytest.approx(0.3)
    await all_of(talk.send("on"))
    assert talk.wallet.left == pytest.approx(0.2)


async def test_a_reopened_session_remembers_what_it_has_spent() -> None:
    talk, _ = talking([Say("x"), costs(0.2)], wallet=Wallet(0.5, 1.0))
    await all_of(talk.escalate("go"))
    await talk.return_to_local()
    await all_of(talk.escalate("go"))
    await all_of(talk.send("on"))
    again, claude = talking([Say("x")], wallet=Wallet(0.5, 1.0), session=talk.session)
    assert again.wallet.session_cost == pytest.approx(0.6)
    await all_of(again.send("on"))
    assert claude.requests[0].allowance_usd == pytest.approx(0.1)


async def test_an_agents_own_word_that_the_money_is_spent_keeps_the_floor() -> None:
    class Spent:
        async def run(self, request: TurnRequest):  # type: ignore[no-untyped-def]
            yield ev.TextDelta(text="so far")
            yield ev.AgentFailed(failure=Wallet(1.0).failure())

        async def close(self) -> None: ...

    talk = Conversation(new_session(), local=Spent(), claude=Spent(), store=Memory(), now=lambda: NOW)
    await all_of(talk.escalate("go"))
    assert talk.floor == "claude" and talk.session.turns[-1].answer == "so far"


def test_a_reopened_stay_goes_on_through_turns_that_carried_no_hand_off() -> None:
    handed = Receipt(situation="first", chars=900, history_chars=0, in_own_screen=True)
    without = handed.model_copy(update={"chars": 0, "situation": "resume"})
    session = new_session()
    for receipt in (handed, without, without):
        session.apply(ev.TurnStarted(agent="claude", prompt="go", at=NOW))
        session.apply(costs(0.1))
        session.apply(ev.AgentFinished())
        session.apply(ev.TurnEnded(at=NOW, receipt=receipt))
    wallet = Wallet(0.5)
    wallet.count(session.turns)
    assert wallet.left == pytest.approx(0.2)
