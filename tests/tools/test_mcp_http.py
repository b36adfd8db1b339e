import asyncio
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.tools.mcp_running import DEADLINE, address, http_server, run, started, status, until


async def test_a_real_server_over_http_offers_its_tools_and_runs_them(tmp_path: Path) -> None:
    with http_server(tmp_path) as (url, _):
        async with started(tmp_path, address(url)) as servers:
            assert status(servers, "web").state == "ready" and servers.notices() == ()
            assert (await run(servers, "web__echo", {"text": "over the wire"})).text == "over the wire"
            count = status(servers, "web").tools
            await run(servers, "web__grow")
            await until(lambda: status(servers, "web").tools == count + 1)


async def test_a_cancelled_call_is_cancelled_at_the_server_over_http(tmp_path: Path) -> None:
    with http_server(tmp_path) as (url, _):
        async with started(tmp_path, address(url)) as servers:
            call = asyncio.create_task(run(servers, "web__wait", {"folder": str(tmp_path)}))
            await until((tmp_path / "started").exists)
            call.cancel()
            await asyncio.wait([call], timeout=DEADLINE)
            assert call.cancelled()
            await until((tmp_path / "cancelled").exists)
            assert (await run(servers, "web__echo", {"text": "on"})).text == "on"


async def test_a_locked_server_wants_its_header_and_a_wrong_one_is_refused(tmp_path: Path) -> None:
    with http_server(tmp_path, "locked") as (url, _):
        key = {"Authorization": "Bearer sesame"}
        closed = address(url, "closed", headers={"Authorization": "Bearer guess"})
        async with started(tmp_path, closed, address(url, "open", headers=key)) as servers:
            assert status(servers, "open").state == "ready"
            assert status(servers, "closed").words == (
                f"refuses the login at {url} (HTTP 401); set its `headers`"
            )
            assert "guess" not in " ".join(servers.notices())


async def test_a_server_that_goes_away_is_a_status_and_is_found_again(tmp_path: Path) -> None:
    with http_server(tmp_path) as (url, process):
        async with started(tmp_path, address(url)) as servers:
            process.kill()
            process.wait()
            gone = await run(servers, "web__echo", {"text": "x"})
            assert gone.is_error and f"cannot be reached at {url}" in gone.text
            await until(lambda: status(servers, "web").state == "failed")
            await servers.start(DEADLINE)
            assert status(servers, "web").state == "failed" and servers.tools() == ()
            await servers.start(0)
            assert status(servers, "web").state == "failed", "a server that is not there is tried once"


def forgetful(handler: BaseHTTPRequestHandler) -> None:
    """A server of the older protocol that lists a tool and has forgotten the session when it is called."""
    message = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
    tool = {"name": "get", "inputSchema": {"type": "object"}}
    results = {
        "initialize": {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "forgetful", "version": "1"},
        },
        "tools/list": {"tools": [tool]},
    }
    result = results.get(message["method"])
    body = json.dumps({"jsonrpc": "2.0", "id": message.get("id"), "result": result}).encode()
    code = 202 if "id" not in message else 404 if result is None else 200
    handler.send_response(code)
    handler.send_header("Mcp-Session-Id", "one")
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(body) if result else 0))
    handler.end_headers()
    handler.wfile.write(body if result else b"")


async def test_a_server_that_has_forgotten_the_session_is_asked_anew(tmp_path: Path) -> None:
    with web_server(forgetful) as url:
        async with started(tmp_path, address(url)) as servers:
            forgotten = await run(servers, "web__get")
            assert forgotten.is_error and "has forgotten this connection (HTTP 404)" in forgotten.text
            await until(lambda: status(servers, "web").state == "failed")
            await servers.start(DEADLINE)
            assert status(servers, "web").state == "ready"


async def test_a_result_of_many_megabytes_arrives_over_http(tmp_path: Path) -> None:
    with http_server(tmp_path) as (url, _):
        async with started(tmp_path, address(url)) as servers:
            text = (await run(servers, "web__echo", {"text": "x" * 1_000, "times": 3_000})).text
            assert text.startswith("xxx") and "2,000,0" in text and len(text) <= 1_000_000


@contextmanager
def web_server(answer: Callable[[BaseHTTPRequestHandler], None]) -> Iterator[str]:
    """Something on loopback that speaks HTTP and not MCP."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            answer(self)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/mcp"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def page(code: int, body: bytes, kind: str = "text/html") -> Callable[[BaseHTTPRequestHandler], None]:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(code)
        handler.send_header("Content-Type", kind)
        handler.send_header("Content-Length", str(len(body)))
        handler.send_header("Location", "http://127.0.0.1:1/elsewhere")
        handler.end_headers()
        handler.wfile.write(body)

    return answer


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (page(404, b"<h1>Not here"), "does not speak MCP at {url} (HTTP 404); check its `url`"),
        (page(403, b"no"), "refuses the login at {url} (HTTP 403); set its `headers`"),
        (page(500, b"oops"), "answers with HTTP 500 at {url}"),
        (page(200, b"<h1>Welcome"), "answered with an error: Unexpected content type: text/html"),
        (page(200, b"{", "application/json"), "answered with an error: Failed to parse JSON"),
        (page(302, b""), "answered with an error: Redirect to http://127.0.0.1:1/elsewhere not followed"),
        (page(202, b""), "answered with an error: server answered a request with 202"),
    ],
)
async def test_an_address_that_is_no_server_is_a_status(
    tmp_path: Path, answer: Callable[[BaseHTTPRequestHandler], None], words: str
) -> None:
    with web_server(answer) as url:
        async with started(tmp_path, address(url)) as servers:
            now = status(servers, "web")
            assert now.state == "failed" and now.words.startswith(words.format(url=url))
            assert len(servers.notices()) == 1


async def test_an_address_where_nobody_listens_is_a_status(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    async with started(tmp_path, address(f"http://127.0.0.1:{port}/mcp?key=hunter2")) as servers:
        words = status(servers, "web").words
        assert words.startswith(f"cannot be reached at http://127.0.0.1:{port}/mcp: ")
        assert "hunter2" not in words


async def test_an_address_that_never_answers_is_given_up(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        async with started(tmp_path, address(url), patience=0.5) as servers:
            assert status(servers, "web").words == "did not answer within 0.5 s"
