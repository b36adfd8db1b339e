"""The real Claude Code changes real files, and each is noted as it was before, however the change was allowed."""

from pathlib import Path

import pytest

from milk_tui.conversation.controller import Conversation
from milk_tui.conversation.file_watch import FileWatch
from milk_tui.core.permission import Answer
from milk_tui.storage.file_texts import FileTexts
from tests.agents.claude_environment import claude_stage
from tests.agents.messages_api import Say, UseTool, UseTools
from tests.conversation.talking import Memory, all_of, new_session


def edit(path: Path, old: str, new: str) -> UseTool:
    return UseTool("Edit", {"file_path": str(path), "old_string": old, "new_string": new})


async def test_files_are_noted_before_asked_allowed_and_parallel_changes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async with claude_stage(monkeypatch, tmp_path) as stage:
        asked, allowed = stage.cwd / "asked.txt", stage.cwd / "allowed.txt"
        made, refused = stage.cwd / "made.txt", stage.root / "refused.txt"
        for path in (asked, allowed):
            path.write_text("one\n")
        stage.api.play(
            UseTools(
                (UseTool("Read", {"file_path": str(asked)}), UseTool("Read", {"file_path": str(allowed)}))
            ),
            edit(asked, "one", "two"),
            edit(allowed, "one", "two"),
            UseTools(
                (edit(allowed, "two", "three"), UseTool("Write", {"file_path": str(made), "content": "m\n"}))
            ),
            UseTool("Bash", {"command": "echo more >> asked.txt"}),
            UseTool("Write", {"file_path": str(refused), "content": "no"}),
            Say("Done."),
        )
        # The first answer allows every further change in the directory; the other question is about another place.
        stage.asked.answers = [Answer(decision="session"), Answer()]
        session = new_session(cwd=str(stage.cwd))
        watch = FileWatch(session, FileTexts(tmp_path / "home", "s1"))
        agent = stage.agent(watch=watch.note)
        talk = Conversation(session, local=agent, claude=agent, store=Memory())
        await all_of(talk.escalate("go"))
        changes = await watch.changes(session.turns)
        assert [question.tool for question in stage.asked.questions] == ["Edit", "Write"]
        assert [(file.name, file.kind, file.before, file.after) for file in changes.files] == [
            ("asked.txt", "changed", "one\n", "two\nmore\n"),
            ("allowed.txt", "changed", "one\n", "three\n"),
            ("made.txt", "created", None, "m\n"),
        ]
        assert changes.may_be_more
