"""What is said in the transcript of events that are no part of an answer. It knows no block's place."""

from milk_tui.agents.server.loops import LOOP, STEPS
from milk_tui.core import events as ev
from milk_tui.core.messages import AgentRole
from milk_tui.ui.widgets.blocks import Kind

_FLOOR: dict[AgentRole, str] = {
    "claude": "Claude has the floor: your prompts go to Claude until you press F9.",
    "local": "The local agent has the floor.",
}


def remark(event: ev.Event) -> tuple[Kind, str] | None:
    """What is said of an event that is not part of the answer; nothing of one that shows elsewhere."""
    match event:
        case ev.NeedChanged():
            return "notice", f"Need: {event.text}"
        case ev.PerceptRecorded():
            return "percept", f"Remembered: {event.text}"
        case ev.EscalationRequested():
            return "notice", f"The local agent asks for Claude: {event.reason}"
        case ev.RetryScheduled():
            when = f"attempt {event.attempt} of {event.of} in {event.delay:.0f} s"
            return "notice", f"{event.reason}; {when}"
        case ev.Noticed():
            return "notice", event.text
        case ev.AgentFailed():
            return "failure", str(event.failure)
        case ev.TurnInterrupted():
            return "notice", "Stopped."
        case ev.FloorChanged():
            return "notice", _FLOOR[event.floor]
        case ev.AgentFinished() if event.stop_reason in (LOOP, STEPS):
            return "notice", "Send anything to let it go on; Ctrl+G hands over to Claude."
        case _:
            return None
