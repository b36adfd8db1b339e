"""Permission questions: nothing but a deliberate key means yes, and what is asked is shown as it is."""

import asyncio

import pytest

from milk_tui.agents.scripted import Reply, Use
from milk_tui.core.events import TextDelta
from milk_tui.core.messages import ToolCall
from milk_tui.core.permission import Answer, Question, Scope
from milk_tui.ui.screens.chat import ChatScreen
from milk_tui.ui.widgets.card import DEAF_SECONDS
from milk_tui.ui.widgets.question_card import QuestionCard
from tests.ui.playing import Stage, done, on_stage, say, shown, told
from tests.ui.scenes import chat, questioned, until

EDIT = Question(
    tool="Edit",
    arguments='{"file_path": "shop.py"}',
    path="/home/ana/shop.py",
    reason="Edits are asked about",
    session_scope="edit files in this directory",
)
FOREIGN = ("[/tmp/x]", "[type=e, v={'a[0]'}]", "[bold]not bold[/bold]", "[r")
FILE = Scope(tool="write", kind="file", subject="/home/ana/shop.py")
FOLDER = Scope(tool="write", kind="folder", subject="/home/ana")


def asking(question: Question, *more: Question) -> Stage:
    """A local agent that asks before each of its calls."""
    reply: Reply = [
        *(
            Use(ToolCall(id=f"c{number}", name=each.tool), f"result {number}", question=each)
            for number, each in enumerate((question, *more), 1)
        ),
        TextDelta(text="That was it."),
    ]
    return Stage([reply])


@pytest.mark.parametrize(
    ("key", "result"),
    [
        ("y", "result 1"),
        ("s", "result 1"),
        ("n", "Not allowed."),
        ("enter", "Not allowed."),
        ("escape", "Not allowed."),
    ],
)
async def test_after_tab_a_key_decides(key: str, result: str) -> None:
    async with on_stage(asking(EDIT)) as pilot:
        await say(pilot, "Mend it")
        card = await questioned(pilot)
        assert not card.has_focus
        await pilot.press("tab", key)
        screen = await done(pilot, 1)
        assert [m.result.text for m in screen.talk.session.turns[0].messages if m.result] == [result]
        assert not card.display
        assert screen.prompt.has_focus
        assert "That was it." in told(pilot)


async def test_typing_does_not_answer_and_is_queued() -> None:
    async with on_stage(asking(EDIT)) as pilot:
        await say(pilot, "Mend it")
        card = await questioned(pilot)
        await pilot.press(*"yes", "enter")
        queue = chat(pilot).talk.queue
        await until(pilot, lambda: [item.text for item in queue.items] == ["yes"], "it is queued")
        assert card.has_class("-open")
        queue.take(queue.items[0].id)
        await pilot.press("escape")
        await done(pilot, 1)
        assert "Not allowed." in told(pilot)


async def test_a_key_right_after_the_question_appeared_does_not_answer() -> None:
    async with on_stage(asking(EDIT)) as pilot:
        await say(pilot, "Mend it")
        card = await questioned(pilot)
        card.deaf_seconds = 3_600.0
        await pilot.press("tab", "y", "n", "enter")
        await pilot.pause()
        assert card.has_class("-open")
        card.deaf_seconds = 0.0
        await pilot.press("y")
        await done(pilot, 1)


async def test_a_question_is_deaf_for_half_a_second_by_itself() -> None:
    async with on_stage(asking(EDIT)) as pilot:
        assert pilot.app.screen.query_one(QuestionCard).deaf_seconds == DEAF_SECONDS == 0.5


async def test_stopping_the_turn_closes_the_question() -> None:
    async with on_stage(stage := asking(EDIT)) as pilot:
        await say(pilot, "Mend it")
        card = await questioned(pilot)
        await pilot.press("tab")
        stage.talk.stop()
        screen = await done(pilot, 1)
        assert not card.has_class("-open")
        assert screen.prompt.has_focus
        assert screen.talk.session.turns[0].status == "interrupted"


async def test_two_questions_at_once_come_one_after_the_other() -> None:
    async with on_stage(stage := asking(EDIT)) as pilot:
        card = pilot.app.screen.query_one(QuestionCard)
        asked = [
            asyncio.create_task(stage.desk.ask(Question(tool=name, arguments="{}")))
            for name in ("One", "Two")
        ]
        await questioned(pilot)
        assert "Claude wants to use One" in shown(pilot)
        await pilot.press("tab", "y")
        await until(pilot, lambda: "Claude wants to use Two" in shown(pilot), "the second is asked")
        assert not card.has_focus
        await pilot.press("tab", "n")
        assert [answer.decision for answer in await asyncio.gather(*asked)] == ["once", "no"]


async def test_the_session_key_does_nothing_where_no_scope_is_named() -> None:
    async with on_stage(asking(Question(tool="Bash", arguments="{}"))) as pilot:
        await say(pilot, "Mend it")
        card = await questioned(pilot)
        await pilot.press("tab", "s", "a", "w")
        await pilot.pause()
        assert card.has_class("-open")
        assert "in this session" not in shown(pilot)


@pytest.mark.parametrize(
    ("key", "answer"),
    [
        ("s", Answer(decision="session")),
        ("w", Answer(decision="session", scope=FOLDER)),
        ("a", Answer(decision="always")),
    ],
)
async def test_what_can_be_granted_is_named_and_granted_by_its_key(key: str, answer: Answer) -> None:
    question = Question(tool="write", arguments="{}", scope=FILE, wider=FOLDER)
    async with on_stage(asking(question)) as pilot:
        asked = asyncio.create_task(chat(pilot).asking.ask(question))
        await questioned(pilot)
        rows = shown(pilot)
        assert f"s yes, in this session: {FILE.words()}" in rows
        assert f"w yes, in this session: {FOLDER.words()}" in rows
        assert f"a yes, always: {FILE.words()}" in rows
        await pilot.press("tab", key)
        assert await asked == answer


@pytest.mark.parametrize("text", FOREIGN)
async def test_foreign_text_is_shown_as_it_is(text: str) -> None:
    question = Question(
        tool=f"tool {text}",
        arguments=f"args {text}",
        path=f"path {text}",
        reason=f"why {text}",
        session_scope=text,
    )
    async with on_stage(asking(question)) as pilot:
        await say(pilot, "Mend it")
        await questioned(pilot)
        rows = shown(pilot)
        for words in (
            f"wants to use tool {text}",
            f"args {text}",
            f"path {text}",
            f"why {text}",
            f": {text}",
        ):
            assert words in rows, words


async def test_the_card_says_which_agent_asks() -> None:
    async with on_stage(asking(EDIT.model_copy(update={"agent": "local"}))) as pilot:
        await say(pilot, "Mend it")
        await questioned(pilot)
        assert "The local agent wants to use Edit" in shown(pilot)


async def test_a_command_is_shown_as_it_would_run() -> None:
    question = Question(tool="run_command", arguments='{"command": "x"}', command="rm -rf build && make")
    async with on_stage(asking(question)) as pilot:
        await say(pilot, "Mend it")
        await questioned(pilot)
        assert "rm -rf build && make" in shown(pilot)


async def test_a_change_is_shown_by_its_lines() -> None:
    before, after = "one\ntwo\n[/x]\n", "one\n2 [b]\n[/x]\n"
    question = Question(tool="write", arguments="{}", path="/a", before=before, after=after)
    async with on_stage(asking(question)) as pilot:
        await say(pilot, "Mend it")
        await questioned(pilot)
        rows = shown(pilot)
        assert "-two" in rows and "+2 [b]" in rows and " [/x]" in rows


async def test_arguments_longer_than_the_card_can_be_read_with_the_arrows() -> None:
    question = Question(tool="Bash", arguments="\n".join(f"line {number}" for number in range(60)))
    async with on_stage(asking(question), size=(80, 24)) as pilot:
        await say(pilot, "Mend it")
        await questioned(pilot)
        assert "line 59" not in shown(pilot)
        assert "y yes, once" in shown(pilot)
        await pilot.press("tab", *["down"] * 60)
        assert "line 59" in shown(pilot)


async def test_the_keys_have_room_even_on_the_smallest_terminal() -> None:
    arguments = "\n".join(f"line {number}" for number in range(60))
    question = Question(tool="write", arguments=arguments, path="/a", scope=FILE, wider=FOLDER)
    async with on_stage(asking(question), size=(60, 20)) as pilot:
        await say(pilot, "Mend it")
        await questioned(pilot)
        rows = shown(pilot)
        for words in ("y yes, once", "s yes,", "w yes,", "a yes, always", "path    /a", "to the local agent"):
            assert words in rows, words


async def test_ctrl_q_quits_while_a_question_is_open() -> None:
    async with on_stage(asking(EDIT)) as pilot:
        await say(pilot, "Mend it")
        await questioned(pilot)
        await pilot.press("tab", "ctrl+q")
        await until(pilot, lambda: pilot.app._exit, "the app ends")


async def test_a_question_asked_under_an_open_dialog_waits_for_its_own_key() -> None:
    async with on_stage(stage := asking(EDIT)) as pilot:
        await pilot.press("f1")
        asked = asyncio.create_task(stage.desk.ask(EDIT))
        await questioned(pilot)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChatScreen), "help is closed")
        assert not asked.done()
        await pilot.press("tab", "y")
        assert (await asked).decision == "once"
