"""Choosing the model of the local agent, and what is found out to choose from."""

from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from milk_tui.agents.scripted import Pause
from milk_tui.agents.server.catalogue import catalogue
from milk_tui.agents.server.facts import ModelFacts, shown_name
from milk_tui.conversation import choosing
from milk_tui.conversation.choosing import Choices, ModelChoice
from milk_tui.core.events import TextDelta
from milk_tui.storage.config import Settings
from milk_tui.ui.screens.address import AddressScreen
from milk_tui.ui.screens.chat import ChatScreen
from milk_tui.ui.screens.model_picker import ModelPicker, row
from tests.agents.canned_replies import json_reply
from tests.agents.loopback_server import ModelServer
from tests.ui.playing import Stage, done, on_stage, say, shown, text_of
from tests.ui.scenes import until

OLLAMA = "http://127.0.0.1:11434/v1"
QWEN = ModelFacts(
    name="qwen3:8b",
    parameters="8.2B",
    size=5_200_000_000,
    quantization="Q4_K_M",
    window=16_384,
    supports_tools=True,
)
FOUND = Choices(
    choices=(
        ModelChoice(kind="server", url=OLLAMA, facts=QWEN, is_present=True),
        ModelChoice(kind="server", url=OLLAMA, facts=ModelFacts(name="[b]gemma[/b]")),
        ModelChoice(kind="server", url="https://far.example/v1", facts=ModelFacts(name="large")),
        ModelChoice(kind="embedded"),
        ModelChoice(kind="address"),
    ),
    problems=("http://127.0.0.1:8080/v1 is loading its model",),
)


def on_found(found: Choices = FOUND, **more: object) -> Stage:
    async def look(_settings: Settings) -> Choices:
        return found

    stage = Stage(**more)  # type: ignore[arg-type]
    stage.bench._look_for_models = look
    return stage


async def opened(pilot: Pilot[None], command: str = "/model") -> None:
    await say(pilot, command)
    await until(pilot, lambda: isinstance(pilot.app.screen, ModelPicker), "the picker is open")
    await until(pilot, lambda: "another address" in shown(pilot), "the models are found")


async def used(pilot: Pilot[None], stage: Stage, *expected: tuple[str, str]) -> None:
    await until(pilot, lambda: stage.used == list(expected), f"{expected} is used")


@pytest.mark.parametrize("command", ["/model", "/models"])
async def test_every_model_is_listed_with_what_its_server_says(command: str) -> None:
    async with on_stage(on_found()) as pilot:
        await opened(pilot, command)
        rows = shown(pilot)
        assert "● qwen3:8b" in rows
        assert "8.2B · Q4_K_M · 5.2 GB · reads 16.4k tokens · tools · at 127.0.0.1:11434" in rows
        assert "  [b]gemma[/b]" in rows
        assert "the built-in model" in rows
        assert "is loading its model" in rows


async def test_a_server_elsewhere_says_that_texts_leave_this_machine() -> None:
    assert "leaves this machine" in row(FOUND.choices[2])
    assert all("leaves this machine" not in row(choice) for choice in FOUND.choices[:2])


async def test_typing_filters_and_enter_chooses() -> None:
    async with on_stage(stage := on_found()) as pilot:
        await opened(pilot)
        await pilot.press(*"gem")
        await until(pilot, lambda: "qwen3" not in shown(pilot), "the list is filtered")
        await pilot.press("enter")
        await used(pilot, stage, (OLLAMA, "[b]gemma[/b]"))
        assert isinstance(pilot.app.screen, ChatScreen)


async def test_the_arrows_choose_while_the_filter_has_the_focus() -> None:
    async with on_stage(stage := on_found()) as pilot:
        await opened(pilot)
        assert pilot.app.screen.query_one(Input).has_focus
        await pilot.press("down", "enter")
        await used(pilot, stage, (OLLAMA, "[b]gemma[/b]"))


async def test_escape_changes_nothing() -> None:
    async with on_stage(stage := on_found()) as pilot:
        await opened(pilot)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChatScreen), "the chat is back")
        assert stage.used == []


async def test_a_filter_that_nothing_fits_says_so_and_enter_does_nothing() -> None:
    async with on_stage(stage := on_found()) as pilot:
        await opened(pilot)
        await pilot.press(*"zzz", "enter")
        await until(pilot, lambda: "No model fits" in shown(pilot), "it is told")
        assert isinstance(pilot.app.screen, ModelPicker)
        assert stage.used == []


async def test_the_built_in_model_can_be_chosen() -> None:
    async with on_stage(stage := on_found()) as pilot:
        await opened(pilot)
        await pilot.press(*"built", "enter")
        await used(pilot, stage, ("", ""))


async def test_a_built_in_model_that_is_not_here_is_fetched() -> None:
    found = Choices(choices=(ModelChoice(kind="embedded", is_here=False), ModelChoice(kind="address")))
    async with on_stage(stage := on_found(found)) as pilot:
        await opened(pilot)
        assert "98 MB are fetched" in shown(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: stage.fetched == 1, "it is fetched")
        stage.gate.open()


async def test_while_a_turn_runs_the_choice_of_a_model_waits() -> None:
    stage = on_found(local=[[TextDelta(text="Well"), Pause(1.0)]])
    async with on_stage(stage) as pilot:
        await say(pilot, "Hello")
        await until(pilot, lambda: "Well" in shown(pilot), "the turn runs")
        await say(pilot, "/model")
        await until(pilot, lambda: "/model" in [each.text for each in stage.talk.queue.items], "it waits")
        assert isinstance(pilot.app.screen, ChatScreen)
        stage.gate.open()
        await until(pilot, lambda: isinstance(pilot.app.screen, ModelPicker), "the list opens at its turn")


async def test_another_model_does_not_keep_the_old_ones_name_in_the_status_line() -> None:
    async with on_stage(stage := on_found()) as pilot:
        await say(pilot, "Hello")
        await done(pilot, 1)
        assert "small" in shown(pilot).splitlines()[-2]
        await opened(pilot)
        await pilot.press(*"gem", "enter")
        await used(pilot, stage, (OLLAMA, "[b]gemma[/b]"))
        await until(pilot, lambda: "[b]gemma[/b]" in shown(pilot).splitlines()[-2], "the line names it")
        assert len(stage.talk.session.turns) == 1


def hint(pilot: Pilot[None]) -> str:
    return text_of(pilot.app.screen.query_one("#address-hint"))


async def address(pilot: Pilot[None], text: str) -> None:
    await opened(pilot)
    await pilot.press(*"another", "enter")
    await until(pilot, lambda: isinstance(pilot.app.screen, AddressScreen), "the address is asked for")
    pilot.app.screen.query_one(Input).value = text
    await pilot.press("enter")


async def test_an_address_on_this_machine_is_used_at_once() -> None:
    async with on_stage(stage := on_found()) as pilot:
        await address(pilot, "127.0.0.1:9")
        await used(pilot, stage, ("127.0.0.1:9", ""))


async def test_an_address_elsewhere_is_used_only_after_what_it_means_was_shown() -> None:
    async with on_stage(stage := on_found()) as pilot:
        await address(pilot, "far.example:9")
        await until(pilot, lambda: "is not on this machine" in shown(pilot), "it is told")
        assert "Without https" in hint(pilot)
        assert stage.used == []
        await pilot.press("enter")
        await used(pilot, stage, ("far.example:9", ""))


async def test_another_address_elsewhere_is_told_about_again() -> None:
    async with on_stage(stage := on_found()) as pilot:
        await address(pilot, "far.example")
        await until(pilot, lambda: "far.example/v1 is not on" in shown(pilot), "it is told")
        pilot.app.screen.query_one(Input).value = "https://other.example"
        await pilot.press("enter")
        await until(pilot, lambda: "https://other.example/v1 is not on" in shown(pilot), "it is told again")
        assert "Without https" not in hint(pilot)
        assert stage.used == []


async def test_the_models_of_the_present_server_come_with_its_own_first(tmp_path: Path) -> None:
    async with ModelServer() as server:
        server.route("/v1/models", json_reply({"data": [{"id": "a", "max_model_len": 4096}, {"id": "b"}]}))
        settings = Settings.model_validate({"home": tmp_path, "url": server.url, "model": "b"})
        found = (await choosing.choices(settings)).choices
        mine = [choice for choice in found if choice.url == server.url]
        assert [(choice.facts.name, choice.is_present) for choice in mine] == [("a", False), ("b", True)]
        assert mine[0].facts.window == 4096
        assert [choice.kind for choice in found[-2:]] == ["embedded", "address"]


async def test_a_model_that_is_set_and_not_listed_is_offered_as_the_present_one(tmp_path: Path) -> None:
    async with ModelServer() as server:
        server.route("/v1/models", json_reply({"data": [{"id": "a"}]}))
        settings = Settings.model_validate({"home": tmp_path, "url": server.url, "model": "mine"})
        first = (await choosing.choices(settings)).choices[0]
        assert (first.facts.name, first.is_present) == ("mine", True)


async def test_a_server_that_does_not_answer_is_a_problem_in_the_list_and_not_an_error(
    tmp_path: Path,
) -> None:
    async with ModelServer() as server:
        url = server.url
    settings = Settings.model_validate({"home": tmp_path, "url": url, "embedded": False})
    found = await choosing.choices(settings)
    assert found.problems[0].startswith(f"Nothing answers at {url}")
    assert found.choices[-1].kind == "address"


OLLAMA_TAGS = {
    "models": [
        {
            "name": "qwen3:8b",
            "size": 5_200_000_000,
            "details": {"parameter_size": "8.2B", "quantization_level": "Q4_K_M"},
            "capabilities": ["completion", "tools"],
        },
        {"name": "old", "size": "large", "details": ["no"]},
        {"name": 7},
        "nothing",
    ]
}
STUDIO = {
    "data": [
        {
            "id": "gemma",
            "type": "llm",
            "quantization": "Q8_0",
            "max_context_length": 8192,
            "capabilities": ["tool_use"],
        },
        {"id": "embedder", "type": "embeddings"},
        {"id": "loaded", "loaded_context_length": 2048, "max_context_length": 8192, "capabilities": []},
    ]
}
LLAMA = {"data": [{"id": "/m/x.gguf", "meta": {"n_params": 1_500_000_000, "size": 900, "n_ctx_train": 4}}]}


def test_ollama_says_sizes_quantization_and_tools() -> None:
    assert catalogue({"data": [{"id": "other"}]}, OLLAMA_TAGS, {}) == (
        QWEN.model_copy(update={"window": None}),
        ModelFacts(name="old"),
    )


def test_lm_studio_says_quantization_window_and_tools_and_lists_no_embedders() -> None:
    assert catalogue({}, {}, STUDIO) == (
        ModelFacts(name="gemma", quantization="Q8_0", window=8192, supports_tools=True),
        ModelFacts(name="loaded", window=2048, supports_tools=False),
    )


def test_llama_cpp_says_the_size_and_a_plain_server_only_the_name() -> None:
    assert catalogue(LLAMA, {}, {}) == (ModelFacts(name="/m/x.gguf", parameters="1.5B", size=900),)
    assert catalogue({"data": [{"id": "m"}]}, {}, {}) == (ModelFacts(name="m"),)
    assert catalogue({"data": None}, {}, {}) == ()


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("/models/qwen/Q4.gguf", "Q4.gguf"),
        ("C:\\models\\Q4.gguf", "Q4.gguf"),
        ("models/Q4.gguf", "Q4.gguf"),
        ("./model", "model"),
        ("qwen/qwen3-8b", "qwen/qwen3-8b"),
        ("qwen3:8b", "qwen3:8b"),
        ("", ""),
    ],
)
def test_of_a_path_only_the_last_part_is_shown(name: str, shown: str) -> None:
    assert shown_name(name) == shown
