"""One call, one result: arguments checked, questions asked one at a time, nothing run that may not run."""

import asyncio
import json
from pathlib import Path
from typing import Annotated

import pytest
from pydantic import Field

from milk_tui.core.messages import ToolCall
from milk_tui.core.permission import Answer, deny
from milk_tui.tools.base import Outcome, Prepared, Report, Tool
from milk_tui.tools.registry import TOOLS
from milk_tui.tools.trouble import ToolError
from tests.tools.tool_room import Room


def names(room: Room) -> list[str]:
    return [schema["function"]["name"] for schema in room.tools.schemas()]


def test_every_tool_says_what_it_does_and_what_its_arguments_mean() -> None:
    for tool in TOOLS.values():
        function = tool.schema["function"]
        assert function["name"] == tool.name
        assert len(function["description"]) > 40
        assert set(function["parameters"]) <= {"type", "properties", "required"}
        for properties in function["parameters"]["properties"].values():
            assert properties["description"] and properties["type"] in ("string", "integer")
        json.dumps(tool.schema)


async def test_the_network_is_off_unless_the_settings_allow_it(room: Room) -> None:
    assert "http_get" not in names(room)
    assert "switched off" in await room.refused("http_get", url="http://example.org")
    room.tools.site.allows_network = True
    assert "http_get" in names(room)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("write_file", {"path": "a.txt", "text": "x"}),
        ("edit_file", {"path": "a.txt", "old": "x", "new": "y"}),
        ("run_command", {"command": "touch a.txt"}),
        ("http_get", {"url": "http://127.0.0.1"}),
    ],
)
async def test_a_session_that_only_plans_refuses_everything_but_reading(
    room: Room, name: str, arguments: dict[str, str]
) -> None:
    room.tools.site.allows_network = True
    room.tools.plans_only = True
    assert "only plans" in await room.refused(name, **arguments)
    assert room.questions == []
    assert names(room) == ["read_file", "list_dir", "find_files", "grep"]
    assert list(room.directory.iterdir()) == []


async def test_planning_that_begins_while_a_question_is_open_holds(room: Room) -> None:
    def plan() -> None:
        room.tools.plans_only = True

    room.before_answer = plan
    assert "only plans" in await room.refused("run_command", command="touch a.txt")
    assert list(room.directory.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "arguments", "sentence"),
    [
        ("read_file", {}, "read_file was not run: `path` is missing. Its arguments are path, start, lines."),
        ("read_file", {"path": 1}, "`path`: input should be a valid string"),
        ("read_file", {"path": ["a"]}, "`path`: input should be a valid string"),
        ("read_file", {"path": "a", "start": 0}, "`start`: input should be greater than or equal to 1"),
        ("read_file", {"path": "a", "file": "b"}, "there is no `file`"),
        ("read_file", {"path": None}, "`path`: input should be a valid string"),
        ("run_command", {"command": "ls", "timeout": 10**9}, "less than or equal to 600"),
        ("rm", {}, "There is no tool called “rm”. The tools are: read_file,"),
    ],
)
async def test_bad_arguments_are_a_sentence_to_act_on(
    room: Room, name: str, arguments: dict[str, object], sentence: str
) -> None:
    assert sentence in await room.refused(name, **arguments)


async def test_what_a_small_model_writes_for_an_optional_argument_is_taken(room: Room) -> None:
    (room.directory / "a.txt").write_text("one\ntwo\n")
    assert await room.done("read_file", path="a.txt", start="2", lines=None) == "2\ttwo"


@pytest.mark.parametrize("arguments", ["", "[]", "{", "null", "[" * 100_000, '{"path": "\\ud83d"}'])
async def test_arguments_that_are_no_object_are_a_sentence(room: Room, arguments: str) -> None:
    call = ToolCall(id="1", name="read_file", arguments=arguments)
    result = await room.tools.run(call, room.ask, room.reports.append)
    assert result.is_error and result.call_id == "1"
    result.text.encode("utf-8")


async def test_nobody_there_means_no(room: Room) -> None:
    call = ToolCall(id="1", name="run_command", arguments='{"command": "touch a.txt"}')
    result = await room.tools.run(call, deny, room.reports.append)
    assert result.is_error
    assert result.text == "The user said no. Nobody is there to allow run_command."
    assert list(room.directory.iterdir()) == []


async def test_one_question_is_asked_at_a_time(room: Room) -> None:
    open_questions = 0

    async def count() -> None:
        nonlocal open_questions
        open_questions += 1
        assert open_questions == 1
        await asyncio.sleep(0)
        open_questions -= 1

    room.before_answer = count
    await asyncio.gather(*(room.done("write_file", path=f"{n}.txt", text="x") for n in range(5)))
    assert len(room.questions) == 5


async def test_a_question_that_is_cancelled_lets_the_next_one_be_asked(room: Room) -> None:
    asked = asyncio.Event()

    async def wait() -> None:
        asked.set()
        await asyncio.Event().wait()

    room.before_answer = wait
    running = asyncio.create_task(room.call("write_file", path="a.txt", text="x"))
    await asked.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    room.before_answer = lambda: None
    await room.done("write_file", path="b.txt", text="x")


async def test_a_question_is_complete(room: Room) -> None:
    room.answer = Answer()
    await room.refused("run_command", command="make test", timeout=30)
    (question,) = room.questions
    assert json.loads(question.arguments) == {"command": "make test", "timeout": 30}
    assert (question.tool, question.agent, question.command) == ("run_command", "local", "make test")
    assert question.session_scope == "exactly this command: make test"


async def test_a_tool_that_acts_and_does_not_ask_is_not_run(room: Room) -> None:
    ran = []

    def sneak(site: object, path: Annotated[str, Field(description="Any.")]) -> Prepared:
        """Write without asking."""

        async def run(_report: Report) -> Outcome:
            ran.append(path)
            return Outcome("done")

        return Prepared(None, run)

    with pytest.raises(ToolError, match="must ask"):
        await Tool(sneak, "write").prepare(room.tools.site, {"path": "x"})
    assert (await Tool(sneak, "read").prepare(room.tools.site, {"path": "x"})).question is None
    assert ran == []


async def test_a_disk_that_refuses_is_a_sentence(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_args: object) -> None:
        raise OSError(28, "No space left on device", "a.txt")

    (room.directory / "a.txt").write_text("old")
    monkeypatch.setattr("os.fsync", full)
    assert "the disk is full" in await room.refused("write_file", path="a.txt", text="new")
    assert [path.read_text() for path in Path(room.directory).iterdir()] == ["old"]
