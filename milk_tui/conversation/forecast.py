"""What a hand-off made now would send: the forecast that the preview shows."""

from milk_tui.core.bricks import Brick
from milk_tui.core.budget import estimated_tokens
from milk_tui.core.handoff import Handoff
from milk_tui.core.messages import Value
from milk_tui.core.prices import cost_to_send
from milk_tui.core.route import Route
from milk_tui.core.secrets import masked
from milk_tui.core.session import Session
from milk_tui.core.state import Handed


class Forecast(Value):
    """Everything that the hand-off preview shows: exactly what would be sent, and what would not."""

    handoff: Handoff
    prompt: str
    """The prompt to send with it: the unsent one, or one made from the need."""
    reason: str = ""
    """Why the local agent asks; empty when the user does."""
    left_out: tuple[str, ...] = ()
    """In words, what the bricks had no room for."""
    model: str = ""
    """The model that is expected to read it; empty if nobody knows."""
    route: Route | None = None
    """How it reaches Claude; `None` where that is not known."""
    handed: tuple[Handed, ...] = ()
    """What the last hand-off that succeeded told, part by part."""
    handed_turn: int = 0
    """The turn of that one; 0 if there was none."""

    @property
    def tokens(self) -> int:
        """Estimated tokens of hand-off and prompt."""
        return estimated_tokens(self.handoff.chars + len(self.prompt))

    @property
    def cost_usd(self) -> float | None:
        """What it costs to have them read, without what Claude Code adds and answers; `None` if nobody knows."""
        return cost_to_send(self.model, self.tokens)


def forecast(
    session: Session,
    unsent: str,
    reason: str,
    fresh: bool | None = None,
    *,
    model: str = "",
    is_masked: bool = False,
) -> Forecast:
    """What a hand-off made now would send; `fresh` is the user's own choice of how it starts."""
    route = session.route(fresh)
    situation = route.situation(reason)
    prompt = (unsent.strip() and unsent) or _composed(session)
    return Forecast(
        handoff=session.handoff(situation, reason, is_masked),
        prompt=masked(prompt) if is_masked else prompt,
        reason=masked(reason) if is_masked else reason,
        model=model,
        route=route,
        left_out=tuple(_left_out(session.summary_for(situation))),
        handed=session.state.handed,
        handed_turn=session.state.handed_turn,
    )


def with_reason(prompt: str, reason: str) -> str:
    """On a resume the local agent's reason goes into the prompt, for the standing part must not change."""
    return f"{prompt}\n\n(The local model asks for you: {reason})" if reason else prompt


def _composed(session: Session) -> str:
    last = next((turn.prompt for turn in reversed(session.turns[-8:]) if turn.agent == "local"), "")
    if last:
        return last
    return f"Please take over: {session.state.need}" if session.state.need else ""


def _left_out(brick: Brick) -> list[str]:
    lines = []
    if brick.dropped:
        noun = "exchange" if brick.dropped == 1 else "exchanges"
        lines.append(f"{brick.dropped:,} older {noun} did not fit in the local summary")
    if brick.collapsed:
        noun = "call" if brick.collapsed == 1 else "calls"
        lines.append(f"{brick.collapsed:,} tool {noun} folded into the first of their kind")
    return lines
