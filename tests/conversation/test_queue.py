"""What waits while an agent is at work: kept, given once, held when the user should look first."""

from collections.abc import Sequence

import pytest

from milk_tui.agents.scripted import Pause, Reply, Say, ScriptedAgent
from milk_tui.conversation.controller import Conversation
from milk_tui.conversation.queue import Hold, recipients
from milk_tui.conversation.wallet import Wallet
from milk_tui.core import events as ev
from milk_tui.core.errors import Failure, MilkError
from milk_tui.core.messages import AgentRole
from milk_tui.core.queued import Queued
from milk_tui.core.session import Session
from tests.conversation.talking import Memory, all_of, conversation, new_session

LOST = ev.AgentFailed(failure=Failure(kind="lost", sentence="The stream ended."))
ASKS = ev.EscalationRequested(reason="Too hard.")
STOPPED = (Say("Half "), Pause(3600))


async def turn_with(talk: Conversation, *texts: str, stops: bool = False) -> None:
    """A turn during which these are queued."""
    async for update in talk.send("first"):
        if isinstance(update.event, ev.TextDelta) and texts:
            for text in texts:
                talk.queue.put(text)
            texts = ()
            if stops:
                talk.stop()


async def drained(talk: Conversation) -> list[str]:
    """Give what is due until nothing is; the prompts of all turns."""
    while item := talk.queue.due:
        await all_of(talk.queue.give(item))
    return [turn.prompt for turn in talk.session.turns]


async def test_what_is_queued_is_given_in_order_each_under_its_own_prompt_when_turns_end_by_themselves() -> (
    None
):
    local = ScriptedAgent([[Say("one")], [Say("two")], [Say("three")]])
    talk = conversation(local)
    await turn_with(talk, "second", "third")
    assert await drained(talk) == ["first", "second", "third"]
    assert [turn.answer for turn in talk.session.turns] == ["one", "two", "three"]
    assert [request.prompt for request in local.requests] == ["first", "second", "third"]
    assert talk.queue.items == ()


@pytest.mark.parametrize(
    ("reply", "stops", "why"),
    [(STOPPED, True, "stopped"), ((Say("x"), LOST), False, "failed"), ((Say("x"), ASKS), False, "request")],
    ids=["stopped", "failed", "the local agent asks for Claude"],
)
async def test_it_is_held_until_it_is_let_go(reply: Reply, stops: bool, why: Hold) -> None:
    talk = conversation([reply, [Say("ok")]])
    await turn_with(talk, "second", "third", stops=stops)
    assert talk.queue.held == why and talk.queue.due is None
    talk.queue.release()
    assert await drained(talk) == ["first", "second", "third"]


async def test_another_prompt_does_not_let_a_held_queue_go() -> None:
    talk = conversation([STOPPED, [Say("ok")]])
    await turn_with(talk, "second", stops=True)
    await all_of(talk.send("meanwhile"))
    assert talk.queue.held == "stopped" and talk.queue.due is None


async def test_it_waits_for_the_answer_to_claudes_question_and_goes_on_behind_it() -> None:
    talk = conversation(claude=[[Say("Which of the two do you want?")], [Say("Done.")]])
    await all_of(talk.escalate("choose"))
    talk.queue.put("and then test it")
    assert (talk.queue.held, talk.queue.due) == ("question", None)
    await all_of(talk.send("The first."))
    assert not talk.queue.held and talk.queue.due is not None


async def test_a_turn_that_was_stopped_before_anything_was_queued_holds_nothing() -> None:
    talk = conversation([STOPPED, [Say("ok")]])
    async for update in talk.send("stopped"):
        if isinstance(update.event, ev.TextDelta):
            talk.stop()
    await turn_with(talk, "second")
    assert talk.queue.held == "" and talk.queue.due is not None


async def test_send_now_stops_the_turn_gives_that_one_and_leaves_the_others_queued() -> None:
    talk = conversation([STOPPED, [Say("ok")]])
    async for update in talk.send("first"):
        if isinstance(update.event, ev.TextDelta):
            talk.queue.put("later")
            talk.queue.put("urgent")
            talk.queue.send_now(talk.queue.items[-1].id)
    assert talk.session.turns[0].status == "interrupted"
    assert await drained(talk) == ["first", "urgent", "later"]


async def test_send_now_leaves_a_held_queue_held_behind_it() -> None:
    talk = conversation([STOPPED, [Say("ok")]])
    await turn_with(talk, "second", "third", stops=True)
    talk.queue.send_now(talk.queue.items[1].id)
    assert await drained(talk) == ["first", "third"]
    assert talk.queue.held == "stopped" and [item.text for item in talk.queue.items] == ["second"]


async def test_it_can_be_edited_moved_and_emptied() -> None:
    talk = conversation()
    for text in ("a", "b", "c"):
        talk.queue.put(text)
    a, b, c = (item.id for item in talk.queue.items)
    talk.queue.move(c, -1)
    assert [item.text for item in talk.queue.items] == ["a", "c", "b"]
    talk.queue.move(a, 5)
    talk.queue.move(b, -9)
    assert [item.text for item in talk.queue.items] == ["b", "c", "a"]
    assert talk.queue.take(c) == "c" and talk.queue.take(c) == ""
    talk.queue.put("d", 0)
    assert [item.text for item in talk.queue.items] == ["d", "b", "a"]


async def test_escape_sequences_are_gone_before_anything_is_kept() -> None:
    talk = conversation()
    talk.queue.put("a\x1b]0;title\x07b")
    assert talk.queue.items[0].text == "ab"


class Disk(Memory):
    """Remembers what it was given to save: turns that began, and texts that were queued."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[list[str], list[str]]] = []

    def save(self, session: Session) -> None:
        turns = [*session.turns, *([session.running] if session.running else [])]
        self.seen.append(([turn.prompt for turn in turns], [item.text for item in session.state.queue]))


async def test_whatever_is_saved_a_text_is_either_queued_or_has_its_turn_and_never_both() -> None:
    talk = conversation([[Say("one two")]], store=(disk := Disk()))
    await turn_with(talk, "second")
    await drained(talk)
    since = next(place for place, (_, queue) in enumerate(disk.seen) if queue)
    assert {(turns + queue).count("second") for turns, queue in disk.seen[since:]} == {1}


async def test_what_is_refused_stays_in_the_queue_and_is_not_tried_again_by_itself() -> None:
    session = new_session(floor="claude", handed_over=True, claude_session_id="c-1")
    talk = Conversation(
        session,
        local=ScriptedAgent([]),
        claude=ScriptedAgent([]),
        store=Memory(),
        wallet=Wallet(per_session=0.0),
    )
    talk.queue.put("go on")
    assert talk.queue.due is not None
    with pytest.raises(MilkError):
        await all_of(talk.queue.give(talk.queue.due))
    assert talk.queue.held == "refused" and [item.text for item in talk.queue.items] == ["go on"]


def test_the_queue_of_a_reopened_session_is_held() -> None:
    talk = conversation(session=new_session(queue=[{"id": 3, "text": "later"}]))
    assert talk.queue.held == "reopened" and talk.queue.due is None


@pytest.mark.parametrize(
    ("texts", "to"),
    [
        (["a", "/local", "b"], ["claude", None, "local"]),
        (["/local hi", "/escalate! do it", "b"], [None, None, "claude"]),
        (["/model", "/etc/hosts is what?"], [None, "claude"]),
    ],
)
def test_who_gets_a_text_follows_the_commands_before_it(
    texts: Sequence[str], to: list[AgentRole | None]
) -> None:
    queue = tuple(Queued(id=place, text=text) for place, text in enumerate(texts))
    assert list(recipients(queue, "claude")) == to
