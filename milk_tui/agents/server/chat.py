"""The local agent: any server with an OpenAI-compatible `/v1/chat/completions`, or Ollama's own, asked over HTTP.

Every failure ends the turn as an event with a sentence; nothing is raised and no text that came is taken back. It
does not know the screen, the store or Claude Code, and it never decides that Claude Code takes over.
"""

import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from milk_tui.agents.base import TurnRequest
from milk_tui.agents.server import ollama
from milk_tui.agents.server.body import Overhead, standing
from milk_tui.agents.server.facts import Server, is_loopback, shown_name
from milk_tui.agents.server.messages import BYTES_PER_TOKEN
from milk_tui.agents.server.remarks import tools_refused
from milk_tui.agents.server.stream import Waiting
from milk_tui.agents.server.tool_text import ToolForm
from milk_tui.agents.server.turn import ChatSettings, OpenAITurn, first_form
from milk_tui.agents.server.window import WindowGauge
from milk_tui.agents.server.wire import Exchange, client, encoded
from milk_tui.agents.toolbox import NoTools, Toolbox
from milk_tui.core.errors import Failure, ServerError
from milk_tui.core.events import AgentEvent, AgentFailed, AgentReady, Noticed, TextDelta, UsageReported

if TYPE_CHECKING:
    from httpx2 import AsyncClient

__all__ = ["ChatSettings", "OpenAIChat", "Overhead", "Waiting"]

log = logging.getLogger(__name__)


class OpenAIChat:
    """An agent on one model of one server. It answers one turn at a time."""

    def __init__(
        self, server: Server, settings: ChatSettings | None = None, toolbox: Toolbox | None = None
    ) -> None:
        self.server = server
        self.settings = settings or ChatSettings()
        self._toolbox = toolbox or NoTools()
        self._gauge = WindowGauge(server, self.settings.max_tokens)
        self._tools_refused = False
        self._http: AsyncClient | None = None

    async def run(self, request: TurnRequest) -> AsyncGenerator[AgentEvent, None]:
        """Answer one turn. Closing the generator closes the connection, and with it the server's work."""
        yield AgentReady(model=shown_name(self.server.model), window=self._gauge.tokens)
        toolbox = NoTools() if request.is_bare else self._toolbox
        form: ToolForm = "none" if request.is_bare else self._form()
        turn = OpenAITurn(request, self.server, self.settings, toolbox, self._gauge, self._exchange, form)
        has_text = False
        try:
            async with aclosing(turn.events()) as events:
                async for event in events:
                    has_text = has_text or isinstance(event, TextDelta)
                    if isinstance(event, UsageReported) and turn.form != form:
                        form, self._tools_refused = turn.form, True
                        yield Noticed(text=tools_refused(self.server.url, form))
                    yield event
            return
        except ServerError as error:
            failed = Failure(
                kind=error.kind, sentence=_with_kept(error.sentence, has_text), remedy=error.remedy
            )
        except Exception as error:
            log.exception("A turn of the local agent failed")
            sentence = f"milk-tui itself failed while {self.server.url} was answering: {error!r}."
            failed = Failure(
                kind="bug", sentence=_with_kept(sentence, has_text), remedy="Send the prompt again."
            )
        yield AgentFailed(failure=failed)

    def overhead(self, nonce: str, project: str = "") -> Overhead:
        """What every request of a session carries before anything is said."""
        part = standing(self._form(), self._toolbox.schemas(), nonce, project, self._gauge.tokens)
        return part.overhead()

    def share(self) -> int:
        """A quarter of the window in bytes of text; see `Sized`."""
        return int(self._gauge.quarter * BYTES_PER_TOKEN)

    def _form(self) -> ToolForm:
        return first_form(self.server, self._toolbox, is_refused=self._tools_refused)

    async def close(self) -> None:
        """Close what connections there are."""
        http, self._http = self._http, None
        if http is not None:
            await http.aclose()

    def _exchange(self, body: dict[str, Any]) -> Exchange:
        url = self.server.url
        if self._http is None:
            self._http = client(is_local=is_loopback(url), is_tls=url.startswith("https:"))
        headers = {"Content-Type": "application/json", "Accept": "text/event-stream, application/x-ndjson"}
        if self.server.api_key is not None:
            headers["Authorization"] = f"Bearer {self.server.api_key.get_secret_value()}"
        if self.server.kind == "ollama":
            body = ollama.request_body(body, self._gauge.tokens)
            return Exchange(self._http, ollama.chat_url(url), headers, encoded(body))
        return Exchange(self._http, f"{url}/chat/completions", headers, encoded(body))


def _with_kept(sentence: str, has_text: bool) -> str:
    return f"{sentence} {'The answer so far is kept.' if has_text else 'Your prompt is kept.'}"
