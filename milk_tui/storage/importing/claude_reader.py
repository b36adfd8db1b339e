"""The second reading of a Claude Code session: records become turns, in the order of the conversation.

It knows neither which records belong to it nor what becomes of the turns.
"""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import BinaryIO

from milk_tui.core.messages import Turn
from milk_tui.storage.importing.claude_records import (
    SYNTHETIC,
    Prompt,
    Record,
    blocks_of,
    prompt_of,
    queued_prompt,
    result_text,
    usage_of,
    was_stopped,
)
from milk_tui.storage.importing.fields import moment_in, object_in, text_in
from milk_tui.storage.importing.source import line_at, parsed
from milk_tui.storage.importing.turn_maker import TurnMaker

SUMMARIZED = "(An earlier conversation, of which Claude Code kept this summary.)"
"""The prompt of a turn that stands for all that a file does not hold any more."""


def record_at(file: BinaryIO, place: int) -> Record:
    """The record that begins there; an empty one if it cannot be read."""
    return parsed(line_at(file, place)) or {}


class ClaudeReader:
    """Give it record after record, and take the turns that are complete."""

    def __init__(self, began: datetime, left_out: Counter[str]) -> None:
        """Records without a time are of `began`; what is not taken is counted in `left_out`."""
        self._maker = TurnMaker()
        self._at = began
        self._left_out = left_out

    def read(self, record: Record) -> Iterator[Turn]:
        """The turns that are complete now that this record is there."""
        self._at = moment_in(record, "timestamp") or self._at
        match record.get("type"):
            case "user":
                self._read_user(record)
            case "assistant":
                self._read_assistant(record)
            case "attachment":
                if queued := queued_prompt(record):
                    self._maker.settle()
                    self._begin(queued)
        yield from self._maker.taken()

    def end(self) -> Iterator[Turn]:
        """The last turn."""
        self._maker.end()
        self._left_out["commands that Claude did not answer"] += self._maker.dropped
        yield from self._maker.taken()

    def _read_user(self, record: Record) -> None:
        blocks = blocks_of(record)
        if record.get("isCompactSummary"):
            self._read_summary(blocks)
            return
        for block in blocks:
            if block.get("type") == "tool_result":
                self._read_result(block)
        if was_stopped(blocks):
            self._maker.interrupt()
        elif prompt := prompt_of(record, blocks):
            self._begin(prompt)

    def _read_summary(self, blocks: list[Record]) -> None:
        """A summary says again what stands before it, unless nothing does."""
        if self._maker.number > 1 or self._maker.is_open:
            self._left_out["summaries of what is there in full"] += 1
            return
        self._maker.begin("claude", SUMMARIZED, self._at)
        self._maker.say("\n".join(text_in(block, "text") for block in blocks))

    def _read_assistant(self, record: Record) -> None:
        message = object_in(record, "message")
        blocks = blocks_of(record)
        model = text_in(message, "model")
        if record.get("isApiErrorMessage"):
            self._maker.go_on("claude", self._at)
            self._maker.fail("\n".join(text_in(block, "text") for block in blocks))
            return
        if model == SYNTHETIC:
            return
        self._maker.go_on("claude", self._at)
        name = text_in(message, "id") or text_in(record, "uuid")
        self._maker.step(name, model)
        self._maker.spend(name, usage_of(record))
        for block in blocks:
            self._read_block(block)

    def _read_block(self, block: Record) -> None:
        kind = text_in(block, "type")
        if kind == "text":
            self._maker.say(text_in(block, "text"))
        elif kind == "thinking":
            self._maker.think(text_in(block, "thinking"))
        elif kind.endswith("tool_use"):
            self._maker.call(text_in(block, "id"), text_in(block, "name"), object_in(block, "input"))
        elif kind.endswith("tool_result"):
            self._read_result(block)

    def _read_result(self, block: Record) -> None:
        is_error = block.get("is_error") is True
        self._maker.result(text_in(block, "tool_use_id"), result_text(block), is_error=is_error)
        self._maker.touch(self._at)

    def _begin(self, prompt: Prompt) -> None:
        self._maker.begin("claude", prompt.text, self._at, is_aside=prompt.is_command)
