"""One MCP server as the user describes it: a program to start, or an address to ask.

A value and its rules. It knows neither where the description was read nor how a server is spoken to.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import ConfigDict, SecretStr, field_validator, model_validator

from milk_tui.core.messages import Value
from milk_tui.core.text import sanitize
from milk_tui.tools.environment import withheld

NAME_LIMIT = 40
"""Characters of a server's name."""
_SHORTEST_SECRET = 8
"""Shorter words are not looked for: taking them out would make a sentence unreadable and protect nothing."""


class McpServer(Value):
    """A server the local agent may have tools from. What may be secret never shows in its text form."""

    model_config = ConfigDict(hide_input_in_errors=True)

    name: str
    """Unique among the servers; the first part of its tools' names."""
    transport: Literal["stdio", "http"]
    """How it is spoken to; without a word it follows from which of `url` and `command` is given."""
    command: str = ""
    """For `stdio`: a program on the PATH, or its absolute path."""
    args: tuple[str, ...] = ()
    env: Mapping[str, SecretStr] = {}
    """Variables for the program, beside the few that it inherits."""
    url: str = ""
    """For `http`: the address that speaks streamable HTTP."""
    headers: Mapping[str, SecretStr] = {}
    """Sent with each request, such as `Authorization`."""
    enabled: bool = True

    @model_validator(mode="before")
    @classmethod
    def _find_transport(cls, given: Any) -> Any:
        if isinstance(given, dict) and not given.get("transport"):
            return {**given, "transport": "http" if given.get("url") else "stdio"}
        return given

    @field_validator("name")
    @classmethod
    def _check_name(cls, name: str) -> str:
        name = name.strip()
        if not name or len(name) > NAME_LIMIT or not name.isprintable():
            raise ValueError(f"it must be one line of at most {NAME_LIMIT} characters")
        return name

    @field_validator("command")
    @classmethod
    def _check_command(cls, command: str) -> str:
        if "\0" in command:
            raise ValueError("it must not hold a NUL")
        try:
            path = Path(command.strip()).expanduser()
        except RuntimeError as error:
            raise ValueError(str(error)) from error
        # A relative path would be looked for in whatever project is open, and what is found there would be run.
        if not path.is_absolute() and {"/", "\\"} & set(command):
            raise ValueError("it must be a program on the PATH or an absolute path")
        return str(path) if path.parts else ""

    @field_validator("args")
    @classmethod
    def _check_args(cls, args: tuple[str, ...]) -> tuple[str, ...]:
        if any("\0" in arg for arg in args):
            raise ValueError("they must not hold a NUL")
        return args

    @field_validator("env")
    @classmethod
    def _check_env(cls, env: Mapping[str, SecretStr]) -> Mapping[str, SecretStr]:
        names_fit = all(name and not set(name) & {"=", "\0"} for name in env)
        if not names_fit or any("\0" in value.get_secret_value() for value in env.values()):
            raise ValueError("it must map names to texts")
        return env

    @field_validator("url")
    @classmethod
    def _check_url(cls, url: str) -> str:
        url = url.strip()
        parts = urlsplit(url)
        if url and (not url.isprintable() or parts.scheme not in ("http", "https") or not parts.hostname):
            raise ValueError("it must be an address such as http://127.0.0.1:8000/mcp")
        return url

    @field_validator("headers")
    @classmethod
    def _check_headers(cls, headers: Mapping[str, SecretStr]) -> Mapping[str, SecretStr]:
        for name, value in headers.items():
            text = value.get_secret_value()
            is_name = name.isascii() and name.replace("-", "").replace("_", "").isalnum()
            if not is_name or not text.isascii() or (text and not text.isprintable()):
                raise ValueError("they must be header names and lines of ASCII characters")
        return headers

    @model_validator(mode="after")
    def _check_target(self) -> Self:
        if self.transport == "stdio" and not self.command:
            raise ValueError("a stdio server needs a command")
        if self.transport == "http" and not self.url:
            raise ValueError("an http server needs a url")
        return self

    @property
    def place(self) -> str:
        """What is started or asked, to show: an address without its login and query, or the program's name."""
        if self.transport == "stdio":
            return sanitize(self.command)
        parts = urlsplit(self.url)
        return sanitize(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}")

    def masked(self, text: str) -> str:
        """What a server said with the secrets that it was given taken out: its headers, and variables like a key."""
        variables = {name: value.get_secret_value() for name, value in self.env.items()}
        secrets = [variables[name] for name in withheld(variables)]
        secrets += [value.get_secret_value() for value in self.headers.values()]
        for word in " ".join(secrets).split():
            if len(word) >= _SHORTEST_SECRET:
                text = text.replace(word, "[secret]")
        return text

    def stored(self) -> dict[str, object]:
        """The value as a settings file holds it, secrets and all; what has its default is left out."""
        plain = self.model_dump(exclude_defaults=True, exclude={"env", "headers"})
        opened = {
            key: {name: secret.get_secret_value() for name, secret in values.items()}
            for key, values in (("env", self.env), ("headers", self.headers))
            if values
        }
        return plain | opened
