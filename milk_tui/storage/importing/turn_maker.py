"""Makes turns out of what is read piece by piece: clean, numbered, and as whole as those of a live conversation.

It knows no file format. Only one turn is in memory, and those that nobody has taken yet.
"""

import json
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

from milk_tui.core.clean_json import clean_json
from milk_tui.core.cut import cut_middle
from milk_tui.core.errors import Failure
from milk_tui.core.events import TurnStarted
from milk_tui.core.messages import AgentRole, ToolCall, ToolResult, Turn, TurnStatus, Usage
from milk_tui.core.open_turn import OpenTurn
from milk_tui.core.text import sanitize

WITHOUT_PROMPT = "(The agent went on by itself.)"
"""The prompt of a turn that nobody's prompt began."""
FAILURE_LIMIT = 1_000


class TurnMaker:
    """Begin a turn, add to it, take what is complete."""

    def __init__(self, clean: Callable[[str], str] = sanitize) -> None:
        """Every text goes through `clean`, which must sanitize it."""
        self.dropped = 0
        """Turns aside in which no agent said anything."""
        self._clean = clean
        self._made: list[Turn] = []
        self._number = 1
        self._turn: OpenTurn | None = None
        self._at: datetime | None = None
        self._is_aside = False
        self._step = ""
        self._is_answered = False
        self._is_interrupted = False
        self._failure: Failure | None = None
        self._spent: dict[str, Usage] = {}

    @property
    def number(self) -> int:
        """The number of the turn that is open, or else of the next one."""
        return self._number

    @property
    def is_open(self) -> bool:
        """Whether there is a turn to add to."""
        return self._turn is not None

    def taken(self) -> Iterator[Turn]:
        """The turns that are complete and were not taken yet."""
        made, self._made = self._made, []
        yield from made

    def begin(self, agent: AgentRole, prompt: str, at: datetime, *, is_aside: bool = False) -> None:
        """Complete the open turn and begin one.

        Args:
            agent: Who answers.
            prompt: The user's text.
            at: When it was written.
            is_aside: Whether the turn is dropped if no agent says anything in it.
        """
        self.end()
        self._turn = OpenTurn(self._number, TurnStarted(agent=agent, prompt=self._clean(prompt), at=at))
        self._at, self._is_aside = at, is_aside

    def go_on(self, agent: AgentRole, at: datetime) -> None:
        """Something of the agent's follows; without an open turn one begins that has no prompt."""
        if self._turn is None:
            self.begin(agent, WITHOUT_PROMPT, at)
        self.touch(at)

    def touch(self, at: datetime) -> None:
        """The open turn lasted until then, at the least."""
        self._at = at

    def answered_by(self, agent: AgentRole) -> bool:
        """Say whose the open turn is; False if somebody else has answered in it already."""
        if self._turn is None or self._turn.agent == agent:
            return True
        if self._is_answered:
            return False
        self._turn.agent = agent
        return True

    def step(self, name: str, model: str = "") -> None:
        """What follows belongs to the message of that name."""
        if self._turn is None:
            return
        if name != self._step:
            self._turn.begin_step()
        self._step = name
        self._turn.model = self._clean(model) or self._turn.model

    def say(self, text: str) -> None:
        """Add to the answer."""
        clean = self._clean(text)
        if self._turn is not None and clean:
            self._turn.add_text(clean)
            self._settle()

    def think(self, text: str) -> None:
        """Add to the visible reasoning."""
        if self._turn is not None and text:
            self._turn.add_thinking(self._clean(text))

    def call(self, call_id: str, name: str, arguments: dict[str, Any] | str) -> None:
        """Add a tool call; its arguments are an object, or one as JSON."""
        if self._turn is not None:
            written = arguments if isinstance(arguments, str) else json.dumps(arguments)
            self._turn.add_call(ToolCall(id=call_id, name=self._clean(name), arguments=clean_json(written)))
            self._settle(is_answered=False)

    def result(self, call_id: str, text: str, *, is_error: bool) -> None:
        """Add what a call of this turn gave back."""
        if self._turn is not None:
            self._turn.add_result(ToolResult(call_id=call_id, text=self._clean(text), is_error=is_error))
            self._is_answered = False

    def spend(self, name: str, usage: Usage) -> None:
        """Note what the message of that name took. The last word on one message counts."""
        self._spent[name] = usage

    def fail(self, sentence: str) -> None:
        """The turn has failed, unless the agent goes on after all."""
        words = cut_middle(self._clean(sentence).strip(), FAILURE_LIMIT)
        self._failure = Failure(kind="server", sentence=words or "The agent failed without a word.")

    def interrupt(self) -> None:
        """The user stopped the turn."""
        self._is_interrupted = True

    def settle(self) -> None:
        """The open turn needs no last word to be finished."""
        self._is_answered = True

    def end(self) -> None:
        """Complete the open turn, if there is one."""
        turn, self._turn = self._turn, None
        if turn is None or self._at is None:
            return
        for usage in self._spent.values():
            turn.usage = turn.usage.plus(usage)
        turn.end(self._status(), None if self._is_interrupted else self._failure)
        made = turn.closed(self._at, None)
        if len(made.messages) > 1 or not self._is_aside:
            self._made.append(made)
            self._number += 1
        else:
            self.dropped += 1
        self._spent, self._step, self._failure = {}, "", None
        self._is_answered = self._is_interrupted = False

    def _status(self) -> TurnStatus:
        if self._is_interrupted:
            return "interrupted"
        if self._failure is not None:
            return "failed"
        return "finished" if self._is_answered else "interrupted"

    def _settle(self, *, is_answered: bool = True) -> None:
        self._is_answered, self._failure = is_answered, None
