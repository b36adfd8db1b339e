"""`milk-tui doctor` as a program: what it finds, what it advises, how it ends, and what it never says."""

import json
from pathlib import Path

from tests.agents.canned_replies import json_reply
from tests.agents.claude_environment import DUMMY_KEY
from tests.agents.loopback_server import ModelServer
from tests.e2e.running import Program, llama_server


def test_with_a_server_and_a_login_everything_is_there_and_no_secret_is_shown(tmp_path: Path) -> None:
    secret = "s3cret-of-the-server"
    with llama_server() as server:
        program = Program(tmp_path, server.url, {"MILK_API_KEY": secret})
        text, listed = program.run("doctor"), program.run("doctor", "--json")
        assert not server.chats
    assert (text.status, listed.status) == (0, 0), text.out
    checks = {check["name"]: check for check in listed.json}
    assert {check["state"] for check in checks.values()} == {"ok"}
    assert list(checks) == ["Local model", "Window", "Claude Code", "Settings", "Terminal"]
    assert checks["Window"]["text"] == "65,536 tokens"
    assert "small" in checks["Local model"]["text"] and "ANTHROPIC_API_KEY" in checks["Claude Code"]["text"]
    assert all(check["text"] in text.out for check in checks.values())
    shown = text.out + text.err + listed.out + listed.err
    assert secret not in shown and DUMMY_KEY not in shown
    assert not program.home.exists()


def test_with_nothing_it_fails_and_every_failed_check_says_one_thing_to_do(tmp_path: Path) -> None:
    program = Program(tmp_path, "127.0.0.1:9", {"MILK_CLAUDE_PATH": str(tmp_path / "no-claude")})
    program.home.mkdir(parents=True)
    (program.home / "tui.json").write_text("{")
    ran = program.run("doctor", "--json")
    checks = {check["name"]: check for check in ran.json}
    assert ran.status == 1 and ran.err == ""
    assert checks["Local model"]["state"] == checks["Claude Code"]["state"] == "failed"
    assert all(check["remedy"] for check in checks.values() if check["state"] != "ok")
    assert str(program.home / "tui.json") in checks["Settings"]["text"]


def test_a_server_that_is_no_model_server_and_a_missing_login_are_told_apart(tmp_path: Path) -> None:
    with ModelServer() as server:
        server.route("/v1/models", json_reply({"hello": "\x1b[31mworld"}))
        program = Program(tmp_path, server.url, {"ANTHROPIC_API_KEY": ""})
        ran = program.run("doctor")
    assert ran.status == 1
    assert "not as a model server" in ran.out and "not logged in" in ran.out and "\x1b" not in ran.out


def test_an_address_with_a_password_in_it_is_refused_without_repeating_it(tmp_path: Path) -> None:
    ran = Program(tmp_path).run("doctor", "--url", "http://me:s3cret@127.0.0.1:9", "--json")
    assert ran.status == 1 and "s3cret" not in ran.out + ran.err
    assert json.loads(ran.out)[0]["state"] == "failed"
