"""What most end-to-end tests need: a local model server, a Messages API, and a world that reaches nothing else."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agents.canned_replies import json_reply
from tests.agents.loopback_server import ModelServer
from tests.agents.messages_api import MessagesApi
from tests.e2e.terminal import World, as_model_server, messages_api


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield as_model_server(running)


@pytest.fixture
def api() -> Iterator[MessagesApi]:
    with messages_api() as running:
        yield running


@pytest.fixture
def world(tmp_path: Path, api: MessagesApi) -> Iterator[World]:
    """A world in which nothing may be left running."""
    world = World(tmp_path, api.url)
    yield world
    assert world.soon_empty()


@pytest.fixture
def tool_server(server: ModelServer) -> ModelServer:
    """A llama.cpp whose model knows tools."""
    server.route(
        "/props",
        json_reply(
            {
                "default_generation_settings": {"n_ctx": 16_384},
                "chat_template_caps": {"supports_tools": True, "supports_tool_calls": True},
            }
        ),
    )
    return server
