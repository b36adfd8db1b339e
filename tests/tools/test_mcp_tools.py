import json
import re
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milk_tui.core.permission import Scope
from milk_tui.tools.base import Outcome, Report
from milk_tui.tools.mcp_tools import NAME_LIMIT, SCHEMA_LIMIT, Offer, function_name, offer
from milk_tui.tools.site import Site
from milk_tui.tools.trouble import ToolError


async def call(tool: str, arguments: Mapping[str, Any], report: Report) -> Outcome:
    return Outcome(f"{tool} {json.dumps(arguments)}")


def offered(*rows: tuple[str, str, Mapping[str, Any]], server: str = "web") -> Offer:
    return offer(server, rows, call)


names = st.text(st.sampled_from("ab_-. é\x1b") | st.characters(), max_size=80)


@settings(deadline=None)
@given(names, names)
def test_every_name_is_a_function_name(server: str, tool: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", function_name(server, tool))


pairs = st.tuples(st.text("a_-. ", min_size=1, max_size=6), st.text("a_-. ", min_size=1, max_size=6))


@settings(deadline=None)
@given(pairs, pairs)
def test_no_two_tools_share_a_name(one: tuple[str, str], other: tuple[str, str]) -> None:
    assert one == other or function_name(*one) != function_name(*other)


@pytest.mark.parametrize(
    ("server", "tool", "name"),
    [("web", "get", "web__get"), ("web", "get__all", "web__get__all"), ("a", "b" * 61, "a__" + "b" * 61)],
)
def test_a_good_name_is_kept_as_it_is(server: str, tool: str, name: str) -> None:
    assert function_name(server, tool) == name


def test_a_name_that_could_be_another_servers_tool_is_not_taken() -> None:
    taken = {function_name(*pair) for pair in [("a", "b__c"), ("a__b", "c"), ("a", "_b"), ("a_", "b")]}
    assert len(taken) == 4
    assert len(function_name("a", "b" * 200)) == NAME_LIMIT
    assert function_name("a", "b" * 200) != function_name("a", "b" * 201)


def test_what_a_server_says_of_a_tool_is_cleaned_and_shortened() -> None:
    schema = {
        "$schema": "x",
        "type": "array",
        "properties": {"q": {"type": "string", "description": "\x1b[2J" + "y" * 1_000, "default": None}},
        "required": ["q"],
    }
    (tool,) = offered(("get", "\x1b]0;title\x07Get " + "x" * 5_000, schema)).tools
    function = tool.schema["function"]
    assert function["description"].startswith("Get xxx") and len(function["description"]) <= 1_000
    assert function["parameters"]["type"] == "object" and "$schema" not in function["parameters"]
    field = function["parameters"]["properties"]["q"]
    assert (
        290 < len(field["description"]) <= 300
        and "\x1b" not in field["description"]
        and field["default"] is None
    )
    assert function["parameters"]["required"] == ["q"]
    assert tool.chars == len(json.dumps(tool.schema, ensure_ascii=False))


def test_a_tool_without_parameters_takes_an_empty_object() -> None:
    (tool,) = offered(("get", "", {})).tools
    assert tool.schema["function"]["parameters"] == {"type": "object", "properties": {}}


def test_a_large_schema_loses_its_descriptions_first_and_a_huge_one_is_left_out() -> None:
    field = {"type": "string", "title": "T", "description": "z" * 280}
    large = {"type": "object", "properties": {"description": field, **{f"f{n}": field for n in range(30)}}}
    huge = {"type": "object", "properties": {f"f{n}": field for n in range(1_000)}}
    found = offered(("large", "", large), ("huge", "", huge), ("small", "", {}))
    assert [tool.name for tool in found.tools] == ["web__large", "web__small"] and found.left_out == 1
    parameters = found.tools[0].schema["function"]["parameters"]
    assert parameters["properties"]["description"] == {"type": "string"}
    assert len(parameters["properties"]) == 31 and len(json.dumps(parameters)) <= SCHEMA_LIMIT


def test_a_tool_that_is_listed_twice_is_offered_once() -> None:
    found = offered(("get", "first", {}), ("get", "second", {}))
    assert [tool.schema["function"]["description"] for tool in found.tools] == ["first"]
    assert found.left_out == 1


async def test_half_a_character_in_the_arguments_is_refused_before_anybody_is_asked() -> None:
    (tool,) = offered(("get", "", {})).tools
    site: Site = None  # type: ignore[assignment]
    for arguments in ({"q": "a\ud800"}, {"\udfff": 1}, {"q": [{"deep": "\udc00"}]}):
        with pytest.raises(ToolError, match="half a character"):
            await tool.prepare(site, arguments)


async def test_every_call_asks_and_shows_its_arguments() -> None:
    (tool,) = offered(("get", "", {})).tools
    site: Site = None  # type: ignore[assignment]
    prepared = await tool.prepare(site, {"q": "ü", "n": [1]})
    question = prepared.question
    assert tool.effect == "foreign" and question is not None
    assert (question.tool, question.agent) == ("web__get", "local")
    assert json.loads(question.arguments) == {"q": "ü", "n": [1]} and "ü" in question.arguments
    assert "“get”" in question.reason and "“web”" in question.reason
    assert question.scope == Scope(tool="web__get", kind="tool", subject="web__get")
    assert question.session_scope == "web__get, whatever its arguments"
    assert (await prepared.run(print)).text == 'get {"q": "\\u00fc", "n": [1]}'
