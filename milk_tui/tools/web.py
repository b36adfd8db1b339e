"""The tool that fetches a page. Off unless the settings allow it; asks for every host; runs nothing it gets.

The address that is checked is the one that is connected to, so a name cannot lead elsewhere in between.
"""

import asyncio
import socket
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import TYPE_CHECKING, Annotated
from urllib.parse import SplitResult, urljoin, urlsplit

from pydantic import Field

from milk_tui.core.permission import Question, Scope
from milk_tui.core.text import sanitize
from milk_tui.tools.base import Outcome, Prepared, Report
from milk_tui.tools.html_text import text_of
from milk_tui.tools.off_loop import off_loop
from milk_tui.tools.site import Site
from milk_tui.tools.trouble import ToolError

if TYPE_CHECKING:
    from httpx2 import Response

BODY_BYTES = 2_000_000
"""The most that is read of a page."""

FETCH_SECONDS = 30.0
REDIRECTS = 5

_TRANSLATED = ip_network("64:ff9b::/96")
_PORTS = {"http": 80, "https": 443}
_TEXTS = ("text/", "application/json", "application/xml", "application/javascript", "application/yaml")
_MOVED = (301, 302, 303, 307, 308)

Url = Annotated[str, Field(max_length=4_000, description="http or https.")]


@dataclass(frozen=True)
class _Target:
    """One address to fetch."""

    url: SplitResult
    host: str
    port: int

    @property
    def where(self) -> str:
        """Host and port: what a permission is about."""
        shown = f"[{self.host}]" if ":" in self.host else self.host
        return shown if self.port == _PORTS[self.url.scheme] else f"{shown}:{self.port}"


@dataclass(frozen=True)
class _Page:
    status: int
    kind: str
    text: str
    moved_to: str
    is_cut: bool


def http_get(site: Site, url: Url) -> Prepared:
    """Fetch a web page or a text from the internet; HTML is given as plain text.

    A redirect to another host is not followed but named.
    """
    target = _target(url)

    async def run(_report: Report) -> Outcome:
        try:
            async with asyncio.timeout(FETCH_SECONDS):
                return await _fetched(target, site.allows_private_hosts)
        except TimeoutError:
            raise ToolError(f"{target.where} did not answer within {FETCH_SECONDS:.0f} s.") from None

    scope = Scope(tool="http_get", kind="host", subject=target.where)
    return Prepared(
        Question(tool="http_get", arguments="", reason=f"Sends this address to {target.where}.", scope=scope),
        run,
    )


def _target(url: str) -> _Target:
    """The parts of an address, or why it is none that can be fetched."""
    if sanitize(url) != url or any(letter.isspace() for letter in url):
        raise ToolError("The address holds spaces or control characters.")
    try:
        parts = urlsplit(url)
        port = parts.port
        host = (parts.hostname or "").encode("idna").decode()
    except ValueError:
        raise ToolError(f"“{url}” is not an address.") from None
    if parts.scheme not in _PORTS or not host:
        raise ToolError("Only addresses that begin with http:// or https:// can be fetched.")
    if parts.username is not None or parts.password is not None:
        raise ToolError("The address holds a user name or password; those are not sent.")
    return _Target(parts, host, port or _PORTS[parts.scheme])


async def _fetched(target: _Target, allows_private: bool) -> Outcome:
    """The page, after redirects within the same host."""
    first = target
    for _ in range(REDIRECTS + 1):
        page = await _get(target, allows_private)
        if not page.moved_to:
            return await _told(target, page)
        target = _target(urljoin(target.url.geturl(), page.moved_to))
        if (target.host, target.url.scheme) != (first.host, first.url.scheme) or target.port != first.port:
            return Outcome(
                f"It redirects to {target.url.geturl()}, which was not fetched: call http_get with that address.",
                is_error=True,
            )
    raise ToolError(f"{first.where} redirected more than {REDIRECTS} times.")


async def _get(target: _Target, allows_private: bool) -> _Page:
    import httpx2

    address = await _address(target, allows_private)
    literal = f"[{address}]" if ":" in address else address
    request_url = target.url._replace(netloc=f"{literal}:{target.port}", fragment="").geturl()
    headers = {"Host": target.where, "Accept-Encoding": "identity", "User-Agent": "milk-tui"}
    try:
        async with (
            httpx2.AsyncClient(trust_env=False, timeout=FETCH_SECONDS, follow_redirects=False) as client,
            client.stream(
                "GET", request_url, headers=headers, extensions={"sni_hostname": target.host}
            ) as response,
        ):
            return await _page(response, target)
    except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, OSError) as error:
        raise ToolError(f"{target.where} could not be fetched: {error or type(error).__name__}.") from None


async def _address(target: _Target, allows_private: bool) -> str:
    """The address to connect to. If any address of a host is private, none is used."""
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise ToolError(f"There is no host called {target.host}, or no network.") from None
    addresses = [str(entry[4][0]).partition("%")[0] for entry in found]
    if not allows_private and not all(map(_is_public, addresses)):
        raise ToolError(f"{target.where} is this machine or in a private network; that is not fetched.")
    return addresses[0]


def _is_public(address: str) -> bool:
    """Whether an address is on the open internet, also one of IPv4 that is written as one of IPv6."""
    parsed = ip_address(address)
    if isinstance(parsed, IPv6Address):
        is_translated = parsed in _TRANSLATED
        inner = (
            IPv4Address(int(parsed) & 0xFFFFFFFF) if is_translated else parsed.ipv4_mapped or parsed.sixtofour
        )
        if inner is not None:
            parsed = inner
    return parsed.is_global and not parsed.is_multicast


async def _page(response: "Response", target: _Target) -> _Page:
    kind = response.headers.get("content-type", "text/plain").partition(";")[0].strip().lower()
    moved_to = response.headers.get("location", "") if response.status_code in _MOVED else ""
    if moved_to:
        return _Page(response.status_code, kind, "", moved_to, False)
    if not kind.startswith(_TEXTS) and not kind.endswith(("+json", "+xml")):
        raise ToolError(f"{target.url.geturl()} is {kind}, not text.")
    if response.headers.get("content-encoding", "identity") != "identity":
        raise ToolError(f"{target.where} sent the page compressed, although asked not to.")
    body = bytearray()
    async for chunk in response.aiter_raw():
        body += chunk
        if len(body) > BODY_BYTES:
            break
    text = _decoded(bytes(body[:BODY_BYTES]), response.charset_encoding or "utf-8")
    return _Page(response.status_code, kind, text, "", len(body) > BODY_BYTES)


def _decoded(body: bytes, codec: str) -> str:
    """The text of a body, whatever the server calls its encoding."""
    try:
        return body.decode(codec, "replace")
    except (LookupError, ValueError):
        return body.decode("utf-8", "replace")


async def _told(target: _Target, page: _Page) -> Outcome:
    is_html = page.kind in ("text/html", "application/xhtml+xml")
    text = await off_loop(lambda _stop: text_of(page.text)) if is_html else page.text
    cut = f"; only its first {BODY_BYTES // 1_000_000} MB" if page.is_cut else ""
    head = f"[{target.url.geturl()}: status {page.status}, {page.kind}{cut}]"
    return Outcome(f"{head}\n{text}", is_error=page.status >= 400)
