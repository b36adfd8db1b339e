"""What the real Claude Code asks the user: choices, plans, several at once; and what it is told in answer."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from milk_tui.conversation.permissions import PermissionDesk
from milk_tui.core.events import AgentEvent, PlanningChanged, ToolCallFinished, ToolCallStarted
from milk_tui.core.menu import Choice, Menu
from milk_tui.core.messages import ToolCall
from milk_tui.core.permission import Answer, Question
from milk_tui.core.todos import Todos
from tests.agents.claude_environment import (
    Stage,
    claude_stage,
    events_of,
    handed,
    is_finished,
    results_of,
    soon,
    text_of,
)
from tests.agents.messages_api import Request, Say, UseTool, UseTools

DATABASE = {
    "question": "Which database?",
    "header": "Database",
    "multiSelect": False,
    "options": [
        {"label": "SQLite", "description": "A file"},
        {"label": "Postgres", "description": "A server", "preview": "[db]\nhost = …"},
    ],
}
PARTS = {
    "question": "Which parts?",
    "header": "Parts",
    "multiSelect": True,
    "options": [{"label": name, "description": name.lower()} for name in ("Search", "Login", "Export")],
}
ASK = UseTool("AskUserQuestion", {"questions": [DATABASE, PARTS]})
WRITE = UseTool("Write", {"file_path": "b.txt", "content": "b"})
EDITS = "every edit in the working directory"


@pytest.fixture
async def stage(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> AsyncIterator[Stage]:
    async with claude_stage(monkeypatch, tmp_path) as stage:
        yield stage


def errors_of(events: list[AgentEvent]) -> list[bool]:
    return [event.result.is_error for event in events if isinstance(event, ToolCallFinished)]


async def test_choices_reach_the_user_as_menus_and_the_answers_reach_claude(stage: Stage) -> None:
    stage.api.play(ASK)
    stage.asked.answers = [Answer(decision="once", chosen=("Postgres", "Search, my own\nwords"))]
    events = await events_of(stage.agent(), stage.request(handoff=handed()))
    (question,) = stage.asked.questions
    assert question.menus == (
        Menu(
            question="Which database?",
            header="Database",
            choices=(
                Choice(label="SQLite", description="A file"),
                Choice(label="Postgres", description="A server", preview="[db]\nhost = …"),
            ),
        ),
        Menu(
            question="Which parts?",
            header="Parts",
            choices=tuple(Choice(label=n, description=n.lower()) for n in ("Search", "Login", "Export")),
            takes_several=True,
        ),
    )
    assert '"Which database?"="Postgres"' in stage.api.last.said
    assert '"Which parts?"="Search, my own\nwords"' in stage.api.last.said
    assert results_of(events) == ["Database: Postgres · Parts: Search, my own\nwords"]
    assert errors_of(events) == [False] and is_finished(events)


async def test_a_question_that_is_left_out_is_no_answer_to_claude(stage: Stage) -> None:
    stage.api.play(ASK)
    stage.asked.answers = [Answer(decision="once", chosen=("", "Login"))]
    await events_of(stage.agent(), stage.request(handoff=handed()))
    assert '"Which parts?"="Login"' in stage.api.last.said
    assert '"Which database?"=' not in stage.api.last.said


async def test_a_question_that_is_declined_is_told_to_claude_in_a_sentence(stage: Stage) -> None:
    stage.api.play(ASK)
    stage.asked.answers = [Answer()]
    events = await events_of(stage.agent(), stage.request(handoff=handed()))
    assert "The user does not answer. Go on as you think best" in stage.api.last.said
    assert errors_of(events) == [True] and is_finished(events)


async def test_without_anybody_to_answer_claude_is_told_so(stage: Stage) -> None:
    stage.api.play(ASK)
    stage.asked = PermissionDesk().ask  # type: ignore[assignment]
    events = await events_of(stage.agent(), stage.request(handoff=handed()))
    assert "Nobody is there to answer." in stage.api.last.said and is_finished(events)


async def test_a_plan_is_shown_sent_back_with_a_word_and_carried_out_when_approved(stage: Stage) -> None:
    """Claude Code names the file for its plan only once it plans; the script follows it."""
    agent = stage.agent()

    def write_plan(request: Request) -> None:
        found = re.search(r"/[^\s\"]*/plans/[\w-]+\.md", json.dumps(request.body))
        if found and stage.api.on_request is not None:
            stage.api.on_request = None
            stage.api.play(
                UseTool("Write", {"file_path": found[0], "content": "# Plan\n\n1. Write a."}),
                UseTool("ExitPlanMode", {}),
                UseTool("ExitPlanMode", {}),
                UseTool("Write", {"file_path": "a.txt", "content": "a"}),
            )

    stage.api.on_request = write_plan
    stage.api.play(UseTool("EnterPlanMode", {}))
    stage.asked.answers = [Answer(word="And tests?"), Answer(decision="session")]
    events = await events_of(agent, stage.request(handoff=handed()))
    assert [event.plans_only for event in events if isinstance(event, PlanningChanged)] == [True, False]
    first, second = stage.asked.questions
    assert first.plan == second.plan == "# Plan\n\n1. Write a."
    assert first.session_scope == EDITS
    assert "go on planning. The user says: And tests?" in stage.api.last.said
    assert "User has approved your plan" in stage.api.last.said
    assert (stage.cwd / "a.txt").read_text() == "a" and is_finished(events)


async def test_the_user_lets_claude_only_plan_and_lets_it_work_again(stage: Stage) -> None:
    plans = True
    agent = stage.agent(plans_only=lambda: plans)
    events = await events_of(agent, stage.request(handoff=handed()))
    assert is_finished(events) and "Plan mode is active" in json.dumps(stage.api.last.body)
    assert not any(isinstance(event, PlanningChanged) for event in events)
    plans = False
    stage.api.play(UseTool("EnterPlanMode", {}))
    events = await events_of(agent, stage.request())
    changes = [event.plans_only for event in events if isinstance(event, PlanningChanged)]
    assert changes == [True] and stage.pids()
    stage.api.play(WRITE)
    stage.asked.answers = [Answer(decision="session")]
    assert is_finished(await events_of(agent, stage.request()))
    assert [question.session_scope for question in stage.asked.questions] == [EDITS]


async def test_questions_that_come_at_once_are_asked_in_order_and_answered_once_each(stage: Stage) -> None:
    files = [stage.root / f"{name}.txt" for name in "abc"]
    for file in files:
        file.write_text(f"in {file.name}")
    reads = tuple(UseTool("Read", {"file_path": str(file)}) for file in files)
    stage.api.play(UseTools(reads))
    desk, places, asked = PermissionDesk(), list[tuple[int, int]](), list[Question]()

    async def answer(question: Question) -> Answer:
        await soon(lambda: desk.place.of == len(files) or asked)
        places.append((desk.place.number, desk.place.of))
        asked.append(question)
        return Answer(decision="no" if len(asked) == 2 else "once")

    desk.answerer = answer
    stage.asked = desk.ask  # type: ignore[assignment]
    events = await events_of(stage.agent(), stage.request(handoff=handed()))
    assert [question.path for question in asked] == [str(file) for file in files]
    assert places == [(1, 3), (2, 3), (3, 3)]
    assert sorted(errors_of(events)) == [False, False, True] and is_finished(events)
    assert "in a.txt" in stage.api.last.said and "in c.txt" in stage.api.last.said
    assert "in b.txt" not in stage.api.last.said


async def test_what_is_allowed_for_the_session_answers_the_same_question_that_waits(stage: Stage) -> None:
    files = [stage.root / f"{name}.txt" for name in "abc"]
    for file in files:
        file.write_text(f"in {file.name}")
    stage.api.play(UseTools(tuple(UseTool("Read", {"file_path": str(file)}) for file in files)))
    desk, asked = PermissionDesk(), list[Question]()

    async def answer(question: Question) -> Answer:
        await soon(lambda: desk.place.of == len(files))
        asked.append(question)
        return Answer(decision="session")

    desk.answerer = answer
    stage.asked = desk.ask  # type: ignore[assignment]
    events = await events_of(stage.agent(), stage.request(handoff=handed()))
    assert len(asked) == 1 and errors_of(events) == [False, False, False]


async def test_stopping_refuses_all_questions_that_wait(stage: Stage) -> None:
    files = [stage.root / f"{name}.txt" for name in "ab"]
    for file in files:
        file.write_text(f"in {file.name}")
    stage.api.play(UseTools(tuple(UseTool("Read", {"file_path": str(file)}) for file in files)))
    agent, asked = stage.agent(), stage.asked
    running = agent.run(stage.request(handoff=handed()))

    async def read() -> None:
        async for _ in running:
            pass

    reading = asyncio.create_task(read())
    await soon(lambda: len(asked.questions) == 2)
    reading.cancel()
    await asyncio.gather(reading, return_exceptions=True)
    await soon(lambda: asked.withdrawn == 2)
    stage.api.play(Say("Well."))
    assert is_finished(await events_of(agent, stage.request()))


async def test_sub_agents_end_within_the_turn_and_their_questions_wait_for_each_other(stage: Stage) -> None:
    """They ask to run in the background, which is what Claude Code proposes; there nobody could be asked."""
    sent = {"prompt": "Touch.", "run_in_background": True}
    stage.api.play(
        UseTools(tuple(UseTool("Agent", {"description": name, **sent}) for name in ("One", "Two"))),
        UseTool("Bash", {"command": "touch one"}),
        UseTool("Bash", {"command": "touch two"}),
        Say("It is there."),
        Say("It is there."),
        Say("Both are there."),
    )
    desk, asked = PermissionDesk(), list[Question]()

    async def answer(question: Question) -> Answer:
        await soon(lambda: desk.place.of == 2)
        asked.append(question)
        return Answer(decision="once")

    desk.answerer = answer
    stage.asked = desk.ask  # type: ignore[assignment]
    events = await events_of(stage.agent(), stage.request(handoff=handed()))
    calls = [event.call for event in events if isinstance(event, ToolCallStarted)]
    parents = {call.id: call.parent_id for call in calls}
    agents = [call.id for call in calls if call.name == "Agent"]
    assert sorted(filter(None, parents.values())) == sorted(agents)
    assert [question.is_of_sub_agent for question in asked] == [True, True]
    assert (stage.cwd / "one").exists() and (stage.cwd / "two").exists()
    assert results_of(events).count("It is there.") == 2
    assert is_finished(events) and text_of(events) == "Both are there."


async def test_the_list_of_what_is_to_do_follows_both_kinds_of_tools(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_ENABLE_TODO_TOOLS", "1")
    stage.api.play(
        UseTool("TaskCreate", {"subject": "Mend it", "description": "d", "activeForm": "Mending it"}),
        UseTool("TaskCreate", {"subject": "Test it", "description": "d"}),
        UseTool("TaskUpdate", {"taskId": "1", "status": "in_progress"}),
    )
    events = await events_of(stage.agent(), stage.request(handoff=handed()))
    assert _listed(events).text() == "▸ Mend it\n○ Test it"
    monkeypatch.setenv("CLAUDE_CODE_ENABLE_TASKS", "0")
    todos = [{"content": "Mend it", "status": "completed", "activeForm": "Mending it"}]
    stage.api.play(UseTool("TodoWrite", {"todos": todos}))
    events = await events_of(stage.agent(), stage.request(handoff=handed()))
    assert _listed(events).text() == "✓ Mend it"


def _listed(events: list[AgentEvent]) -> Todos:
    todos, calls = Todos(), dict[str, ToolCall]()
    for event in events:
        if isinstance(event, ToolCallStarted):
            calls[event.call.id] = event.call
        elif isinstance(event, ToolCallFinished):
            todos = todos.after(calls[event.result.call_id], event.result)
    return todos


async def test_a_command_and_a_change_are_shown_as_they_would_happen(stage: Stage) -> None:
    (stage.cwd / "shop.py").write_text("one = 1\ntwo = 2\n")
    stage.api.play(
        UseTool("Bash", {"command": "touch x", "description": "Make x", "run_in_background": True}),
        UseTool("Read", {"file_path": "shop.py"}),
        UseTool("Edit", {"file_path": "shop.py", "old_string": "two = 2", "new_string": "two = 3"}),
        UseTool("Write", {"file_path": "new.py", "content": "new = 1\n"}),
    )
    stage.asked.answers = [Answer(), Answer(), Answer()]
    await events_of(stage.agent(), stage.request(handoff=handed()))
    command, edit, write = stage.asked.questions
    assert command.command == "touch x" and command.reason == "Make x; run_in_background: True"
    assert (edit.before, edit.after) == ("one = 1\ntwo = 2\n", "one = 1\ntwo = 3\n")
    assert edit.path == str(stage.cwd / "shop.py") and edit.session_scope == EDITS
    assert (write.before, write.after) == (None, "new = 1\n")
    assert (stage.cwd / "shop.py").read_text() == "one = 1\ntwo = 2\n"
