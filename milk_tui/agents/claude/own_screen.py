"""Claude Code's own screen: the program itself in the user's terminal, on the same session with the same context.

What Claude is told goes in as at any other hand-off: in a file behind its system prompt for a session that begins,
and through hooks for one that is resumed. A session that the user begins in there is told everything. Hooks also
write down which sessions were open, for the user may leave the one that was opened. All of that is in a private
folder that goes with the stay. What was said stands in Claude Code's own files, which somebody else reads.
"""

import asyncio
import json
import os
import secrets
import shlex
import sys
from asyncio.subprocess import Process, create_subprocess_exec
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from milk_tui.agents.claude import hook
from milk_tui.agents.claude.pieces import CONTEXT_LIMIT, pieces
from milk_tui.agents.claude.private import private_file
from milk_tui.agents.claude.process import MARK, end_marked, exit_words, leave_outer_session
from milk_tui.core.errors import Failure

END_SECONDS = 2.0
"""How long it may take to end when it is told to."""


@dataclass(frozen=True)
class Opening:
    """What Claude Code is opened with."""

    cwd: str
    standing: str
    """The part of the hand-off that never changes."""
    whole: str
    """What a session is told that knows nothing: the one that is opened without `resume_id`, and any begun inside."""
    news: str = ""
    """What the resumed session does not know yet; empty if it knows all."""
    resume_id: str | None = None
    prompt: str = ""
    """Sent as soon as it is open; empty to let the user begin."""


@dataclass(frozen=True)
class Visit:
    """A session that was open there."""

    session_id: str
    transcript: Path
    """The file that Claude Code keeps it in; there is none before its first prompt."""
    was_told: bool
    """Whether what it did not know has gone in with a prompt, if there was anything."""


class OwnScreen:
    """One stay in it."""

    def __init__(self, cli: str, model: str | None, opening: Opening, folder: Path) -> None:
        """Prepare everything in the folder, which must be private and empty; nothing is started yet."""
        self.began_at = datetime.now(UTC)
        self.failure: Failure | None = None
        """Why it could not be opened, or how it ended badly."""
        self._cli = cli
        self._opening = opening
        # Chosen here, so that it is known where no hook may run.
        self._session_id = opening.resume_id or str(uuid4())
        self._folder = folder
        self._mark = secrets.token_hex(8)
        self._pieces = self._write_pieces() if opening.resume_id else 0
        self._command = self._write_command(model)

    @property
    def visits(self) -> list[Visit]:
        """The sessions that were open, in the order in which they were opened first."""
        known = [(self._session_id, path) for path in _transcripts(self._session_id)]
        begun = [(session, Path(path)) for session, path in hook.begun(self._folder).items()]
        return [Visit(session, path, self._was_told(session)) for session, path in begun or known]

    async def run(self) -> None:
        """Give it the terminal and wait for its end. Cancelled, it is ended."""
        environ = dict(os.environ)
        leave_outer_session(environ)
        environ[MARK] = self._mark
        try:
            # In our own process group: Ctrl+Z must stop both, and the shell must bring both back.
            process = await create_subprocess_exec(*self._command, cwd=self._opening.cwd, env=environ)
        except OSError as error:
            where = f"{self._cli} cannot be run in {self._opening.cwd}"
            self._fail(f"{where}: {error.strerror}. Nothing was handed over.")
            return
        try:
            status = await process.wait()
        finally:
            if process.returncode != 0:
                await self._end(process)
        if status and self.visits:
            self._fail(f"Claude Code {exit_words(status)}; what was said there is kept.")
        elif status:
            self._fail(f"Claude Code {exit_words(status)} before it was open; nothing was handed over.")

    async def _end(self, process: Process) -> None:
        """End it, and what it has left running."""
        if process.returncode is None:
            process.terminate()
            try:
                async with asyncio.timeout(END_SECONDS):
                    await process.wait()
            except TimeoutError:
                process.kill()
                await process.wait()
        await end_marked(self._mark)

    def _fail(self, sentence: str) -> None:
        is_resumed = self._opening.resume_id and not self.visits
        remedy = (
            "If Claude's session is gone, Ctrl+G starts another one."
            if is_resumed
            else "Ctrl+O opens it again."
        )
        self.failure = Failure(kind="died", sentence=sentence, remedy=remedy)

    def _was_told(self, session: str) -> bool:
        is_opened = session == self._opening.resume_id
        places = [str(place) for place in range(self._pieces)]
        due = [place for place in places if hook.piece(self._folder, place, is_opened=is_opened).exists()]
        return all(hook.told(self._folder, place, session).exists() for place in due)

    def _write_pieces(self) -> int:
        """Write what goes in with prompts; the number of hooks that it takes."""
        opening = self._opening
        private_file(self._folder / hook.OPENED, opening.resume_id or "")
        counts = [0]
        for text, is_opened in ((opening.news, True), (opening.whole, False)):
            parts = pieces(text, CONTEXT_LIMIT)
            counts.append(len(parts))
            for place, part in enumerate(parts):
                private_file(hook.piece(self._folder, str(place), is_opened=is_opened), part)
        return max(counts)

    def _write_command(self, model: str | None) -> Sequence[str]:
        opening = self._opening
        appended = opening.standing if opening.resume_id else f"{opening.standing}\n\n{opening.whole}"
        system = private_file(self._folder / "context.md", appended)
        settings = private_file(self._folder / "settings.json", json.dumps({"hooks": self._hooks()}))
        return [
            self._cli,
            *("--settings", str(settings)),
            *("--append-system-prompt-file", str(system)),
            *(("--model", model) if model else ()),
            *("--resume" if opening.resume_id else "--session-id", self._session_id),
            *(("--", opening.prompt) if opening.prompt else ()),
        ]

    def _hooks(self) -> dict[str, Any]:
        prompts = [self._hook(str(place)) for place in range(self._pieces)]
        return {"SessionStart": [self._hook(hook.BEGUN)], "UserPromptSubmit": prompts}

    def _hook(self, word: str) -> dict[str, Any]:
        command = shlex.join([sys.executable, "-I", "-S", hook.__file__, str(self._folder), word])
        return {"hooks": [{"type": "command", "command": command}]}


def _transcripts(session_id: str) -> Iterable[Path]:
    """Where a session is kept, if it has said anything."""
    home = Path(os.environ.get("CLAUDE_CONFIG_DIR") or "~/.claude").expanduser()
    return home.glob(f"projects/*/{session_id}.jsonl")
