from hypothesis import given
from hypothesis import strategies as st

from milk_tui.core import events as ev
from milk_tui.core.errors import Failure
from milk_tui.core.messages import Turn
from milk_tui.core.open_turn import OpenTurn
from tests.core.building import NOW, use


def opened(prompt: str = "go") -> OpenTurn:
    return OpenTurn(1, ev.TurnStarted(agent="local", prompt=prompt, at=NOW))


def shape(turn: Turn) -> list[str]:
    """Role and text of each message, with its calls."""
    return [
        f"{m.role}:{m.text or (m.result.text if m.result else '')}" + "".join(f"[{c.name}]" for c in m.calls)
        for m in turn.messages
    ]


def test_fragments_become_one_message() -> None:
    turn = opened()
    for piece in ("Hel", "lo ", "there"):
        turn.add_text(piece)
    assert shape(turn.closed(NOW, None)) == ["user:go", "agent:Hello there"]


def test_the_order_of_text_calls_and_results_is_kept() -> None:
    turn = opened()
    read, grep = use("read", result="R"), use("grep", result="G")
    turn.add_text("First.")
    turn.add_call(read.call)
    turn.add_call(grep.call)
    turn.add_result(grep.result)
    turn.add_result(read.result)
    turn.add_text("Then.")
    closed = turn.closed(NOW, None)
    assert shape(closed) == ["user:go", "agent:First.[read][grep]", "tool:G", "tool:R", "agent:Then."]
    assert [m.id for m in closed.messages] == ["1.0", "1.1", "1.2", "1.3", "1.4"]


def test_text_after_a_call_begins_a_message() -> None:
    turn = opened()
    turn.add_call(use("read").call)
    turn.add_text("Meanwhile.")
    assert shape(turn.snapshot()) == ["user:go", "agent:[read]", "agent:Meanwhile."]


def test_a_snapshot_shows_the_unfinished_message_and_changes_nothing() -> None:
    turn = opened()
    turn.add_text("so far")
    assert turn.snapshot() == turn.snapshot() and turn.snapshot().status == "running"
    turn.add_text(" and on")
    assert turn.snapshot().answer == "so far and on"


def test_a_second_result_and_one_without_its_call_are_left_out() -> None:
    turn = opened()
    read = use("read", result="R")
    turn.add_result(read.result)
    turn.add_call(read.call)
    turn.add_result(read.result)
    turn.add_result(read.result.model_copy(update={"text": "again"}))
    assert shape(turn.closed(NOW, None)) == ["user:go", "agent:[read]", "tool:R"]


def test_every_call_has_exactly_one_result_when_the_turn_is_closed() -> None:
    turn = opened()
    calls = [use("read", result="R"), use("grep"), use("bash")]
    for used in calls:
        turn.add_call(used.call)
    turn.add_result(calls[0].result)
    results = [m.result for m in turn.closed(NOW, None).messages if m.result]
    assert [r.call_id for r in results] == [used.call.id for used in calls]
    assert [(r.text, r.is_error) for r in results[1:]] == [("Cancelled.", True)] * 2


def test_a_voided_step_said_again_leaves_the_exact_text() -> None:
    turn = opened()
    turn.begin_step()
    turn.add_text("Half an ans")
    turn.void()
    turn.add_text("Half an answer.")
    assert shape(turn.closed(NOW, None)) == ["user:go", "agent:Half an answer."]
    assert turn.chars == len("go") + len("Half an answer.")


def test_a_voided_step_takes_back_all_its_messages() -> None:
    turn = opened()
    turn.begin_step()
    turn.add_text("Before. ")
    turn.add_thinking("hm")
    turn.add_text("Between. ")
    turn.add_call(use("read").call)
    turn.add_text("After.")
    turn.void()
    assert shape(turn.snapshot()) == ["user:go"] and turn.chars == 2
    turn.add_text("Anew.")
    assert shape(turn.closed(NOW, None)) == ["user:go", "agent:Anew."]


def test_a_voided_step_leaves_earlier_steps_and_calls_that_have_run() -> None:
    turn = opened()
    turn.begin_step()
    turn.add_text("Step one.")
    turn.begin_step()
    ran, pending = use("bash", result="ran"), use("read")
    turn.add_call(ran.call)
    turn.add_result(ran.result)
    turn.add_call(pending.call)
    turn.void()
    assert shape(turn.closed(NOW, None)) == ["user:go", "agent:Step one.", "agent:[bash]", "tool:ran"]


def test_the_first_word_about_the_end_counts() -> None:
    failure = Failure(kind="died", sentence="Gone.")
    stopped = opened()
    stopped.end("interrupted")
    stopped.end("failed", failure)
    assert stopped.closed(NOW, None).status == "interrupted" and stopped.failure is None
    failed = opened()
    failed.end("failed", failure)
    failed.end("finished")
    assert failed.closed(NOW, None).status == "failed" and failed.failure == failure


def test_a_closed_turn_is_never_running() -> None:
    assert opened().closed(NOW, None).status == "interrupted"


Deed = tuple[str, str]


@given(st.lists(st.tuples(st.sampled_from(("say", "think", "call", "result", "step", "void")), st.text())))
def test_its_characters_are_those_of_its_messages_whatever_happens(deeds: list[Deed]) -> None:
    turn = opened()
    called = [use("read", {"p": str(n)}, "r" * n) for n in range(len(deeds))]
    for index, (deed, text) in enumerate(deeds):
        match deed:
            case "say":
                turn.add_text(text)
            case "think":
                turn.add_thinking(text)
            case "call":
                turn.add_call(called[index].call)
            case "result":
                turn.add_result(called[index // 2].result)
            case "step":
                turn.begin_step()
            case _:
                turn.void()
        assert turn.chars == sum(message.chars for message in turn.snapshot().messages)
    closed = turn.closed(NOW, None)
    assert [m.id for m in closed.messages] == [f"1.{n}" for n in range(len(closed.messages))]
    results = [m.result.call_id for m in closed.messages if m.result]
    assert sorted(results) == sorted(call.id for call in closed.calls)
