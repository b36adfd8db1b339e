"""Sessions to store, made by events as the program makes them."""

from datetime import UTC, datetime, timedelta

from milk_tui.core import events as ev
from milk_tui.core.messages import AgentRole, Message, ToolCall, ToolResult, Turn
from milk_tui.core.session import Session, SessionState

EPOCH = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def new_session(name: str = "session-1", cwd: str = "/tmp") -> Session:
    return Session(SessionState(id=name, cwd=cwd, nonce="cafe", created_at=EPOCH))


def begin(session: Session, prompt: str = "hello", agent: AgentRole = "local") -> None:
    session.apply(
        ev.TurnStarted(agent=agent, prompt=prompt, at=EPOCH + timedelta(minutes=len(session.turns)))
    )


def end(session: Session) -> None:
    session.apply(ev.AgentFinished())
    session.apply(ev.TurnEnded(at=EPOCH + timedelta(minutes=len(session.turns), seconds=30)))


def say(session: Session, prompt: str, answer: str, agent: AgentRole = "local") -> None:
    begin(session, prompt, agent)
    session.apply(ev.TextDelta(text=answer))
    end(session)


def use_tool(session: Session, call_id: str, *, answered: bool = True) -> None:
    session.apply(ev.ToolCallStarted(call=ToolCall(id=call_id, name="read", arguments='{"path": "a"}')))
    if answered:
        session.apply(ev.ToolCallFinished(result=ToolResult(call_id=call_id, text="contents")))


def long_session(turns: int, name: str = "session-1", cwd: str = "/tmp") -> Session:
    """A session of many turns, built without playing every event."""
    made = [
        Turn(
            number=number,
            agent="local",
            status="finished",
            started_at=EPOCH,
            ended_at=EPOCH,
            messages=(
                Message(id=f"{number}.0", role="user", text=f"question {number}"),
                Message(id=f"{number}.1", role="agent", text=f"answer {number} " * 10),
            ),
        )
        for number in range(1, turns + 1)
    ]
    return Session(SessionState(id=name, cwd=cwd, nonce="cafe", created_at=EPOCH), made)
