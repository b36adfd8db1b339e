"""Questions with choices, plans, and several questions at once: what the keys do and what the agent is told."""

import asyncio

import pytest
from textual.pilot import Pilot

from milk_tui.agents.scripted import Reply, Use
from milk_tui.core.events import PlanningChanged, TextDelta
from milk_tui.core.menu import Choice, Menu
from milk_tui.core.messages import ToolCall
from milk_tui.core.permission import Answer, Question
from milk_tui.ui.screens.asking import in_words
from milk_tui.ui.widgets.menu_card import MenuCard
from tests.ui.claude_script import EDITS, MENUS, PLAN
from tests.ui.playing import Stage, done, on_stage, say, shown, told
from tests.ui.scenes import chat, opened, questioned, until

ONE, SEVERAL = MENUS
CHOOSE = Question(tool="AskUserQuestion", arguments="{}", call_id="c1", menus=MENUS)
APPROVE = Question(tool="ExitPlanMode", arguments="{}", call_id="c1", plan=PLAN, session_scope=EDITS)


def asking(question: Question) -> Stage:
    """A local agent whose only call is this question."""
    return Stage([[Use(ToolCall(id="c1", name=question.tool), "Done.", question=question)]])


async def chosen(pilot: Pilot[None], question: Question, *keys: str) -> Answer:
    """What the question is answered with these keys, pressed on its card."""
    asked = asyncio.create_task(chat(pilot).bench.desk.ask(question))
    await (opened(pilot, MenuCard) if question.menus else questioned(pilot))
    await pilot.press("tab", *keys)
    async with asyncio.timeout(20):
        return await asked


def menu(*menus: Menu) -> Question:
    return Question(tool="AskUserQuestion", arguments="{}", menus=menus)


ONE_OF_SEVERAL = (
    (("enter",), "SQLite (Recommended)"),
    (("down", "enter"), "Postgres"),
    (("up", "up", "enter"), "Keep the JSON files"),
    (("2", "3", "enter"), "Keep the JSON files"),
    (("9", "enter"), "SQLite (Recommended)"),
    (("4", *"MySQL", "enter"), "MySQL"),
    (("o", *"MySQL", "escape", "down", "enter"), "SQLite (Recommended)"),
)
MARKED = (
    (("1", "3", "enter"), "orders.py, api.py"),
    (("1", "1", "down", "space", "enter"), "refunds.py"),
    (("1", "4", *"docs", "enter", "enter"), "orders.py, docs"),
    (("4", *"docs", "enter", "space", "2", "enter"), "refunds.py"),
)
TOGETHER = (
    (("2", "enter", "1", "enter"), ("Postgres", "orders.py")),
    (("2", "enter", "left", "3", "enter", "2", "enter"), ("Keep the JSON files", "refunds.py")),
    (("right", "2", "enter"), ("", "refunds.py")),
    (("1", "enter", "enter"), ("SQLite (Recommended)", "")),
)


async def test_one_of_several_is_chosen_by_arrows_or_numbers_and_answered_by_enter() -> None:
    async with on_stage(Stage()) as pilot:
        for keys, answer in ONE_OF_SEVERAL:
            expected = Answer(decision="once", chosen=(answer,))
            assert await chosen(pilot, menu(ONE), *keys) == expected, keys
            assert chat(pilot).prompt.has_focus


async def test_several_are_marked_by_numbers_and_space() -> None:
    async with on_stage(Stage()) as pilot:
        for keys, answer in MARKED:
            assert (await chosen(pilot, menu(SEVERAL), *keys)).chosen == (answer,), keys


async def test_questions_asked_together_are_answered_one_after_the_other_and_may_be_left_out() -> None:
    async with on_stage(Stage()) as pilot:
        for keys, answers in TOGETHER:
            assert (await chosen(pilot, CHOOSE, *keys)).chosen == answers, keys


async def test_declining_and_answering_nothing_are_a_no() -> None:
    async with on_stage(Stage()) as pilot:
        assert await chosen(pilot, menu(ONE), "escape") == Answer()
        assert await chosen(pilot, menu(ONE), "2", "escape") == Answer()
        assert await chosen(pilot, CHOOSE, "right", "enter") == Answer()


async def test_the_answer_stays_on_the_row_of_the_call() -> None:
    async with on_stage(asking(CHOOSE)) as pilot:
        await say(pilot, "Choose")
        await opened(pilot, MenuCard)
        await pilot.press("tab", "2", "enter", "1", "2", "enter")
        await done(pilot, 1)
        words = "Database: Postgres · Parts: orders.py, refunds.py"
        await until(pilot, lambda: f"✓ · {words}" in shown(pilot), "the answer is on the row")
        assert words in told(pilot)


async def test_typing_chooses_nothing_and_stays_in_the_prompt() -> None:
    async with on_stage(asking(menu(ONE))) as pilot:
        await say(pilot, "Choose")
        card = await opened(pilot, MenuCard)
        await pilot.press(*"2o1")
        assert card.has_class("-open") and not card.is_in_focus
        assert chat(pilot).prompt.full_text == "2o1"
        await pilot.press("escape")
        await done(pilot, 1)
        assert "declined" in shown(pilot)


async def test_keys_right_after_the_questions_appeared_choose_nothing() -> None:
    async with on_stage(asking(menu(SEVERAL))) as pilot:
        await say(pilot, "Choose")
        card = await opened(pilot, MenuCard)
        card.deaf_seconds = 3_600.0
        await pilot.press("tab", "1", "down", "space", "o", "enter", "escape")
        await pilot.pause()
        assert card.has_class("-open") and "[x]" not in shown(pilot)
        card.deaf_seconds = 0.0
        await pilot.press("2", "enter")
        await done(pilot, 1)
        assert "Parts: refunds.py" in told(pilot)


async def test_foreign_text_in_a_menu_is_shown_as_it_is() -> None:
    async with on_stage(Stage()) as pilot:
        for text, clean in (("[/tmp/x]",) * 2, ("[bold]b[/bold]",) * 2, ("\x1b[31mred", "red")):
            first = Choice(label=f"L {text}", description=f"D {text}", preview=f"P {text}")
            odd = Menu(question=f"Q {text}", header=f"H {text}", choices=(first, Choice(label="2")))
            asked = asyncio.create_task(chat(pilot).bench.desk.ask(menu(odd)))
            await opened(pilot, MenuCard)
            for part in (f"{letter} {clean}" for letter in "HQLDP"):
                await until(pilot, lambda part=part: part in shown(pilot), f"{part} is shown")  # type: ignore[misc]
            await pilot.press("tab", "enter")
            assert (await asked).chosen == (f"L {text}",)


@pytest.mark.parametrize("size", [(80, 24), (60, 16)])
async def test_every_choice_of_a_long_menu_can_be_reached_on_a_small_terminal(size: tuple[int, int]) -> None:
    many = Menu(
        question="Which? " * 40,
        choices=tuple(Choice(label=f"choice {n}", description="why " * 40) for n in range(1, 5)),
    )
    async with on_stage(asking(menu(many)), size) as pilot:
        await say(pilot, "Choose")
        await opened(pilot, MenuCard)
        await pilot.press("tab")
        for name in ("choice 1", "choice 2", "choice 3", "choice 4", "In your own words"):
            await until(pilot, lambda row=f"▸ {name}": _has_row(shown(pilot), row), f"{name} is in view")  # type: ignore[misc]
            assert "Enter answers" in shown(pilot)
            await pilot.press("down")
        await pilot.press("escape")
        await done(pilot, 1)


def _has_row(rows: str, name: str) -> bool:
    """Whether the row at the cursor is the one of this name."""
    return any("▸" in row and name.removeprefix("▸ ") in row for row in rows.splitlines())


async def test_a_plan_is_approved_or_not_by_a_key() -> None:
    async with on_stage(Stage()) as pilot:
        assert await chosen(pilot, APPROVE, "y") == Answer(decision="once")
        assert await chosen(pilot, APPROVE, "s") == Answer(decision="session")
        assert await chosen(pilot, APPROVE, "n") == Answer()
        assert await chosen(pilot, APPROVE, "escape") == Answer()


def test_how_a_plan_was_answered_is_said_in_words() -> None:
    assert in_words(APPROVE, Answer(decision="once")) == "approved"
    assert in_words(APPROVE, Answer(decision="session")) == f"approved for this session: {EDITS}"
    assert in_words(APPROVE, Answer(word="Tests first")) == "not approved: Tests first"


async def test_a_plan_is_read_to_its_end_and_sent_back_with_a_word() -> None:
    async with on_stage(Stage(), (80, 24)) as pilot:
        asked = asyncio.create_task(chat(pilot).bench.desk.ask(APPROVE))
        await questioned(pilot)
        await until(pilot, lambda: "Orders in SQLite" in shown(pilot), "the plan is shown")
        assert "**" not in shown(pilot) and "Nothing else changes" not in shown(pilot)
        await pilot.press("tab", "pagedown", "pagedown", "pagedown")
        await until(pilot, lambda: "Nothing else changes" in shown(pilot), "its end is shown")
        await pilot.press("r", *"Tests first", "enter")
        assert await asked == Answer(word="Tests first")


async def test_the_mode_follows_claude_and_the_user_for_whoever_has_the_floor() -> None:
    plan: Reply = [PlanningChanged(plans_only=True), TextDelta(text="A plan.")]
    work: Reply = [PlanningChanged(plans_only=False), TextDelta(text="Done.")]
    async with on_stage(Stage(claude=[plan, work])) as pilot:
        await say(pilot, "/escalate! Do it")
        await done(pilot, 1)
        toolbox = chat(pilot).bench.toolbox
        await until(
            pilot, lambda: "F9 gives the floor back · plans only" in shown(pilot), "the prompt says so"
        )
        assert toolbox.plans_only and "Claude plans only from here on" in told(pilot)
        await say(pilot, "Go")
        await done(pilot, 2)
        await until(pilot, lambda: "plans only" not in _title(shown(pilot)), "the prompt says so no more")
        assert not toolbox.plans_only and "Claude works from here on" in told(pilot)
        await say(pilot, "/mode plan")
        await until(
            pilot, lambda: "From your next prompt on Claude" in told(pilot), "it is said when it holds"
        )
        assert toolbox.plans_only


def _title(rows: str) -> str:
    """The row that says who is written to."""
    return next(row for row in rows.splitlines() if "to Claude, until" in row)


async def test_the_card_says_which_of_the_waiting_questions_it_is() -> None:
    async with on_stage(Stage()) as pilot:
        desk = chat(pilot).bench.desk
        one = asyncio.create_task(desk.ask(Question(tool="One", arguments="{}", is_of_sub_agent=True)))
        await questioned(pilot)
        assert "question 1 of" not in shown(pilot)
        two, three = (asyncio.create_task(desk.ask(question)) for question in (menu(ONE), APPROVE))
        await until(pilot, lambda: "question 1 of 3" in shown(pilot), "it is the first of three")
        assert "Claude's sub-agent wants to use One" in shown(pilot)
        await pilot.press("tab", "y")
        await opened(pilot, MenuCard)
        await until(pilot, lambda: "question 2 of 3" in shown(pilot), "it is the second")
        await pilot.press("tab", "enter")
        await questioned(pilot)
        await until(pilot, lambda: "question 3 of 3" in shown(pilot), "it is the third")
        await pilot.press("tab", "n")
        answers = await asyncio.gather(one, two, three)
        assert [answer.decision for answer in answers] == ["once", "once", "no"]


async def test_ctrl_c_stops_the_turn_and_with_it_the_question() -> None:
    async with on_stage(asking(menu(ONE))) as pilot:
        await say(pilot, "Choose")
        card = await opened(pilot, MenuCard)
        await pilot.press("tab", "ctrl+c")
        screen = await done(pilot, 1)
        assert screen.talk.session.turns[0].status == "interrupted"
        assert not card.has_class("-open") and screen.prompt.has_focus


async def test_a_question_that_is_withdrawn_leaves_the_row_of_waiting_ones() -> None:
    async with on_stage(Stage()) as pilot:
        desk = chat(pilot).bench.desk
        one, two = (asyncio.create_task(desk.ask(Question(tool=n, arguments="{}"))) for n in ("One", "Two"))
        await until(pilot, lambda: "question 1 of 2" in shown(pilot), "two wait")
        one.cancel()
        await until(pilot, lambda: "wants to use Two" in shown(pilot), "the other one is asked")
        two.cancel()
        await asyncio.gather(one, two, return_exceptions=True)
        await until(pilot, lambda: "wants to use" not in shown(pilot), "nothing is asked")
        assert desk.place == (1, 0)
