"""Lines from standard input, without ever blocking the program."""

import asyncio
import codecs
import os


class Lines:
    """What is typed, line by line. The terminal itself echoes and lets a line be mended."""

    def __init__(self, descriptor: int = 0) -> None:
        self._descriptor = descriptor
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._begun = ""
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        asyncio.get_running_loop().add_reader(descriptor, self._read)

    async def ask(self, prompt: str) -> str | None:
        """The next line, asked for with these words; `None` when the input has ended."""
        print(prompt, end=" ", flush=True)
        return await self._lines.get()

    def forget(self) -> None:
        """Drop the lines that were typed ahead: they were not meant for what is asked now."""
        while not self._lines.empty():
            if self._lines.get_nowait() is None:
                self._lines.put_nowait(None)
                return

    def close(self) -> None:
        """Read no more."""
        asyncio.get_running_loop().remove_reader(self._descriptor)

    def _read(self) -> None:
        data = os.read(self._descriptor, 65_536)
        if not data:
            self.close()
            self._lines.put_nowait(None)
            return
        *whole, self._begun = (self._begun + self._decoder.decode(data)).split("\n")
        for line in whole:
            self._lines.put_nowait(line)
