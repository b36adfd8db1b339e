import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from milk_tui.core.errors import ConfigError
from milk_tui.storage import config

GO_FILE = {
    "agent": "Qwen-Local",
    "agents": [
        {"name": "claude", "provider": "claude-cli", "bin": "/opt/claude/bin/claude"},
        {"name": "other", "url": "http://other:1"},
        {
            "name": "qwen-local",
            "url": "http://localhost:8080",
            "model": "qwen",
            "api_key": "go-key",
            "context_window_tokens": 32768,
        },
    ],
    "escalation_agent": "claude",
    "context_budget_chars": 9000,
    "rules": {"escalate_threshold": 6},
}


def put(folder: Path, name: str, value: object) -> None:
    (folder / name).write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")


def load(folder: Path, command_line: dict[str, object] | None = None, **environ: str) -> config.Settings:
    return config.load(folder, command_line, environ)


def test_an_empty_folder_gives_defaults_and_is_left_empty(tmp_path: Path) -> None:
    settings = load(tmp_path)
    assert (settings.context_budget_chars, settings.agent_escalation, settings.url) == (12_000, "ask", None)
    assert settings.warnings == () and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        ({"cli", "env", "tui", "go"}, 4000),
        ({"env", "tui", "go"}, 3000),
        ({"tui", "go"}, 2000),
        ({"go"}, 1000),
        (set(), 12_000),
    ],
)
def test_the_nearer_source_wins(tmp_path: Path, sources: set[str], expected: int) -> None:
    if "go" in sources:
        put(tmp_path, "config.json", {"context_budget_chars": 1000})
    if "tui" in sources:
        put(tmp_path, "tui.json", {"context_budget_chars": 2000})
    environ = {"MILK_CONTEXT_BUDGET_CHARS": "3000"} if "env" in sources else {}
    command_line: dict[str, object] = {"context_budget_chars": 4000 if "cli" in sources else None}
    settings = load(tmp_path, command_line, **environ)
    assert settings.context_budget_chars == expected and settings.warnings == ()


@pytest.mark.parametrize("key", config.KEYS)
def test_every_key_is_read_from_tui_json_and_from_the_environment(tmp_path: Path, key: str) -> None:
    values: dict[str, Any] = {
        "url": "http://h:1",
        "window": 4096,
        "max_tokens": 77,
        "http_get": True,
        "embedded": False,
        "context_budget_chars": 777,
        "returning_fresh_start_local_turns": 3,
        "agent_escalation": "auto",
        "claude_budget_usd": 0.5,
        "claude_session_budget_usd": 2.5,
        "claude_silence_seconds": 5.5,
        "model_path": "/m/x.gguf",
        "claude_path": "/c/claude",
        "mcp_servers": '[{"name": "a", "command": "b"}]',
        "reduced_motion": True,
        "notify": "bell",
        "notify_after_seconds": 2.5,
        "keys": '{"chat.help": "f5"}',
    }
    value = values.get(key, "word")
    put(tmp_path, "tui.json", {key: value})
    from_file = getattr(load(tmp_path), key)
    put(tmp_path, "tui.json", {})
    from_environment = getattr(config.load(tmp_path, None, {"MILK_" + key.upper(): str(value)}), key)
    default = config.Settings.model_fields[key].default
    assert from_file == from_environment != default


def test_who_said_what_is_known_and_the_command_line_still_holds_after_a_change(tmp_path: Path) -> None:
    put(tmp_path, "tui.json", {"theme": "nord", "window": 4096})
    settings = load(tmp_path, {"model": "said"}, MILK_WINDOW="8192")
    assert settings.sources == {
        "model": "--model",
        "window": "MILK_WINDOW",
        "theme": f"theme in {tmp_path / 'tui.json'}",
    }
    config.save(tmp_path, theme="dracula", model="written")
    again = config.reloaded(settings, {})
    assert (again.theme, again.model, again.window) == ("dracula", "said", 4096)


def test_every_key_is_described() -> None:
    assert all(config.Settings.model_fields[key].description for key in config.KEYS)


def test_the_go_programs_selected_agent_is_ours(tmp_path: Path) -> None:
    put(tmp_path, "config.json", GO_FILE)
    before = (tmp_path / "config.json").read_bytes()
    settings = load(tmp_path)
    assert (settings.url, settings.model, settings.window) == ("http://localhost:8080", "qwen", 32768)
    assert settings.api_key is not None and settings.api_key.get_secret_value() == "go-key"
    assert settings.claude_path == Path("/opt/claude/bin/claude")
    assert settings.context_budget_chars == 9000 and settings.warnings == ()
    config.save(tmp_path, theme="nord", url="http://new:1")
    assert (tmp_path / "config.json").read_bytes() == before


def test_an_agents_own_budget_comes_before_the_general_one(tmp_path: Path) -> None:
    agent = {"name": "a", "url": "http://a:1", "limits": {"context_budget_chars": 8000}}
    put(tmp_path, "config.json", {"agents": [agent], "context_budget_chars": 9000})
    assert load(tmp_path).context_budget_chars == 8000


def test_without_a_selected_agent_the_first_http_agent_is_used(tmp_path: Path) -> None:
    put(tmp_path, "config.json", {k: v for k, v in GO_FILE.items() if k != "agent"})
    assert load(tmp_path).url == "http://other:1"


def test_an_agent_that_is_not_there_is_named_and_the_first_is_used(tmp_path: Path) -> None:
    put(tmp_path, "config.json", GO_FILE | {"agent": "gone"})
    settings = load(tmp_path)
    assert settings.url == "http://other:1"
    assert len(settings.warnings) == 1 and "other" in settings.warnings[0]


def test_a_claude_that_is_only_a_word_is_no_path(tmp_path: Path) -> None:
    put(tmp_path, "config.json", {"agents": [{"name": "claude", "provider": "claude-cli", "bin": "claude"}]})
    assert load(tmp_path).claude_path is None


@pytest.mark.parametrize(
    "shape", [[], "text", 7, {"agents": 3}, {"agents": [1, None, "x"]}, {"agents": [{}]}]
)
def test_a_go_file_of_any_shape_lets_the_program_start(tmp_path: Path, shape: object) -> None:
    put(tmp_path, "config.json", shape if not isinstance(shape, str) else json.dumps(shape))
    assert load(tmp_path).url is None


@pytest.mark.parametrize("text", ["", "{", "[1]", "nonsense", '"x"', "[" * 100_000, '{"a":1}garbage'])
def test_a_damaged_file_is_named_and_the_rest_holds(tmp_path: Path, text: str) -> None:
    put(tmp_path, "config.json", {"context_budget_chars": 1000})
    put(tmp_path, "tui.json", text)
    settings = load(tmp_path, MILK_MODEL="m")
    assert (settings.context_budget_chars, settings.model) == (1000, "m")
    assert len(settings.warnings) == 1 and str(tmp_path / "tui.json") in settings.warnings[0]


def test_bytes_that_are_no_text_are_a_damaged_file(tmp_path: Path) -> None:
    (tmp_path / "tui.json").write_bytes(b"\xff\xfe\x00{")
    assert len(load(tmp_path).warnings) == 1


def test_a_byte_order_mark_is_no_damage(tmp_path: Path) -> None:
    (tmp_path / "tui.json").write_bytes(b'\xef\xbb\xbf{"theme": "nord"}')
    assert load(tmp_path).theme == "nord" and load(tmp_path).warnings == ()


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
def test_what_is_not_a_file_is_named_and_never_waited_for(tmp_path: Path, make: Any) -> None:
    make(tmp_path / "tui.json")
    assert len(load(tmp_path).warnings) == 1


@pytest.mark.parametrize("value", [0, -1, 499, 1_000_001, "many", None, [], 1e400, True])
def test_a_budget_that_is_no_use_becomes_the_default(tmp_path: Path, value: object) -> None:
    put(tmp_path, "tui.json", {"context_budget_chars": value, "theme": "nord"})
    settings = load(tmp_path)
    assert (settings.context_budget_chars, settings.theme) == (12_000, "nord")
    assert len(settings.warnings) == (0 if value is None else 1)


def test_a_wrong_value_gives_way_to_the_next_source(tmp_path: Path) -> None:
    put(tmp_path, "tui.json", {"window": 8192})
    settings = load(tmp_path, MILK_WINDOW="lots")
    assert settings.window == 8192 and "MILK_WINDOW" in settings.warnings[0]


def test_a_wrong_value_on_the_command_line_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--context-budget-chars"):
        load(tmp_path, {"context_budget_chars": 3})


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("http://host:1234", "http://host:1234"),
        (" https://host/v1/ ", "https://host/v1/"),
        ("localhost:8080", "http://localhost:8080"),
        ("ftp://host", None),
        ("http://", None),
        ("http://[::1", None),
        ("two\nlines", None),
    ],
)
def test_an_address_is_an_http_address(tmp_path: Path, said: str, expected: str | None) -> None:
    settings = load(tmp_path, MILK_URL=said)
    assert settings.url == expected and len(settings.warnings) == (expected is None)


@pytest.mark.parametrize("text", ["a\x1b[31mb", "a\ud83d", "a\nb"])
def test_a_name_that_could_move_the_cursor_is_refused(tmp_path: Path, text: str) -> None:
    put(tmp_path, "tui.json", {"model": text})
    settings = load(tmp_path)
    assert settings.model is None and len(settings.warnings) == 1


@pytest.mark.parametrize(
    "program", ["claude", "./claude", "bin/claude", "~nobody-of-that-name/claude", "/x\0y"]
)
def test_a_program_is_never_looked_for_in_the_open_project(tmp_path: Path, program: str) -> None:
    put(tmp_path, "tui.json", {"claude_path": program})
    settings = load(tmp_path)
    assert settings.claude_path is None and "claude_path" in settings.warnings[0]


def test_a_key_shows_nowhere(tmp_path: Path) -> None:
    put(tmp_path, "tui.json", {"api_key": "hunter2"})
    settings = load(tmp_path)
    assert "hunter2" not in f"{settings!r} {settings} {settings.model_dump()} {settings.model_dump_json()}"
    wrong = load(tmp_path, MILK_API_KEY="hunter2\nsécret")
    assert "hunter2" not in repr(wrong.warnings) and "MILK_API_KEY" in wrong.warnings[0]


def test_a_projects_env_file_is_never_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".env").write_text("MILK_URL=http://evil:1\nMILK_HOME=/evil\n")
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith("MILK_"):
            monkeypatch.delenv(name)
    assert config.load(tmp_path / "home").url is None
    assert config.home() == Path.home() / ".milk"


def test_the_home_folder_is_the_nearest_that_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert config.home("/a", {"MILK_HOME": "/b"}) == Path("/a")
    assert config.home(None, {"MILK_HOME": "~/b"}) == tmp_path / "b"
    assert config.home(None, {"MILK_HOME": ""}) == tmp_path / ".milk"
    monkeypatch.chdir(tmp_path)
    assert config.home("here", {}) == tmp_path / "here"


def test_a_home_of_nobody_is_an_error_with_a_sentence() -> None:
    with pytest.raises(ConfigError, match="home folder"):
        config.home("~nobody-of-that-name/x", {})


def test_saved_changes_are_read_again_and_other_keys_stay(tmp_path: Path) -> None:
    put(tmp_path, "tui.json", {"theme": "nord", "of another version": [1]})
    config.save(tmp_path, url="localhost:1", api_key="k", model_path=tmp_path / "m.gguf", window=None)
    settings = load(tmp_path)
    assert (settings.url, settings.theme, settings.model_path) == (
        "http://localhost:1",
        "nord",
        tmp_path / "m.gguf",
    )
    assert settings.api_key is not None and settings.api_key.get_secret_value() == "k"
    assert json.loads((tmp_path / "tui.json").read_text())["of another version"] == [1]
    config.save(tmp_path, url=None)
    assert load(tmp_path).url is None and load(tmp_path).theme == "nord"


def test_the_settings_file_and_a_new_folder_are_private(tmp_path: Path) -> None:
    folder = tmp_path / "home"
    config.save(folder, theme="nord")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "tui.json").stat().st_mode) == 0o600
    assert [path.name for path in folder.iterdir()] == ["tui.json"]


def test_a_damaged_settings_file_is_kept_aside_by_a_save(tmp_path: Path) -> None:
    put(tmp_path, "tui.json", '{"theme": "no')
    config.save(tmp_path, theme="nord")
    assert (tmp_path / "tui.json.damaged").read_text() == '{"theme": "no'
    assert load(tmp_path).theme == "nord" and load(tmp_path).warnings == ()


def test_a_link_to_the_settings_file_stays_a_link(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "milk.json"
    real.parent.mkdir()
    real.write_text('{"theme": "nord"}')
    (tmp_path / "tui.json").symlink_to(real)
    config.save(tmp_path, model="m")
    assert (tmp_path / "tui.json").is_symlink()
    assert json.loads(real.read_text()) == {"theme": "nord", "model": "m"}


@pytest.mark.parametrize("change", [{"window": "lots"}, {"colour": "red"}, {"home": "/x"}])
def test_a_change_that_is_no_use_is_refused_and_nothing_is_written(
    tmp_path: Path, change: dict[str, object]
) -> None:
    with pytest.raises(ConfigError):
        config.save(tmp_path, **change)
    assert list(tmp_path.iterdir()) == []


def test_a_save_that_fails_leaves_the_old_file_and_a_sentence(tmp_path: Path) -> None:
    put(tmp_path, "tui.json", {"theme": "nord"})
    script = (
        "import resource, sys, pathlib\n"
        "from milk_tui.storage import config\n"
        "from milk_tui.core.errors import ConfigError\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))\n"
        "try: config.save(pathlib.Path(sys.argv[1]), theme='x' * 100)\n"
        "except ConfigError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, timeout=60
    )
    assert "cannot be written" in done.stdout, done.stderr
    assert load(tmp_path).theme == "nord" and [path.name for path in tmp_path.iterdir()] == ["tui.json"]


@pytest.mark.parametrize(("written", "read"), [(3, 3), (0, 0), (-1, 0)])
def test_the_turns_to_a_fresh_start_are_read_from_config_json(
    tmp_path: Path, written: int, read: int
) -> None:
    put(tmp_path, "config.json", {"returning_fresh_start_local_turns": written})
    settings = load(tmp_path)
    assert settings.returning_fresh_start_local_turns == read and not settings.warnings
