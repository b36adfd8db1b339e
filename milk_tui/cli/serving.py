"""The chat in a browser: a small server that starts one chat for each page, and lets nobody else in.

Whoever reaches the chat can run commands as this user. So only the page that the printed address opened gets in: the
address carries a word that nobody can guess, other pages' requests are refused by where they come from, and the page
may load nothing from elsewhere. Import it late: it brings a web server.
"""

import secrets
import shlex
import sys
from collections.abc import Sequence
from ipaddress import ip_address

import click
from aiohttp import web
from aiohttp.typedefs import Handler, Middleware
from textual_serve.server import Server

from milk_tui.core.errors import MilkError

_ONLY_FROM_HERE = (
    "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'"
)
_COOKIE = "milk-tui-{port}"


def run_serve(host: str, port: int, chat: Sequence[str]) -> None:
    """Serve until Ctrl+C.

    Args:
        host: The address to listen on; every interface at once is refused.
        port: A free port.
        chat: The command line of each chat.

    Raises:
        MilkError: it cannot be listened there.
    """
    _must_be_one_address(host)
    server = ChatServer(shlex.join([sys.executable, "-m", "milk_tui", *chat]), host, port)
    click.echo(server.invitation)
    try:
        web.run_app(server.app(), host=host, port=port, print=None)
    except OSError as error:
        raise MilkError(
            f"{host}:{port} cannot be listened on: {error.strerror or error}.", "Choose another --port."
        ) from error


class ChatServer(Server):
    """Textual's server behind a door."""

    def __init__(self, command: str, host: str, port: int) -> None:
        shown = f"[{host}]" if ":" in host else host
        super().__init__(command, host=host, port=port, title="milk-tui", public_url=f"http://{shown}:{port}")
        self._word = secrets.token_urlsafe(24)
        self._cookie = _COOKIE.format(port=port)

    @property
    def address(self) -> str:
        """The address that opens the chat; as good as a key to this account."""
        return f"{self.public_url}/?key={self._word}"

    @property
    def invitation(self) -> str:
        """What the user is told."""
        words = (
            f"The chat is at\n\n    {self.address}\n\n"
            "Whoever has this address can use the chat, and with it everything that you may do on this machine."
        )
        if not _is_loopback(self.host):
            words += (
                "\nIt can be reached from other machines, and without encryption: everybody on the way can read the "
                "address and all that is said. An SSH tunnel to 127.0.0.1 is safer."
            )
        return f"{words}\nCtrl+C ends it, and every chat with it."

    async def app(self) -> web.Application:
        """The web application, with the door in front."""
        app: web.Application = await self._make_app()
        app.middlewares.append(self._door())
        app.on_response_prepare.append(_only_from_here)
        return app

    async def on_startup(self, app: web.Application) -> None:
        """Nothing is printed here: the invitation is."""

    def _door(self) -> Middleware:
        @web.middleware
        async def door(request: web.Request, handler: Handler) -> web.StreamResponse:
            # A page elsewhere can send requests here, under its own origin or a name that it made point here.
            if request.headers.get("Origin", self.public_url) != self.public_url or not self._is_ours(
                request
            ):
                raise web.HTTPForbidden(text="This chat is not for other pages.")
            if secrets.compare_digest(request.query.get("key", "").encode(), self._word.encode()):
                come_in = web.HTTPFound("/")
                come_in.set_cookie(self._cookie, self._word, httponly=True, samesite="Strict")
                raise come_in
            if not secrets.compare_digest(
                request.cookies.get(self._cookie, "").encode(), self._word.encode()
            ):
                raise web.HTTPForbidden(text="Open the address that `milk-tui serve` has printed.")
            return await handler(request)

        return door

    def _is_ours(self, request: web.Request) -> bool:
        return f"http://{request.host}" == self.public_url


async def _only_from_here(_request: web.Request, response: web.StreamResponse) -> None:
    response.headers["Content-Security-Policy"] = _ONLY_FROM_HERE
    response.headers["Referrer-Policy"] = "no-referrer"


def _must_be_one_address(host: str) -> None:
    if host in ("", "*") or (_is_address(host) and ip_address(host).is_unspecified):
        raise MilkError(
            f"“{host}” is every interface of this machine at once; the chat is not put there.",
            "Name the one address with --host, or leave it out for 127.0.0.1.",
        )


def _is_loopback(host: str) -> bool:
    return host == "localhost" or (_is_address(host) and ip_address(host).is_loopback)


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
