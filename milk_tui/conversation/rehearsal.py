"""A rehearsal: the local model alone reads what would be handed over, and says what is unclear in it.

Nothing of it becomes part of the session: no turn, no brick, nothing that either agent is told later.
"""

from milk_tui.agents.base import TurnRequest
from milk_tui.conversation.forecast import Forecast
from milk_tui.conversation.incoming import DEFAULT_WINDOW
from milk_tui.core.cut import cut_middle
from milk_tui.core.handoff import fenced
from milk_tui.core.session import Session

_TASK = (
    "Another agent is about to get the text below and nothing else: no earlier conversation, no explanation. "
    "Do not do its task. Say in at most five short lines what that agent will not understand or has to ask: "
    "names that are not explained, files that are not named, a goal that is not clear. "
    "If everything is clear, say so in one line."
)


def payload(forecast: Forecast) -> str:
    """Everything that would be handed over, as one text: hand-off, then prompt."""
    handoff = forecast.handoff
    prompt = f"\n## The prompt\n{forecast.prompt}\n" if forecast.prompt else ""
    return f"{handoff.standing}{handoff.changing}{prompt}"


def rehearsal(session: Session, forecast: Forecast, window: int | None) -> TurnRequest:
    """What the local model is asked. Only what may change is shown to it, cut to about half of its window."""
    text = f"{forecast.handoff.changing}\n{forecast.prompt}"
    room = (window or DEFAULT_WINDOW) * 2
    shown = fenced("What would be handed over", "payload", cut_middle(text, room), session.state.nonce)
    return TurnRequest(
        prompt=f"{_TASK}\n{shown}",
        cwd=session.state.cwd,
        nonce=session.state.nonce,
        is_bare=True,
    )
