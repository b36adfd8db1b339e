"""How a session reads in the transcript: events and turns become blocks.

It draws nothing and decides nothing; it only says which block grows, which one is replaced, and in which words.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from milk_tui.core import events as ev
from milk_tui.core.cut import one_line
from milk_tui.core.messages import AgentRole, ToolCall, ToolResult, Turn, Usage
from milk_tui.core.receipts import receipt_line
from milk_tui.ui.about import about, about_turn
from milk_tui.ui.remarks import remark
from milk_tui.ui.widgets.blocks import Block, Kind
from milk_tui.ui.widgets.transcript import Transcript

NOTE_CHARS = 100
"""Characters of how a call was allowed; the list of permissions has the whole scope."""
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
        self._calls: dict[str, Block] = {}
        """Calls that have no result yet, by their ids."""
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
        unsaid = (key for key, block in calls.items() if block.label == tool and not block.note)
        found = call_id if call_id in calls else next(unsaid, None)
        if found is not None:
            self._change(found, note=one_line(words, NOTE_CHARS))

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
            case ev.ToolCallStarted():
                self._close()
                block = self._calls[event.call.id] = self._put(_call_block(self._key(), event.call, None))
                self._step.append(block)
            case ev.ToolOutput():
                self._output(event)
            case ev.ToolCallFinished():
                self._result(event.result)
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
        self._calls, self._step = {}, []
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
        for block in self._calls.values():
            self._transcript.replace(replace(block, state="error", detail="Cancelled.", folded=True))
        self._calls = {}
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
        self._calls = {id: block for id, block in self._calls.items() if block.key not in keys}
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

    def _output(self, output: ev.ToolOutput) -> None:
        """Show what a call has written so far: open while it runs, until its result takes the place."""
        if output.call_id in self._calls and output.text:
            self._change(output.call_id, detail=output.text[-LIVE_CHARS:], folded=False)

    def _change(self, call_id: str, **changes: Any) -> None:
        block = self._calls[call_id] = replace(self._calls[call_id], **changes)
        self._transcript.replace(block)

    def _result(self, result: ToolResult) -> None:
        block = self._calls.pop(result.call_id, None)
        if block is not None:
            self._transcript.replace(_with_result(block, result))
            self._step = []

    def _turn(self, turn: Turn) -> Iterator[Block]:
        results = {m.result.call_id: m.result for m in turn.messages if m.result is not None}
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
                yield _call_block(self._key(), call, results.get(call.id))
        yield from self._ending(turn)

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


def _owners(turn: Turn) -> Iterator[tuple[str, ...]]:
    """For each block that shows a part of a turn's messages: the ids of that message and that call."""
    for message in turn.messages:
        if message.thinking:
            yield () if message.text else (message.id,)
        if message.text or message.role == "user":
            yield (message.id,)
        for call in message.calls:
            yield (message.id, call.id)


def _speaks(block: Block) -> bool:
    return block.kind in ("local", "claude")


def _call_block(key: str, call: ToolCall, result: ToolResult | None) -> Block:
    arguments = call.parsed()
    shown = ", ".join(
        str(value) if len(arguments) == 1 else f"{name}={value}" for name, value in arguments.items()
    )
    block = Block(
        key=key, kind="call", source=one_line(shown, 400), label=call.name, state="running", folded=True
    )
    return block if result is None else _with_result(block, result)


def _with_result(block: Block, result: ToolResult) -> Block:
    return replace(block, detail=result.text, state="error" if result.is_error else "ok", folded=True)
