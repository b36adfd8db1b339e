import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from milk_tui.core.errors import ConfigError
from milk_tui.storage import config
from milk_tui.tools.mcp_setting import McpServer

FILES = {
    "name": "files",
    "command": "npx",
    "args": ["-y", "server-files"],
    "env": {"TOKEN": "hunter2-hunter2"},
}
WEB = {"name": "web", "url": "http://127.0.0.1:1/mcp", "headers": {"Authorization": "Bearer hunter2-hunter2"}}


def loaded(folder: Path, **files: object) -> config.Settings:
    for name, value in files.items():
        (folder / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")
    return config.load(folder, None, {})


def test_without_a_word_there_are_no_servers(tmp_path: Path) -> None:
    assert config.load(tmp_path, None, {}).mcp_servers == ()


def test_a_server_is_a_program_or_an_address(tmp_path: Path) -> None:
    settings = loaded(tmp_path, tui={"mcp_servers": [FILES, WEB]})
    files, web = settings.mcp_servers
    assert settings.warnings == () and files.enabled and web.enabled
    assert (files.transport, files.command, files.args) == ("stdio", "npx", ("-y", "server-files"))
    assert (web.transport, web.url) == ("http", "http://127.0.0.1:1/mcp")
    assert web.headers["Authorization"].get_secret_value() == "Bearer hunter2-hunter2"


@pytest.mark.parametrize(
    "wrong",
    [
        "files",
        {},
        {"name": "x"},
        {"name": "x", "transport": "http", "command": "npx"},
        {"name": "x", "transport": "sse", "url": "http://h/sse"},
        {"name": "x", "url": "ftp://h"},
        {"name": "x", "url": "http://"},
        {"name": "x\x1b[31m", "command": "npx"},
        {"name": "x" * 41, "command": "npx"},
        {"name": "x", "command": "n\0px"},
        {"name": "x", "command": "npx", "args": "one"},
        {"name": "x", "command": "npx", "args": ["\0"]},
        {"name": "x", "command": "npx", "env": {"A=B": "1"}},
        {"name": "x", "command": "npx", "env": {"A": 1}},
        {"name": "x", "url": "http://h/mcp", "headers": {"A: b": "c"}},
        {"name": "x", "url": "http://h/mcp", "headers": {"A": "b\r\nC: d"}},
        {"name": "files", "command": "other"},
    ],
)
def test_a_server_that_is_described_wrongly_loses_only_itself(tmp_path: Path, wrong: object) -> None:
    settings = loaded(tmp_path, tui={"mcp_servers": [FILES, wrong, WEB], "theme": "nord"})
    assert [server.name for server in settings.mcp_servers] == ["files", "web"]
    assert settings.mcp_servers[0].command == "npx" and settings.theme == "nord"
    assert len(settings.warnings) == 1 and "Number 2" in settings.warnings[0]
    assert settings.warnings[0].isprintable()


@pytest.mark.parametrize("command", ["./server", "bin/server", "../server", "~nobody-of-that-name/server"])
def test_a_program_in_the_open_project_is_never_a_server(command: str) -> None:
    with pytest.raises(ValidationError):
        McpServer.model_validate({"name": "x", "command": command})


def test_a_list_that_is_none_gives_way_to_the_next_file(tmp_path: Path) -> None:
    settings = loaded(tmp_path, tui={"mcp_servers": {"files": FILES}}, config={"mcp_servers": [WEB]})
    assert [server.name for server in settings.mcp_servers] == ["web"] and len(settings.warnings) == 1


def test_the_go_programs_servers_are_ours_and_its_key_becomes_a_header(tmp_path: Path) -> None:
    theirs: list[dict[str, Any]] = [
        {
            "name": "files",
            "transport": "stdio",
            "command": "npx",
            "args": ["-y"],
            "url": "",
            "enabled": False,
            "timeout": 5,
        },
        {"name": "web", "transport": "http", "url": "http://h/mcp", "auth": "bearer", "api_key": "hunter2"},
        {"name": "open", "url": "http://h/mcp", "auth": "none", "api_key": "left over"},
    ]
    settings = loaded(tmp_path, config={"mcp_servers": theirs})
    files, web, unlocked = settings.mcp_servers
    assert settings.warnings == () and not files.enabled and web.enabled
    assert web.headers["Authorization"].get_secret_value() == "Bearer hunter2" and not unlocked.headers


def test_a_secret_of_a_server_shows_nowhere(tmp_path: Path) -> None:
    settings = loaded(
        tmp_path, tui={"mcp_servers": [FILES, WEB, FILES | {"name": "y", "env": {"K=": "hunter2"}}]}
    )
    assert "hunter2" not in f"{settings!r} {settings} {settings.model_dump_json()} {settings.warnings}"
    assert [server.masked("say hunter2-hunter2!") for server in settings.mcp_servers] == ["say [secret]!"] * 2


def test_a_variable_that_is_no_secret_stays_readable() -> None:
    server = McpServer.model_validate({"name": "x", "command": "y", "env": {"ROOT": "/srv/notes"}})
    assert server.masked("cannot open /srv/notes") == "cannot open /srv/notes"


def test_an_address_is_shown_without_its_login_and_query() -> None:
    server = McpServer.model_validate({"name": "x", "url": "https://me:word@host:8/mcp?key=hunter2"})
    assert server.place == "https://host:8/mcp"


def test_saved_servers_are_read_again_with_their_secrets(tmp_path: Path) -> None:
    before = loaded(tmp_path, config={"mcp_servers": [WEB | {"api_key": "hunter2-hunter2"}]})
    changed = tuple(server.model_copy(update={"enabled": False}) for server in before.mcp_servers)
    config.save(tmp_path, mcp_servers=(*changed, McpServer.model_validate(FILES)))
    after = config.load(tmp_path, None, {})
    assert after.warnings == () and [server.enabled for server in after.mcp_servers] == [False, True]
    assert after.mcp_servers[0].headers == before.mcp_servers[0].headers
    assert after.mcp_servers[1] == McpServer.model_validate(FILES)


def test_a_variable_holds_the_servers_as_json(tmp_path: Path) -> None:
    environ = {"MILK_MCP_SERVERS": json.dumps([FILES])}
    assert config.load(tmp_path, None, environ).mcp_servers == (McpServer.model_validate(FILES),)
    broken = config.load(tmp_path, None, {"MILK_MCP_SERVERS": "[{"})
    assert broken.mcp_servers == () and "MILK_MCP_SERVERS" in broken.warnings[0]
    with pytest.raises(ConfigError):
        config.save(tmp_path, mcp_servers=[{"name": "x"}])
