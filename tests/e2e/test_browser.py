"""The chat in a real browser, and who is not let in."""

import re
import shutil
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import sync_playwright

from tests.agents.canned_replies import text_reply
from tests.agents.loopback_server import ModelServer
from tests.e2e.terminal import SLOW, World, comes_true

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
QUIET = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def served(world: World, *chat: str) -> Iterator[str]:
    """The address that `serve` prints, as long as it runs."""
    port = free_port()
    command = [sys.executable, "-m", "milk_tui", "serve", "--port", str(port), *chat]
    with subprocess.Popen(
        command, env=world.environ, cwd=world.cwd, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            address = next(found[0] for line in process.stdout if (found := re.search(r"http://\S+", line)))
            assert comes_true(lambda: status_of(address) is not None)
            yield address
        finally:
            process.terminate()
            process.wait(SLOW)


def status_of(address: str, **headers: str) -> int | None:
    """What a request without a browser gets; `None` if nobody listens yet."""
    request = urllib.request.Request(address, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=SLOW) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return None


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")
def test_a_browser_shows_the_chat_and_what_is_typed_there_is_answered(
    world: World, server: ModelServer
) -> None:
    server.reply(text_reply("Hello from loopback."))
    answered: list[str] = []
    with served(world, "--url", server.url) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        page = browser.new_page(viewport={"width": 1200, "height": 700})
        page.on("response", lambda response: answered.append(response.url))
        page.goto(address)
        page.wait_for_selector("body.-first-byte", timeout=SLOW * 1_000)
        page.wait_for_selector(".xterm-helper-textarea", state="attached")

        def is_asked() -> bool:
            page.focus(".xterm-helper-textarea")
            page.keyboard.type("Hello there")
            page.keyboard.press("Enter")
            return comes_true(lambda: server.chats, 3.0)

        assert comes_true(is_asked, SLOW)
        assert "Hello there" in str(server.chats[0].body["messages"])
        assert comes_true(lambda: world.last_turn().answer == "Hello from loopback.", SLOW)
        browser.close()
    here = address.partition("?")[0].removeprefix("http://")
    assert answered and all(url.partition("://")[2].startswith(here) for url in answered)


def test_nobody_gets_in_without_the_word_from_another_page_or_under_another_name(world: World) -> None:
    with served(world) as address:
        door, _, key = address.partition("/?key=")
        assert status_of(f"{door}/") == 403
        assert status_of(f"{door}/ws") == 403
        assert status_of(f"{door}/?key=guess") == 403
        assert status_of(f"{door}/static/js/textual.js") == 403
        assert status_of(address, Origin="http://evil.example") == 403
        assert status_of(address, Host="evil.example:80") == 403
        cookie = f"milk-tui-{door.rpartition(':')[2]}={key}"
        assert status_of(f"{door}/", Cookie=cookie) == 200
        assert status_of(f"{door}/", Cookie=cookie, Origin="null") == 403


@pytest.mark.parametrize("host", ["0.0.0.0", "::", ""])
def test_it_never_listens_everywhere(world: World, host: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "milk_tui", "serve", "--host", host],
        env=world.environ,
        cwd=world.cwd,
        capture_output=True,
        text=True,
        timeout=SLOW,
    )
    assert done.returncode == 1 and "every interface" in done.stderr and "Traceback" not in done.stderr
