"""Giving the user what is in a block: its source, its code, an address opened, the whole of a shortened output."""

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from textual import on
from textual.screen import Screen

from milk_tui.conversation.desktop import opened
from milk_tui.ui.widgets.blocks import Block
from milk_tui.ui.widgets.transcript import Transcript

if TYPE_CHECKING:
    from milk_tui.ui.screens.chat import ChatScreen
    from milk_tui.ui.screens.copying import Copying


class Giving:
    """Answers the wishes of who reads."""

    def __init__(self, screen: "ChatScreen") -> None:
        self._screen = screen

    async def code(self, block: Block) -> None:
        """Copy the block of code, or one that is chosen where there are several."""
        from milk_tui.ui.markdown.parts import code_blocks
        from milk_tui.ui.screens.part_lists import CodeScreen

        blocks = await asyncio.to_thread(code_blocks, block.source) if block.is_markdown else []
        if not blocks:
            self._say("There is no block of code in it; y copies all of it.")
            return
        several = len(blocks) > 1
        text = await self._screen.app.push_screen_wait(CodeScreen(blocks)) if several else blocks[0].text
        if text:
            self._screen.copying.text(text)

    async def link(self, block: Block) -> None:
        """Show the addresses in full, and open the one that is chosen."""
        from milk_tui.ui.markdown.parts import addresses
        from milk_tui.ui.screens.part_lists import AddressScreen

        found = await asyncio.to_thread(addresses, block.copied, is_markdown=block.is_markdown)
        if not found:
            self._say("There is no address in it that could be opened.")
            return
        choice = await self._screen.app.push_screen_wait(AddressScreen(found))
        if choice is None:
            return
        program = await opened(choice.address) if choice.opens else None
        if program is not None:
            self._say(f"{choice.address} was given to {program}.")
        else:
            if choice.opens:
                self._say("No browser can be reached from here: the address is copied instead.")
            self._screen.copying.text(choice.address)

    async def file(self, block: Block) -> None:
        """Show the whole output of a call whose result was shortened."""
        from milk_tui.ui.screens.output import OutputScreen

        path = self._screen.bench.toolbox.kept(block.detail) if block.kind == "call" else None
        if path is None:
            self._say("Nothing was shortened here: Space unfolds all of it.")
            return
        try:
            text = await asyncio.to_thread(path.read_text, "utf-8", "replace")
        except OSError as error:
            self._say(f"{path} cannot be read: {error.strerror}. Its beginning and its end are still here.")
            return
        whole = replace(block, detail=text, folded=False)
        wanted = await self._screen.app.push_screen_wait(OutputScreen(whole, str(path)))
        if wanted:
            self._screen.copying.text(wanted)

    def _say(self, text: str) -> None:
        self._screen.notify(text, markup=False)


class GiveActions(Screen[None]):
    """The part of the chat's actions that is about it."""

    copying: "Copying"
    giving: Giving

    def action_copy_answer(self, words: str = "") -> None:
        """Copy the last answer or its last block of code, or save it in a file."""
        self.copying.answer(words)

    @on(Transcript.CopyRequested)
    def _copy(self, event: Transcript.CopyRequested) -> None:
        self.copying.text(event.text)

    @on(Transcript.Wanted)
    def _give(self, event: Transcript.Wanted) -> None:
        if event.wish == "source":
            self.copying.text(event.block.copied)
        elif event.wish != "fork":
            wish = {"code": self.giving.code, "link": self.giving.link, "file": self.giving.file}[event.wish]
            self.run_worker(wish(event.block), group="giving", exclusive=True, exit_on_error=False)
