"""Fetching: asked for per host, never a private address by accident, never more than its limits, never run."""

import asyncio
import gzip
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from milk_tui.tools.html_text import text_of
from milk_tui.tools.web import _is_public
from tests.tools.tool_room import Room

Handler = Callable[[str, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def serving(handler: Handler) -> AsyncIterator[str]:
    """A web server on loopback; gives its address."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        try:
            await handler(head, writer)
            await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()


def saying(body: bytes, kind: str = "text/plain", status: str = "200 OK", more: str = "") -> Handler:
    async def handler(_head: str, writer: asyncio.StreamWriter) -> None:
        head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n{more}\r\n"
        writer.write(head.encode() + body)

    return handler


@pytest.fixture
def web(room: Room) -> Room:
    room.tools.site.allows_network = True
    room.tools.site.allows_private_hosts = True
    return room


async def test_a_page_is_shown_as_its_text(web: Room) -> None:
    page = (
        b"<html><head><title>t</title></head><body><h1>Head</h1><script>evil()</script><p>One <b>two</b></p>"
    )
    async with serving(saying(page, "text/html; charset=utf-8")) as url:
        assert await web.done("http_get", url=url) == f"[{url}: status 200, text/html]\nHead\n\nOne two"
        (question,) = web.questions
        assert question.scope and question.scope.kind == "host"
        assert question.scope.subject == url.removeprefix("http://")


async def test_an_error_status_is_an_error_with_the_servers_words(web: Room) -> None:
    async with serving(saying(b"gone fishing", status="404 Not Found")) as url:
        assert "status 404, text/plain]\ngone fishing" in await web.refused("http_get", url=url)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("file:///etc/passwd", "begin with http://"),
        ("ftp://host/x", "begin with http://"),
        ("javascript:alert(1)", "begin with http://"),
        ("http://", "begin with http://"),
        ("example.org", "begin with http://"),
        ("http://me:secret@example.org", "user name or password"),
        ("http://example.org@127.0.0.1", "user name or password"),
        ("http://a b", "spaces or control"),
        ("http://a\r\nHost: b", "spaces or control"),
        ("http://[::1", "is not an address"),
        ("http://host:99999", "is not an address"),
        ("http://" + "a" * 70 + ".org", "is not an address"),
    ],
)
async def test_what_is_no_web_address_is_not_asked_about(web: Room, url: str, words: str) -> None:
    assert words in await web.refused("http_get", url=url)
    assert web.questions == []


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "[::1]", "0.0.0.0", "2130706433", "0x7f000001", "127.1", "[::ffff:127.0.0.1]"],
)
async def test_this_machine_is_not_fetched_unless_allowed(web: Room, host: str) -> None:
    web.tools.site.allows_private_hosts = False
    text = await web.refused("http_get", url=f"http://{host}:1/")
    assert "that is not fetched" in text or "no host called" in text


@pytest.mark.parametrize(
    ("address", "is_public"),
    [
        ("8.8.8.8", True),
        ("2606:4700::1111", True),
        ("10.0.0.1", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("224.0.0.1", False),
        ("::", False),
        ("fe80::1", False),
        ("fd00::1", False),
        ("::ffff:10.0.0.1", False),
        ("2002:7f00:1::", False),
        ("64:ff9b::7f00:1", False),
        ("64:ff9b::808:808", True),
        ("::ffff:8.8.8.8", True),
    ],
)
def test_private_addresses_are_known(address: str, is_public: bool) -> None:
    assert _is_public(address) is is_public


async def test_a_redirect_on_the_same_host_is_followed(web: Room) -> None:
    async def handler(head: str, writer: asyncio.StreamWriter) -> None:
        there = saying(b"there")
        move = saying(b"", status="302 Found", more="Location: /there\r\n")
        await (there if head.startswith("GET /there ") else move)(head, writer)

    async with serving(handler) as url:
        assert await web.done("http_get", url=url) == f"[{url}/there: status 200, text/plain]\nthere"


@pytest.mark.parametrize("to", ["http://localhost:1/", "https://127.0.0.1/", "http://127.0.0.1:1/"])
async def test_a_redirect_elsewhere_is_named_and_not_followed(web: Room, to: str) -> None:
    async with serving(saying(b"", status="301 Moved", more=f"Location: {to}\r\n")) as url:
        assert f"It redirects to {to}, which was not fetched" in await web.refused("http_get", url=url)


async def test_a_redirect_to_a_file_or_in_a_circle_is_a_sentence(web: Room) -> None:
    async with serving(saying(b"", status="302 Found", more="Location: file:///etc/passwd\r\n")) as url:
        assert "begin with http://" in await web.refused("http_get", url=url)
    async with serving(saying(b"", status="302 Found", more="Location: /\r\n")) as url:
        assert "redirected more than 5 times" in await web.refused("http_get", url=url)


async def test_an_endless_page_is_cut(web: Room) -> None:
    async def endless(_head: str, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
        while True:
            writer.write(b"x" * 100_000)
            await writer.drain()

    async with serving(endless) as url:
        text = await web.done("http_get", url=url)
    assert "only its first 2 MB" in text
    assert len(text) <= web.limit_chars


async def test_a_server_that_says_nothing_is_given_up(web: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    async def silent(_head: str, _writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(1)

    monkeypatch.setattr("milk_tui.tools.web.FETCH_SECONDS", 0.2)
    async with serving(silent) as url:
        assert "did not answer within" in await web.refused("http_get", url=url)


@pytest.mark.parametrize(
    ("handler", "words"),
    [
        (saying(b"\0\1", "image/png"), "is image/png, not text"),
        (saying(gzip.compress(b"x"), more="Content-Encoding: gzip\r\n"), "compressed"),
        (saying(b"x", more="Content-Length: 100\r\n"), "could not be fetched"),
    ],
)
async def test_what_is_no_plain_page_is_a_sentence(web: Room, handler: Handler, words: str) -> None:
    async with serving(handler) as url:
        assert words in await web.refused("http_get", url=url)


@pytest.mark.parametrize("charset", ["latin-1", "nonsense", "base64", "utf-16"])
async def test_any_charset_gives_text(web: Room, charset: str) -> None:
    async with serving(saying(b"caf\xe9 \xf0\x9f", f"text/plain; charset={charset}")) as url:
        assert await web.done("http_get", url=url)


async def test_a_closed_port_is_a_sentence(web: Room) -> None:
    assert "could not be fetched" in await web.refused("http_get", url="http://127.0.0.1:1/")


@pytest.mark.parametrize(
    "piece", ["<", "<!--", "<a ", "<![", "&", "<script>", "</", "<p", "<!-->", " \n", "&#x"]
)
def test_broken_html_takes_no_time(piece: str) -> None:
    began = time.process_time()
    text_of(piece * 300_000)
    assert time.process_time() - began < 3


def test_text_after_unclosed_unseen_parts_is_still_shown() -> None:
    assert text_of("<style>x<p></style><!-- <p>x</p> --><p>a &lt; b</p><br><script>x") == "a < b"
