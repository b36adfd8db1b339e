"""`milk-tui ask` as a program: what is on its two outputs, what it sends, how it ends."""

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agents.canned_replies import DONE, error_reply, finish, held_reply, stream, text, text_reply
from tests.agents.loopback_server import ModelServer
from tests.e2e.running import Program, assert_sentence, llama_server, read_until, wait_for


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with llama_server() as server:
        yield server


@pytest.fixture
def program(server: ModelServer, tmp_path: Path) -> Program:
    return Program(tmp_path, server.url)


def prompt_of(server: ModelServer, number: int = -1) -> str:
    content: str = server.chats[number].body["messages"][-1]["content"]
    return content


def test_the_answer_alone_is_on_stdout_and_the_session_is_seen_afterwards(
    program: Program, server: ModelServer
) -> None:
    server.reply(stream(text("\nHello"), text(" there.\n"), text("\n"), finish(), DONE))
    ran = program.run("ask", "Say hello")
    assert (ran.status, ran.out, ran.err) == (0, "Hello there.\n", "")
    assert prompt_of(server) == "Say hello"
    (entry,) = program.run("sessions", "--json").json
    assert (entry["title"], entry["cwd"], entry["turns"]) == ("Say hello", str(program.cwd), 1)
    assert "Local agent: Hello there." in program.run("context").out


def test_the_answer_is_there_before_it_is_complete(program: Program, server: ModelServer) -> None:
    server.reply(held_reply("The first", " words"))
    with program.started("ask", "Tell me") as process:
        read_until(process, b"The first")


def test_a_prompt_with_bytes_that_are_no_text_is_asked_and_stdin_is_taken_whole(
    program: Program, server: ModelServer
) -> None:
    server.reply(text_reply("Read."))
    ran = program.run("ask", "-", stdin=b"caf\xe9 \xff\x00 \xf0\x9f\xa7\x80\n\tkept \x1b[31mred\r\n")
    assert (ran.status, ran.out) == (0, "Read.\n")
    assert prompt_of(server) == "caf\ufffd \ufffd 🧀\n\tkept red"
    server.reply(text_reply("Read."))
    assert program.run("ask", b"caf\xe9").status == 0
    assert prompt_of(server) == "caf\ufffd"


@pytest.mark.parametrize("prompt", ["", "-"])
def test_nothing_to_ask_is_a_usage_error_and_nobody_is_asked(
    program: Program, server: ModelServer, prompt: str
) -> None:
    ran = program.run("ask", prompt, stdin=b" \n")
    assert ran.status == 2 and "nothing to ask" in ran.err
    assert not server.chats and not program.home.exists()


def test_json_is_one_event_a_line_and_every_event_has_a_type(program: Program, server: ModelServer) -> None:
    server.reply(stream(text("One\n"), text("two \x1b]0;title\x07three"), finish(), DONE))
    ran = program.run("ask", "--json", "Count")
    types = [event["type"] for event in ran.events]
    assert ran.status == 0 and types[0] == "turn_started" and types[-2:] == ["agent_finished", "turn_ended"]
    said = "".join(event["text"] for event in ran.events if event["type"] == "text_delta")
    assert said == "One\ntwo three"


@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_escape_sequences_of_the_server_never_reach_an_output(
    program: Program, server: ModelServer, flags: tuple[str, ...]
) -> None:
    hostile = ["\x1b", "[2J\x1b]52;c;ZXZpbA==\x07", "safe\x9b31m\x7f\u202e", "\x1b"]
    server.reply(stream(*map(text, hostile), finish(), DONE), error_reply(500, "broken \x1b[31mpipe\x9d"))
    good, bad = (program.run("ask", *flags, "Go") for _ in range(2))
    assert good.status == 0 and "safe" in good.out and bad.status == 1
    for shown in (good.out, good.err, bad.out, bad.err):
        assert not set("\x1b\x9b\x9d\x07\x7f\u202e") & set(shown)
        assert "\\u001b" not in shown


def test_a_failed_turn_is_a_sentence_on_stderr_and_keeps_the_prompt(
    program: Program, server: ModelServer
) -> None:
    server.reply(error_reply(500, "the weights are on fire"))
    ran = program.run("ask", "Try")
    assert (ran.status, ran.out) == (1, "")
    assert_sentence(ran.err)
    assert "the weights are on fire" in ran.err
    assert program.last.turns[0].prompt == "Try" and program.last.turns[0].status == "failed"


def test_a_server_that_is_down_fails_and_nobody_else_is_asked(tmp_path: Path) -> None:
    ran = Program(tmp_path, "127.0.0.1:9").run("ask", "Anyone?")
    assert (ran.status, ran.out) == (1, "")
    assert_sentence(ran.err)
    assert "127.0.0.1:9" in ran.err


def test_a_broken_off_answer_ends_with_a_line_end_and_a_failure(
    program: Program, server: ModelServer
) -> None:
    server.reply(stream(text("Half an ans"), is_raw=False))
    ran = program.run("ask", "Try")
    assert (ran.status, ran.out) == (1, "Half an ans\n")
    assert_sentence(ran.err)
    assert program.last.turns[0].answer == "Half an ans"


def test_c_goes_on_with_the_last_session_and_an_id_with_another(
    program: Program, server: ModelServer
) -> None:
    server.reply(*map(text_reply, ["A one.", "B one.", "B two.", "A two."]))
    program.run("ask", "alpha")
    first = program.last.state.id
    program.run("ask", "beta")
    assert "alpha" not in server.chats[1].raw.decode()
    assert program.run("ask", "-c", "beta again").status == 0
    assert "B one." in server.chats[2].raw.decode() and "alpha" not in server.chats[2].raw.decode()
    assert program.run("--session", first[:8], "ask", "alpha again").status == 0
    assert "A one." in server.chats[3].raw.decode() and "beta" not in server.chats[3].raw.decode()
    assert program.last.state.id == first and len(program.last.turns) == 2


def test_c_in_a_new_directory_says_that_it_begins(program: Program, server: ModelServer) -> None:
    server.reply(text_reply("New."))
    ran = program.run("ask", "-c", "Hello")
    assert (ran.status, ran.out) == (0, "New.\n")
    assert "no session yet" in ran.err


def test_a_reader_that_leaves_ends_it_quietly_and_the_session_keeps_what_was_said(
    program: Program, server: ModelServer
) -> None:
    lines = [text(f"line {number}\n") for number in range(200)]
    server.reply(stream(*lines, finish(), DONE))
    with program.started("ask", "Count") as process:
        assert process.stdout and process.stderr
        assert process.stdout.readline() == b"line 0\n"
        process.stdout.close()
        assert process.wait(20) == 1
        assert process.stderr.read() == b""
        process.stdout = None
    assert program.last.turns[0].answer.startswith("line 0\nline 1")


@pytest.mark.parametrize("command", [("context",), ("sessions",), ("doctor",)])
def test_other_commands_end_quietly_without_a_reader(
    program: Program, server: ModelServer, command: tuple[str, ...]
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        program.command(*command),
        stdout=writer,
        stderr=subprocess.PIPE,
        env=program.environment(),
        cwd=program.cwd,
        timeout=60,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, b"")


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_ctrl_c_keeps_the_partial_answer_and_so_does_what_timeout_sends(
    program: Program, server: ModelServer, number: signal.Signals, status: int
) -> None:
    server.reply(held_reply("Once upon", " a time"))
    with program.started("ask", "Tell me") as process:
        assert process.stdout
        shown = read_until(process, b"a time")
        process.send_signal(number)
        rest, err = process.communicate(timeout=20)
        assert (process.returncode, shown + rest, err) == (status, b"Once upon a time\n", b"")
    wait_for(lambda: server.chats[0].is_closed)
    assert program.last.turns[0].answer == "Once upon a time"
    assert program.last.turns[0].status == "interrupted"


def test_an_answer_the_output_cannot_encode_is_shown_as_far_as_it_can(
    program: Program, server: ModelServer
) -> None:
    program.environ["PYTHONIOENCODING"] = "ascii"
    server.reply(text_reply("Käse 🧀."))
    ran = program.run("ask", "Cheese?")
    assert (ran.status, ran.out, ran.err) == (0, "K?se ?.\n", "")


def test_a_session_that_cannot_be_kept_is_answered_and_fails(program: Program, server: ModelServer) -> None:
    server.reply(text_reply("Still here."))
    blocked = program.root / "file"
    blocked.write_text("in the way")
    ran = program.run("ask", "Hello", "--home", str(blocked))
    assert (ran.status, ran.out) == (1, "Still here.\n")
    assert_sentence(ran.err)
    assert str(blocked) in ran.err


def test_a_damaged_settings_file_is_named_and_the_question_is_answered(
    program: Program, server: ModelServer
) -> None:
    program.home.mkdir(parents=True)
    (program.home / "tui.json").write_text('{"url": ')
    server.reply(text_reply("Answered."))
    ran = program.run("ask", "Hello")
    assert (ran.status, ran.out) == (0, "Answered.\n")
    assert_sentence(ran.err)
    assert str(program.home / "tui.json") in ran.err


@pytest.mark.parametrize(
    "arguments",
    [("--url", "ftp://x"), ("--url", "http://a b"), ("--session", "nope"), ("--url", "http://u:s3cret@h")],
)
def test_what_cannot_be_used_is_a_sentence_and_a_failure(
    program: Program, server: ModelServer, arguments: tuple[str, str]
) -> None:
    ran = program.run("ask", "Hello", *arguments)
    assert (ran.status, ran.out) == (1, "")
    assert_sentence(ran.err)
    assert "s3cret" not in ran.err and not server.chats


def test_a_directory_that_is_gone_is_a_sentence(program: Program) -> None:
    gone = program.root / "gone"
    program.environment()
    gone.mkdir()
    script = f'rmdir "{gone}"; exec "$@"'
    done = subprocess.run(
        ["sh", "-c", script, "sh", *program.command("ask", "Hello")],
        capture_output=True,
        env=program.environment(),
        cwd=gone,
        timeout=60,
    )
    assert done.returncode == 1
    assert_sentence(done.stderr.decode())
