"""How a session reads in the transcript: events and turns become blocks.

It draws nothing and decides nothing; it only says which block grows, which one is replaced, and in which words.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from milk_tui.core import events as ev
from milk_tui.core.messages import AgentRole, Turn, Usage
from milk_tui.core.receipts import receipt_line
from milk_tui.core.todos import Todos
from milk_tui.ui.about import about, about_turn
from milk_tui.ui.calls import Calls
from milk_tui.ui.remarks import remark
from milk_tui.ui.widgets.blocks import Block, Kind
from milk_tui.ui.widgets.transcript import Transcript

LIVE_CHARS = 4_000
"""Characters of what a running call has written that are shown: its end."""


_SAID: tuple[Kind, ...] = ("user", "thinking", "local", "claude", "call")
"""The kinds of blocks that show what is in a session's messages."""


class Story:
    """Tells one session in one transcript."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._agent: AgentRole = "local"
        self._model = ""
        self._count = 0
        self._text: Block | None = None
        self._thinking: Block | None = None
        self._has_spoken = False
        self._calls = Calls(self._key, Todos())
        self._step: list[Block] = []
        """What the present step has put into the transcript: what goes when it is voided."""
        self._prompt: Block | None = None
        self._usage = Usage()
        self._began = datetime.min
        self._number = 0
        self._told: dict[int, list[str]] = {}
        """For each turn the keys of the blocks that show its messages."""

    def tell_turns(self, turns: Sequence[Turn], undone: int = 0) -> None:
        """Show a session that was reopened; `undone` is the highest number of a turn that was taken back."""
        blocks: list[Block] = []
        for turn in turns:
            told = list(self._turn(turn))
            blocks += told
            self._number = turn.number
            self._told[turn.number] = [block.key for block in told if block.kind in _SAID]
        self._number = max(self._number, undone)
        self._transcript.extend(blocks)

    def key_of(self, turn: Turn, message_id: str) -> str | None:
        """The block that shows a message of a turn: a result's is its call's. `None` if the turn is not shown."""
        keys = self._told.get(turn.number)
        if keys is None:
            return None
        owners = list(_owners(turn))
        wanted = {m.id: m.result.call_id for m in turn.messages if m.result}.get(message_id, message_id)
        place = next((place for place, ids in enumerate(owners) if wanted in ids), 0)
        return keys[place] if len(owners) == len(keys) else keys[0]

    def turn_of(self, key: str) -> int | None:
        """The number of the turn whose messages a block shows something of."""
        return next((number for number, keys in self._told.items() if key in keys), None)

    def note(self, text: str) -> None:
        """Show something that is not part of the conversation."""
        self._add("notice", text)

    def remark(self, call_id: str, tool: str, words: str) -> None:
        """Say a few words at a call that has no result yet: at this one, else at the first of the tool's without."""
        calls = self._calls
        self._replace(calls.remark(call_id if calls.key_of(call_id) else calls.open_call(tool), words))

    def tell(self, event: ev.Event) -> None:
        """Show one event."""
        match event:
            case ev.TurnStarted():
                self._begin(event)
            case ev.ExchangeUndone():
                self._take_back()
            case _:
                self._tell_of_turn(event)

    def _tell_of_turn(self, event: ev.Event) -> None:
        match event:
            case ev.TextDelta():
                self._text = self._stream(self._text, self._agent, event.text)
            case ev.ThinkingDelta():
                self._thinking = self._stream(self._thinking, "thinking", event.text)
            case ev.StepStarted():
                self._close()
                self._step = []
            case ev.StepVoided():
                self._void()
            case ev.ToolCallStarted() | ev.ToolOutput() | ev.ToolCallFinished():
                self._tell_call(event)
            case ev.AgentReady() | ev.UsageReported():
                self._learn(event)
            case ev.TurnEnded():
                self._end(event)
            case _:
                said = remark(event)
                if said is not None:
                    self._add(*said)

    def _begin(self, event: ev.TurnStarted) -> None:
        self._agent, self._model = event.agent, ""
        self._text = self._thinking = None
        self._has_spoken = False
        self._calls, self._step = Calls(self._key, self._calls.todos), []
        self._number += 1
        self._told[self._number] = []
        if event.preface:
            self._add(
                "notice", f"The local agent is told what Claude did ({len(event.preface):,} characters)."
            )
        self._usage, self._began = Usage(), event.at
        self._prompt = self._put(
            Block(key=self._key(), kind="user", source=event.prompt, about=about(event.at))
        )

    def _learn(self, event: ev.AgentReady | ev.UsageReported) -> None:
        """Take notice of what is told of the turn when it is over, or at its blocks."""
        if isinstance(event, ev.AgentReady):
            self._model = event.model
        else:
            self._usage = self._usage.plus(event.usage)

    def _end(self, ended: ev.TurnEnded) -> None:
        self._close()
        if self._prompt is not None:
            self._transcript.replace(replace(self._prompt, about=about(self._began, ended.at, self._usage)))
        for block in self._calls.cancelled():
            self._transcript.replace(block)
        if ended.receipt is not None:
            self._add("receipt", receipt_line(ended.receipt))

    def _stream(self, block: Block | None, kind: Kind, text: str) -> Block:
        if block is None:
            self._close()
            headed = kind == "thinking" or not self._has_spoken
            self._has_spoken = self._has_spoken or kind != "thinking"
            label = "" if kind == "thinking" else self._model
            block = Block(
                key=self._key(),
                kind=kind,
                label=label,
                state="running",
                headed=headed,
                folded=kind == "thinking",
            )
            self._step.append(self._put(block))
        self._transcript.stream(block.key, text)
        return block

    def _void(self) -> None:
        """The step is said again: what it has said so far goes, and the calls that have no result."""
        voided, self._step = self._step, []
        self._text = self._thinking = None
        self._has_spoken = self._has_spoken and not any(_speaks(block) and block.headed for block in voided)
        keys = {block.key for block in voided}
        self._calls.forget(keys)
        self._transcript.take_out(keys)
        self._told[self._number] = [key for key in self._told[self._number] if key not in keys]

    def _take_back(self) -> None:
        """The last turn goes, with all that was said behind its prompt."""
        _, told = self._told.popitem() if self._told else (0, [])
        keys = [block.key for block in self._transcript.blocks]
        if told:
            self._transcript.take_out(keys[keys.index(told[0]) :])

    def _close(self) -> None:
        for block in (self._text, self._thinking):
            if block is not None:
                self._transcript.finish(block.key)
        self._text = self._thinking = None

    def _tell_call(self, event: ev.ToolCallStarted | ev.ToolOutput | ev.ToolCallFinished) -> None:
        if isinstance(event, ev.ToolCallStarted):
            self._close()
            block, is_new = self._calls.started(event.call)
            if is_new:
                self._step.append(self._put(block))
            else:
                self._transcript.replace(block)
        elif isinstance(event, ev.ToolCallFinished):
            if self._replace(self._calls.finished(event.result)):
                self._step = []
        elif event.text:
            self._replace(self._calls.wrote(event.call_id, event.text[-LIVE_CHARS:]))

    def _replace(self, block: Block | None) -> bool:
        """Show a block as it is now, if there is one; tells whether there was."""
        if block is not None:
            self._transcript.replace(block)
        return block is not None

    def _turn(self, turn: Turn) -> Iterator[Block]:
        calls = self._calls = Calls(self._key, self._calls.todos)
        blocks = list(self._said(turn, calls))
        yield from (calls.block(block.key) or block for block in blocks)
        yield from self._ending(turn)

    def _said(self, turn: Turn, calls: Calls) -> Iterator[Block]:
        """The blocks of a turn's messages as they began; those of calls have changed since."""
        spoken = False
        for message in turn.messages:
            if message.role == "user":
                yield Block(key=self._key(), kind="user", source=message.text, about=about_turn(turn))
            if message.thinking:
                yield Block(key=self._key(), kind="thinking", source=message.thinking, folded=True)
            if message.role == "agent" and message.text:
                yield Block(
                    key=self._key(), kind=turn.agent, source=message.text, label=turn.model, headed=not spoken
                )
                spoken = True
            for call in message.calls:
                block, is_new = calls.started(call)
                if is_new:
                    yield block
            if message.result is not None:
                calls.finished(message.result)

    def _ending(self, turn: Turn) -> Iterator[Block]:
        if turn.failure is not None:
            yield Block(key=self._key(), kind="failure", source=str(turn.failure))
        elif turn.status == "interrupted":
            yield Block(key=self._key(), kind="notice", source="Stopped.")
        if turn.receipt is not None:
            yield Block(key=self._key(), kind="receipt", source=receipt_line(turn.receipt))

    def _add(self, kind: Kind, source: str) -> None:
        self._put(Block(key=self._key(), kind=kind, source=source))

    def _put(self, block: Block) -> Block:
        self._transcript.append(block)
        if block.kind in _SAID and self._number:
            self._told[self._number].append(block.key)
        return block

    def _key(self) -> str:
        self._count += 1
        return f"b{self._count}"


def _owners(turn: Turn) -> Iterator[list[str]]:
    """For each block that shows a part of a turn's messages: the ids of that message and of the calls on it."""
    owners: list[list[str]] = []
    places: dict[str, int] = {}
    calls = Calls(lambda: f"b{len(owners)}", Todos())
    for message in turn.messages:
        if message.thinking:
            owners.append([] if message.text else [message.id])
        if message.text or message.role == "user":
            owners.append([message.id])
        for call in message.calls:
            block, is_new = calls.started(call)
            if is_new:
                places[block.key] = len(owners)
                owners.append([message.id])
            owners[places[block.key]].append(call.id)
    yield from owners


def _speaks(block: Block) -> bool:
    return block.kind in ("local", "claude")
