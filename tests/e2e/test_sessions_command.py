"""`milk-tui sessions`, the options every command takes, and what answers without anything being there."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agents.canned_replies import text_reply
from tests.agents.loopback_server import ModelServer
from tests.e2e.running import Program, assert_sentence, llama_server
from tests.storage.stored_sessions import *  # noqa: F403


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with llama_server() as server:
        server.default = text_reply("Hello.")
        yield server


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)
