"""Tool calls while they come in, from whatever a server sends of them.

Trusts no field; `ToolCall` values leave here with arguments that parse. Knows nothing of streams.
"""

import json
from typing import Any

from milk_tui.agents.server.call_forms import TextCall
from milk_tui.core.messages import ToolCall


class CallDraft:
    """A tool call while its fragments come in."""

    def __init__(self) -> None:
        self.id = ""
        self.name = ""
        self._parts: list[str] = []

    @classmethod
    def written(cls, call: TextCall) -> "CallDraft":
        """The draft of a call that stood in the text."""
        draft = cls()
        draft.name = call.name
        draft.add(call.arguments)
        return draft

    @property
    def arguments(self) -> str:
        """The arguments so far, as text."""
        return "".join(self._parts)

    def add(self, arguments: object) -> None:
        """Add a fragment of text, or take a whole object in place of what there is."""
        if isinstance(arguments, dict):
            self._parts = [json.dumps(arguments)]
        else:
            self._parts.append(_text(arguments))

    @property
    def is_whole(self) -> bool:
        """The arguments so far are a JSON object."""
        return _object(self.arguments) is not None

    @property
    def is_broken(self) -> bool:
        """There are arguments and they are no JSON object."""
        return bool(self.arguments.strip()) and not self.is_whole

    def call(self, call_id: str) -> ToolCall:
        """The call as it is recorded; broken arguments become `{}`."""
        return ToolCall(id=call_id, name=self.name, arguments=self.arguments if self.is_whole else "{}")


class CallDrafts:
    """The calls of one answer, however the server numbers them.

    Indexes may start anywhere, repeat or be missing; ids may be missing, late, or repeated in each fragment.
    """

    def __init__(self) -> None:
        self.drafts: list[CallDraft] = []
        self._by_index: dict[int, CallDraft] = {}

    def take(self, fragment: dict[str, Any]) -> None:
        """Add one fragment to the call it belongs to."""
        function = fragment.get("function")
        function = function if isinstance(function, dict) else {}
        name = _text(function.get("name"))
        draft = self._draft(_text(fragment.get("id")), fragment.get("index"), name)
        draft.name = draft.name or name
        draft.add(function.get("arguments"))

    def _draft(self, call_id: str, index: object, name: str) -> CallDraft:
        known = self._known(call_id, index)
        draft = known if known is not None and _goes_on(known, call_id, name) else None
        if draft is None:
            draft = CallDraft()
            self.drafts.append(draft)
        draft.id = draft.id or call_id
        if isinstance(index, int):
            self._by_index[index] = draft
        return draft

    def _known(self, call_id: str, index: object) -> CallDraft | None:
        same = next((draft for draft in self.drafts if call_id and draft.id == call_id), None)
        if same is not None:
            return same
        if isinstance(index, int):
            return self._by_index.get(index)
        return self.drafts[-1] if self.drafts else None


def _goes_on(draft: CallDraft, call_id: str, name: str) -> bool:
    """Whether a fragment with this id and name belongs to the draft in its place, or begins another call."""
    if not name or (call_id and call_id == draft.id):
        return True
    if call_id and draft.id:
        return False
    return not draft.name or (name == draft.name and not draft.is_whole)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _object(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
