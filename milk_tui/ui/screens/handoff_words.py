"""What the preview says about a hand-off in words: what kind it is, how large, what it costs and what is left out."""

from collections.abc import Iterator

from milk_tui.conversation.forecast import Forecast, with_reason
from milk_tui.core.budget import estimated_tokens
from milk_tui.core.handoff import Handoff, Part
from milk_tui.core.prices import dollars
from milk_tui.core.versions import difference
from milk_tui.ui.widgets.differing import counted

_HOW = {
    "first": "Starts a Claude session, which knows nothing but this.",
    "agent": "Starts a Claude session, as the local agent asks.",
    "resume": "Resumes Claude's session with what is new since its last turn.",
}
_BY_CHOICE = {
    "first": "The new session knows nothing but this; the old one stays until this has begun.",
    "agent": "As the local agent asks; the old session stays until this has begun.",
    "resume": "It is told only what it does not know yet.",
}


def as_sent(handoff: Handoff) -> list[Part]:
    """The parts in the order in which they leave: first the standing ones, which stay in the prompt cache."""
    return sorted(handoff.parts, key=lambda part: part.text not in handoff.standing)


def price(forecast: Forecast) -> str:
    """What it costs to have it read, as far as that is known."""
    cost = forecast.cost_usd
    return "price unknown" if cost is None else f"about {dollars(cost)} to send (input only)"


def facts(forecast: Forecast) -> Iterator[str]:
    """What kind of hand-off it is, its size, and what is not in it."""
    handoff = forecast.handoff
    route = forecast.route
    if route is not None and route.has_choice:
        yield f"{route.words[:1].upper()}{route.words[1:]}. {_BY_CHOICE[handoff.situation]}"
    else:
        yield _HOW[handoff.situation]
    size = f"{handoff.chars:,} characters, about {estimated_tokens(handoff.chars):,} tokens"
    is_smaller = handoff.history_chars > handoff.chars
    yield f"{size}, instead of {handoff.history_chars:,} of history" if is_smaller else size
    if forecast.handed_turn:
        yield f"Since the last hand-off (turn {forecast.handed_turn}): {_since(forecast)} · F6 shows them"
    if forecast.left_out:
        yield f"Left out: {'; '.join(forecast.left_out)}"
    if forecast.reason and handoff.situation == "resume":
        yield f"Added to the prompt: {with_reason('', forecast.reason).strip()}"


def _since(forecast: Forecast) -> str:
    """How many lines came and went since the last hand-off."""
    before = {part.name: part.text for part in forecast.handed}
    now = {part.name: part.body for part in forecast.handoff.parts if part.body}
    found = [difference(before.get(name, ""), now.get(name, "")) for name in {*before, *now}]
    return counted([row for rows in found for row in rows])


def flip_hint(forecast: Forecast) -> str:
    """The key that starts it the other way; empty if there is no choice."""
    if forecast.route is None or not forecast.route.has_choice:
        return ""
    return "Ctrl+R resumes" if forecast.route.is_fresh else "Ctrl+R starts fresh"
