"""Addresses of model servers, and what is found out by asking them."""

import asyncio
import socket
import sys
import time
from pathlib import Path

import pytest
from pydantic import SecretStr

from milk_tui.agents.server.agent import chosen
from milk_tui.agents.server.facts import (
    ASSUMED_WINDOW,
    OLLAMA_WINDOW,
    Server,
    ServerFacts,
    ServerKind,
    is_loopback,
    normalised_url,
)
from milk_tui.agents.server.probe import discover, inspect
from milk_tui.core.errors import ConfigError
from tests.agents.canned_replies import error_reply, html_reply, json_reply, loading_reply
from tests.agents.loopback_server import Gate, ModelServer, Reply, until

ONE_MODEL = json_reply({"object": "list", "data": [{"id": "m", "object": "model"}, {"id": "n"}]})


@pytest.mark.parametrize(
    "address",
    [
        "host:1234",
        "http://host:1234",
        "http://host:1234/",
        "http://host:1234/v1",
        "http://host:1234/v1/",
        " HTTP://HOST:1234/v1 ",
        "http://host:1234/v1/chat/completions",
        "http://host:1234/v1/models",
    ],
)
def test_every_form_of_an_address_leads_to_one_url(address: str) -> None:
    assert normalised_url(address) == "http://host:1234/v1"


@pytest.mark.parametrize(
    ("address", "url"),
    [
        ("https://host/api/openai/v1", "https://host/api/openai/v1"),
        ("https://host/api", "https://host/api/v1"),
        ("[::1]:8080", "http://[::1]:8080/v1"),
        ("localhost", "http://localhost/v1"),
    ],
)
def test_paths_and_bare_hosts_are_kept(address: str, url: str) -> None:
    assert normalised_url(address) == url


@pytest.mark.parametrize(
    "address",
    [
        "",
        "  ",
        "ftp://host",
        "http://",
        "http://host:port",
        "host:99999",
        "http://[::1",
        "a b",
        "http://h?x=1",
        "h#f",
    ],
)
def test_what_is_no_address_is_refused_with_an_example(address: str) -> None:
    with pytest.raises(ConfigError, match=r"127\.0\.0\.1:8080"):
        normalised_url(address)


def test_an_address_with_a_password_is_refused_without_repeating_it() -> None:
    with pytest.raises(ConfigError) as refusal:
        normalised_url("http://me:hunter2@host:8080")
    assert "hunter2" not in str(refusal.value)


@pytest.mark.parametrize(
    "host", ["127.0.0.1:1", "127.9.9.9", "[::1]:80", "localhost:80", "a.localhost", "0.0.0.0:80"]
)
def test_addresses_on_this_machine_are_known(host: str) -> None:
    assert is_loopback(normalised_url(host))


@pytest.mark.parametrize(
    "host", ["192.168.0.1", "localhost.example.org", "127.0.0.1.nip.test", "[2001:db8::1]"]
)
def test_addresses_elsewhere_are_known(host: str) -> None:
    assert not is_loopback(normalised_url(host))


def test_a_key_does_not_show_in_the_text_of_a_server() -> None:
    assert "s3cret" not in repr(Server(url="http://h/v1", api_key=SecretStr("s3cret")))


async def test_llama_cpp_says_its_window_and_whether_it_knows_tools() -> None:
    async with ModelServer() as server:
        server.route("/v1/models", ONE_MODEL)
        props = {
            "default_generation_settings": {"n_ctx": 4096},
            "chat_template_caps": {"supports_tools": True},
        }
        server.route("/props", json_reply(props))
        facts = await inspect(server.url.removesuffix("/v1"), "k3y")
        assert (facts.state, facts.kind, facts.model) == ("ok", "llama.cpp", "m")
        assert (facts.window, facts.window_is_assumed, facts.supports_tools) == (4096, False, True)
        assert {request.headers.get("authorization") for request in server.requests} == {"Bearer k3y"}
        made = facts.server("k3y")
        assert (made.url, made.window, made.has_known_window) == (server.url, 4096, True)


async def test_llama_cpp_without_tools_in_its_template_supports_none() -> None:
    async with ModelServer() as server:
        server.route("/v1/models", ONE_MODEL)
        server.route(
            "/props", json_reply({"default_generation_settings": {"n_ctx": 512}, "chat_template_caps": {}})
        )
        assert not (await inspect(server.url)).supports_tools


def _ollama(server: ModelServer, running: object, shown: object) -> None:
    server.route("/v1/models", ONE_MODEL)
    server.route("/api/tags", json_reply({"models": [{"name": "m"}]}))
    server.route("/api/ps", json_reply({"models": running}))
    server.route("/api/show", json_reply(shown))


SHOWN = {"capabilities": ["completion", "tools"], "model_info": {"llama.context_length": 131_072}}


TRAINED_SHORT = {**SHOWN, "model_info": {"qwen2.context_length": 8192}}
ITS_OWN = {**SHOWN, "parameters": "stop x\nnum_ctx                        32768"}


@pytest.mark.parametrize(
    ("loaded", "shown", "window"),
    [
        (None, SHOWN, OLLAMA_WINDOW),
        (4_096, SHOWN, OLLAMA_WINDOW),
        (65_536, SHOWN, 65_536),
        (None, TRAINED_SHORT, 8_192),
        (None, ITS_OWN, 32_768),
        (4_096, ITS_OWN, 32_768),
        (None, {}, OLLAMA_WINDOW),
    ],
)
async def test_the_window_on_ollama_is_decided_and_never_assumed(
    loaded: int | None, shown: object, window: int
) -> None:
    async with ModelServer() as server:
        _ollama(server, [{"name": "n", "context_length": loaded}] if loaded else [], shown)
        facts = await inspect(server.url, model="n")
        assert (facts.kind, facts.window, facts.window_is_assumed) == ("ollama", window, False)
        assert next(r for r in server.requests if r.path == "/api/show").body == {"model": "n"}


@pytest.mark.parametrize(("setting", "window"), [(None, 16_384), (4_096, 4_096), (500_000, 131_072)])
def test_a_window_that_is_set_wins_on_ollama_up_to_what_the_model_was_trained_for(
    setting: int | None, window: int
) -> None:
    facts = ServerFacts(
        url="http://h/v1", state="ok", kind="ollama", window=16_384, window_is_assumed=False,
        trained_window=131_072,
    )  # fmt: skip
    server = chosen(facts, None, "", setting)
    assert (server.window, server.has_known_window) == (window, True)


def test_a_window_that_is_set_does_not_overrule_another_servers_word() -> None:
    facts = ServerFacts(url="http://h/v1", state="ok", kind="llama.cpp", window=4096, window_is_assumed=False)
    assert chosen(facts, None, "", 8192).window == 4096
    unknown = facts.model_copy(update={"window_is_assumed": True})
    assert chosen(unknown, None, "", 2048).window == 2048


@pytest.mark.parametrize(
    ("kind", "says", "asked"),
    [("openai", False, True), ("llama.cpp", False, False), ("ollama", False, False), ("ollama", True, True)],
)
def test_a_server_that_does_not_say_is_asked_with_tools(kind: ServerKind, says: bool, asked: bool) -> None:
    facts = ServerFacts(url="http://h/v1", state="ok", kind=kind, supports_tools=says)
    server = chosen(facts, None, "mine", None)
    assert (server.supports_tools, server.text_tools, server.model) == (asked, True, "mine")


async def test_a_plain_server_has_an_assumed_window_and_no_tools() -> None:
    async with ModelServer() as server:
        server.route("/v1/models", ONE_MODEL)
        facts = await inspect(server.url)
        assert (facts.state, facts.kind, facts.models) == ("ok", "openai", ("m", "n"))
        assert (facts.window, facts.window_is_assumed, facts.supports_tools) == (ASSUMED_WINDOW, True, False)


async def test_vllm_and_lm_studio_say_their_window() -> None:
    async with ModelServer() as server:
        server.route("/v1/models", json_reply({"data": [{"id": "m", "max_model_len": 32_768}]}))
        assert (await inspect(server.url)).window == 32_768
        server.route("/v1/models", ONE_MODEL)
        entry = {"id": "m", "loaded_context_length": 4096, "capabilities": ["tool_use"]}
        server.route("/api/v0/models", json_reply({"data": [entry]}))
        facts = await inspect(server.url)
        assert (facts.window, facts.window_is_assumed, facts.supports_tools) == (4096, False, True)


async def test_a_server_that_loads_says_so() -> None:
    async with ModelServer() as server:
        for path in ("/v1/models", "/props", "/health"):
            server.route(path, loading_reply())
        facts = await inspect(server.url)
        assert (facts.state, facts.words) == ("loading", "Loading model")


async def test_a_refused_key_is_told_apart_from_a_missing_server() -> None:
    async with ModelServer() as server:
        server.route("/v1/models", error_reply(401, "Invalid API Key"))
        facts = await inspect(server.url)
        assert (facts.state, facts.words) == ("refused", "Invalid API Key")


@pytest.mark.parametrize(
    "reply", [html_reply(), json_reply([1]), json_reply({"x": 1}), Reply((b"hello\r\n\r\n",), is_raw=True)]
)
async def test_another_program_on_the_port_is_not_a_model_server(reply: Reply) -> None:
    async with ModelServer() as server:
        server.route("/v1/models", reply)
        assert (await inspect(server.url)).state == "not_a_model_server"


async def test_fields_of_wrong_types_break_nothing() -> None:
    async with ModelServer() as server:
        server.route(
            "/v1/models", json_reply({"data": [{"id": 3}, "x", {"id": "m", "max_model_len": "many"}]})
        )
        server.route("/props", json_reply({"default_generation_settings": None, "chat_template_caps": "yes"}))
        facts = await inspect(server.url)
        assert (facts.models, facts.window, facts.window_is_assumed) == (("m",), ASSUMED_WINDOW, True)
        server.route("/props", json_reply({}))
        _ollama(server, ["x", {"name": "m", "context_length": None}], {"capabilities": 1, "model_info": [2]})
        server.route("/v1/models", json_reply({"data": None}))
        facts = await inspect(server.url)
        assert (facts.kind, facts.model, facts.supports_tools) == ("ollama", "", False)


async def test_a_server_that_accepts_and_says_nothing_is_unreachable_in_time() -> None:
    async with ModelServer() as server:
        for path in ("/v1/models", "/props", "/health", "/api/tags", "/api/v0/models"):
            server.route(path, Reply((Gate(),), is_raw=True))
        facts = await inspect(server.url, timeout=0.2)
        assert facts.state == "unreachable"
        assert "0.2 seconds" in facts.words
        await until(
            lambda: len(server.requests) == 5 and all(request.is_closed for request in server.requests)
        )


async def test_discovery_finds_what_listens_and_passes_by_the_rest() -> None:
    async with ModelServer() as model, ModelServer() as other:
        model.route("/v1/models", ONE_MODEL)
        other.route("/v1/models", html_reply())
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            silent = free.getsockname()[1]
            began = time.monotonic()
            found = await discover((silent, other.port, model.port))
        assert [facts.url for facts in found] == [model.url]
        assert time.monotonic() - began < 1


async def test_the_loopback_server_runs_by_itself() -> None:
    root = Path(__file__).parents[2]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.agents.loopback_server", "--reply", "Hi there", "--window", "2048",
        cwd=root, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        async with asyncio.timeout(10):
            url = (await process.stdout.readline()).decode().strip()
        facts = await inspect(url)
        assert (facts.state, facts.kind, facts.window) == ("ok", "llama.cpp", 2048)
    finally:
        process.terminate()
        await process.wait()


def test_the_loopback_server_serves_a_test_without_a_loop() -> None:
    with ModelServer() as server:
        server.route("/v1/models", ONE_MODEL)
        assert asyncio.run(inspect(server.url)).state == "ok"
