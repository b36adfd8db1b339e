"""What a tool is: a function that prepares a call, and what was prepared, which asks its question and runs.

Preparing changes nothing. Running does what the question showed, or nothing. Knows no particular tool, and not who
answers questions.
"""

import inspect
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from milk_tui.core.permission import Question
from milk_tui.tools.off_loop import off_loop
from milk_tui.tools.site import Site
from milk_tui.tools.trouble import ToolError

Effect = Literal["read", "write", "run", "network", "foreign"]
"""What a tool can do at the most; `foreign` is what another program does. Only reading may go without a question."""

Report = Callable[[str], None]
"""Takes what a running tool has newly written. Called on the event loop."""


@dataclass(frozen=True)
class Outcome:
    """What a tool gave back: text for the model, of any length."""

    text: str
    is_error: bool = False


@dataclass(frozen=True)
class Prepared:
    """A call whose arguments are good, with everything decided but the permission."""

    question: Question | None
    """What the user must allow first; None where nothing needs to be asked."""
    run: Callable[[Report], Awaitable[Outcome]]
    """Does it. Cancelling stops it and waits until nothing of it is left. Raises `ToolError` and `OSError`."""


class Tool:
    """One tool, derived from a function whose first parameter is the site and whose others the model fills in.

    The function's docstring is what the model reads, its annotations are the parameters. It runs on a thread, so it
    may read files. It leaves `arguments` and `session_scope` of its question empty; they are filled in here.
    """

    def __init__(self, prepare: Callable[..., Prepared], effect: Effect) -> None:
        self.name = prepare.__name__
        self.effect = effect
        self._prepare = prepare

    @cached_property
    def schema(self) -> Mapping[str, Any]:
        """The function schema, as the chat completions interface writes it."""
        parameters = self._arguments.model_json_schema()
        shown = {key: parameters[key] for key in ("type", "properties", "required") if key in parameters}
        for field in shown["properties"].values():
            field.pop("title", None)
        description = " ".join((inspect.getdoc(self._prepare) or "").split())
        return {
            "type": "function",
            "function": {"name": self.name, "description": description, "parameters": shown},
        }

    async def prepare(self, site: Site, arguments: Mapping[str, Any]) -> Prepared:
        """Check the arguments and work out what would happen.

        Raises:
            ToolError: the call cannot be run; the sentence is for the model.
            OSError: something on this machine is in the way.
        """
        values = self._checked(arguments)
        prepared = await off_loop(lambda _stop: self._prepare(site, **values))
        if prepared.question is None:
            if self.effect != "read":
                raise ToolError(f"{self.name} must ask before it runs and did not, so it was not run.")
            return prepared
        scope = prepared.question.scope
        complete = {
            "tool": self.name,
            "agent": "local",
            "arguments": json.dumps(arguments, ensure_ascii=False, indent=2),
            "session_scope": scope.words() if scope else "",
        }
        return Prepared(prepared.question.model_copy(update=complete), prepared.run)

    @cached_property
    def _arguments(self) -> type[BaseModel]:
        fields: dict[str, Any] = {
            name: (parameter.annotation, ... if parameter.default is parameter.empty else parameter.default)
            for name, parameter in list(inspect.signature(self._prepare).parameters.items())[1:]
        }
        return create_model(self.name, __config__=ConfigDict(extra="forbid"), **fields)

    def _checked(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments as the function takes them. An optional one that is null counts as left out."""
        fields = self._arguments.model_fields
        given = {
            name: value
            for name, value in arguments.items()
            if value is not None or name not in fields or fields[name].is_required()
        }
        try:
            values = self._arguments.model_validate(given)
        except ValidationError as error:
            raise ToolError(_complaint(self.name, list(fields), error)) from None
        checked = {name: getattr(values, name) for name in fields}
        for name, value in checked.items():
            if isinstance(value, str) and any("\ud800" <= letter <= "\udfff" for letter in value):
                raise ToolError(f"`{name}` of {self.name} holds half a character, so it was not run.")
        return checked


def _complaint(tool: str, known: list[str], error: ValidationError) -> str:
    """What is wrong with the arguments, in words a model can act on."""
    problems = []
    for detail in error.errors(include_url=False, include_input=False):
        name = ".".join(map(str, detail["loc"]))
        match detail["type"]:
            case "missing":
                problems.append(f"`{name}` is missing")
            case "extra_forbidden":
                problems.append(f"there is no `{name}`")
            case _:
                problems.append(f"`{name}`: {detail['msg'].lower()}")
    return f"{tool} was not run: {'; '.join(problems)}. Its arguments are {', '.join(known)}."
