import asyncio
from pathlib import Path

from milk_tui.conversation.permissions import PermissionDesk
from milk_tui.core.permission import Answer, Decision, Question, Scope
from milk_tui.storage.grants import GrantFile

STATUS = Scope(tool="run_command", kind="command", subject="git status")


class User:
    """Answers what it is told to and counts the questions."""

    def __init__(self, *decisions: Decision, scope: Scope | None = None) -> None:
        self.asked: list[Question] = []
        self._decisions = list(decisions)
        self._scope = scope

    async def __call__(self, question: Question) -> Answer:
        self.asked.append(question)
        return Answer(decision=self._decisions.pop(0) if self._decisions else "no", scope=self._scope)


def run(command: str) -> Question:
    scope = Scope(tool="run_command", kind="command", subject=command)
    return Question(tool="run_command", arguments="{}", command=command, scope=scope)


def write(path: str) -> Question:
    folder = Scope(tool="write_file", kind="folder", subject=str(Path(path).parent))
    return Question(
        tool="write_file",
        arguments="{}",
        scope=Scope(tool="write_file", kind="file", subject=path),
        wider=folder,
    )


async def test_without_anybody_to_ask_the_answer_is_no() -> None:
    assert (await PermissionDesk().ask(run("ls"))).decision == "no"


async def test_once_is_asked_again() -> None:
    user = User("once", "once")
    desk = PermissionDesk(answerer=user)
    for _ in range(2):
        assert (await desk.ask(run("ls"))).decision == "once"
    assert len(user.asked) == 2


async def test_a_grant_for_the_session_covers_exactly_the_same_command_and_nothing_chained_to_it() -> None:
    user = User("session")
    desk = PermissionDesk(answerer=user)
    await desk.ask(run("git status"))
    assert (await desk.ask(run("git status"))).decision == "once"
    for command in (
        "git status && rm -rf x",
        "git status; id",
        "git status | sh",
        "git status $(id)",
        "git status `id`",
        "git status\nid",
        "git statusx",
        "git status > /etc/x",
        "X=1 git status",
        "env git status",
        "git status ",
    ):
        assert (await desk.ask(run(command))).decision == "no", command


async def test_a_folder_granted_instead_covers_its_files_and_no_neighbour() -> None:
    user = User("session", scope=write("/p/src/a.py").wider)
    desk = PermissionDesk(answerer=user)
    await desk.ask(write("/p/src/a.py"))
    assert (await desk.ask(write("/p/src/sub/b.py"))).decision == "once"
    assert (await desk.ask(write("/p/src2/b.py"))).decision == "no"
    assert (await desk.ask(write("/p/other.py"))).decision == "no"


async def test_always_outlives_the_program_in_its_directory_only_until_it_is_revoked(tmp_path: Path) -> None:
    await PermissionDesk(GrantFile(tmp_path, "/p"), User("always")).ask(run("git status"))
    again = PermissionDesk(GrantFile(tmp_path, "/p"))
    assert again.lasting_grants == (STATUS,)
    assert (await again.ask(run("git status"))).decision == "once"
    assert (await PermissionDesk(GrantFile(tmp_path, "/q")).ask(run("git status"))).decision == "no"
    again.revoke(STATUS)
    assert (await PermissionDesk(GrantFile(tmp_path, "/p")).ask(run("git status"))).decision == "no"


async def test_a_damaged_grant_file_grants_nothing_and_is_kept_aside(tmp_path: Path) -> None:
    (tmp_path / "grants.json").write_text('{"/p": [{"tool": "run_command"', encoding="utf-8")
    desk = PermissionDesk(GrantFile(tmp_path, "/p"), User("always"))
    assert "grants.json" in desk.problem and not desk.lasting_grants
    await desk.ask(run("git status"))
    assert (tmp_path / "grants.json.damaged").exists()
    assert PermissionDesk(GrantFile(tmp_path, "/p")).lasting_grants == (STATUS,)


async def test_a_grant_that_cannot_be_kept_holds_for_the_session_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    desk = PermissionDesk(GrantFile(tmp_path / "file", "/p"), User("always"))
    await desk.ask(run("git status"))
    assert "cannot be written" in desk.problem
    assert (await desk.ask(run("git status"))).decision == "once"


async def test_two_questions_at_once_come_one_after_the_other() -> None:
    open_now, most = 0, 0

    async def slow(question: Question) -> Answer:
        nonlocal open_now, most
        open_now += 1
        most = max(most, open_now)
        await asyncio.sleep(0)
        open_now -= 1
        return Answer(decision="once")

    desk = PermissionDesk(answerer=slow)
    await asyncio.gather(*(desk.ask(run(f"c{number}")) for number in range(5)))
    assert most == 1


async def test_a_question_that_the_answer_before_it_grants_is_not_asked() -> None:
    user = User("session")
    desk = PermissionDesk(answerer=user)
    answers = await asyncio.gather(desk.ask(run("git status")), desk.ask(run("git status")))
    assert [answer.decision for answer in answers] == ["session", "once"] and len(user.asked) == 1
