"""One open session takes another one's place, and what is done with the others is done to them and to nothing else."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from milk_tui.core.errors import MilkError
from milk_tui.storage.locks import SessionLock, held_elsewhere
from milk_tui.storage.search.words import Query
from tests.conversation.lending import Lending, lending
from tests.conversation.talking import all_of

HOLDER = (
    "import sys, pathlib\n"
    "from milk_tui.storage.locks import SessionLock\n"
    "lock = SessionLock(pathlib.Path(sys.argv[1]), sys.argv[2])\n"
    "lock.take()\n"
    "print('taken', flush=True)\n"
    "sys.stdin.read()\n"
)


@pytest.fixture
async def lent(tmp_path: Path) -> AsyncIterator[Lending]:
    async with lending(tmp_path) as lent:
        yield lent


async def titles(lent: Lending) -> list[str]:
    return [each.entry.title for each in await lent.library.listed()]


async def test_another_session_takes_the_place_of_the_open_one_which_is_saved_and_free(lent: Lending) -> None:
    lent.keep("other", ("Another matter", "Yes."))
    first = lent.begin()
    await all_of(first.conversation.send("What is it?"))
    name = first.conversation.session.state.id
    with pytest.raises(MilkError, match="another window"):
        SessionLock(lent.home, name).take()

    after = await lent.library.reopened("other")
    assert after.conversation.session.turns[0].prompt == "Another matter"
    await lent.library.exchange(after)
    assert [agent.closed for agent in lent.agents[1]] == [1, 1], "its agents have ended"
    assert [turn.prompt for turn in lent.stored(name).turns] == ["What is it?"]
    with SessionLock(lent.home, name) as lock:
        assert lock.is_taken, "its lock is given back"
    with pytest.raises(MilkError, match="another window"):
        SessionLock(lent.home, "other").take()
    assert {each.entry.id: each.is_open_here for each in await lent.library.listed()} == {
        "other": True,
        name: False,
    }


async def test_going_back_at_once_waits_until_the_session_before_is_closed(lent: Lending) -> None:
    lent.keep("other", ("Another matter", "Yes."))
    first = lent.begin()
    await all_of(first.conversation.send("What is it?"))
    name = first.conversation.session.state.id
    leaving = asyncio.create_task(lent.library.exchange(await lent.library.reopened("other")))
    await asyncio.sleep(0)
    leaving.cancel()
    back = await lent.library.reopened(name)
    assert lent.agents[1][0].closed == 1, "nobody waited for it, and it was closed all the same"
    await lent.library.exchange(back)


async def test_a_new_session_is_in_the_same_directory_and_the_old_one_stays(lent: Lending) -> None:
    first = lent.begin("/usr")
    await all_of(first.conversation.send("Old"))
    after = await lent.library.begun("/usr")
    await lent.library.exchange(after)
    state = after.conversation.session.state
    assert (state.cwd, after.conversation.session.turns) == ("/usr", [])
    assert await titles(lent) == ["Old"], "nothing is written for the new one yet"


async def test_a_session_open_in_another_window_is_said_to_be_and_is_not_opened(lent: Lending) -> None:
    lent.keep("taken", ("Mine", "Yes."))
    lent.keep("free", ("Yours", "Yes."))
    child = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(lent.home), "taken"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdin is not None and child.stdout is not None
    with child.stdin, child.stdout:
        assert child.stdout.readline() == "taken\n"
        listed = {each.entry.id: each for each in await lent.library.listed()}
        assert (listed["taken"].is_open_elsewhere, listed["taken"].owner) == (True, child.pid)
        assert not listed["free"].is_open_elsewhere
        for refused in (
            lent.library.reopened("taken"),
            lent.library.rename("taken", "x"),
            lent.library.delete("taken"),
        ):
            with pytest.raises(MilkError, match=f"another window .process {child.pid}"):
                await refused
        child.kill()
        child.wait(timeout=30)
    assert held_elsewhere(lent.home) == {}, "a killed program holds nothing"
    assert await titles(lent) == ["Yours", "Mine"]


async def test_a_title_is_the_users_until_it_is_taken_away(lent: Lending) -> None:
    lent.keep("a", ("First words", "Yes."))
    lent.keep("b", ("Other words", "Yes."))
    await lent.library.rename("a", "My \x1b[31mname\n")
    assert await titles(lent) == ["Other words", "My name"], "renaming is not using"
    assert lent.stored("a").title == "My name"
    await lent.library.rename("a", "")
    assert await titles(lent) == ["Other words", "First words"]


async def test_the_open_session_can_be_renamed_too(lent: Lending) -> None:
    bench = lent.begin()
    name = bench.conversation.session.state.id
    await all_of(bench.conversation.send("First words"))
    await lent.library.rename(name, "My name")
    assert bench.conversation.session.title == lent.stored(name).title == "My name"


async def test_a_deleted_session_can_be_taken_back_until_the_end_and_is_gone_then(lent: Lending) -> None:
    for name in ("a", "b", "c"):
        lent.keep(name, (f"Prompt of {name}", "needle"))
    for folder in ("before", "results"):
        (lent.home / folder / "a").mkdir(parents=True)
    await lent.library.catch_up(lambda _: None)
    await lent.library.delete("a")
    await lent.library.delete("b")
    assert await titles(lent) == ["Prompt of c"]
    assert {hit.session for hit in (await lent.library.search(Query("needle"), 9)).hits} == {"c"}
    assert lent.library.take_back() == "b"
    assert await titles(lent) == ["Prompt of c", "Prompt of b"]
    assert lent.stored("a").turns, "it is still there"

    await lent.library.close()
    with pytest.raises(MilkError, match="no session a"):
        lent.stored("a")
    assert not (lent.home / "before" / "a").exists() and not (lent.home / "results" / "a").exists()
    assert lent.stored("b").turns and lent.stored("c").turns
    assert lent.library.take_back() is None
    assert b"Prompt of a" not in (lent.home / "sessions.db").read_bytes()


async def test_the_open_session_cannot_be_deleted(lent: Lending) -> None:
    bench = lent.begin()
    await all_of(bench.conversation.send("Keep me"))
    with pytest.raises(MilkError, match="open here"):
        await lent.library.delete(bench.conversation.session.state.id)
    assert await titles(lent) == ["Keep me"]


async def test_a_fork_of_the_open_session_goes_its_own_way(lent: Lending) -> None:
    bench = lent.begin()
    talk = bench.conversation
    for prompt in ("one", "two"):
        await all_of(talk.send(prompt))
    name = await lent.library.forked(talk.session.state.id, 1)
    copy = await lent.library.reopened(name)
    await lent.library.exchange(copy)
    await all_of(copy.conversation.send("another way"))
    assert [turn.prompt for turn in lent.stored(name).turns] == ["one", "another way"]
    assert [turn.prompt for turn in lent.stored(talk.session.state.id).turns] == ["one", "two"]
    origin = lent.stored(name).state.origin
    assert origin is not None and (origin.session, origin.turn) == (talk.session.state.id, 1)


async def test_nothing_cannot_be_forked(lent: Lending) -> None:
    bench = lent.begin()
    with pytest.raises(MilkError, match="nothing to fork"):
        await lent.library.forked(bench.conversation.session.state.id)


async def test_a_stored_session_is_exported_without_being_opened(lent: Lending, tmp_path: Path) -> None:
    lent.keep("a", ("What is it?", "**This**."))
    path, text = await lent.library.export("a", "it.html", str(tmp_path))
    assert path == tmp_path / "it.html" and path.read_text() == text
    assert "<strong>This</strong>" in text
    with pytest.raises(MilkError, match="already"):
        await lent.library.export("a", "it.html", str(tmp_path))
