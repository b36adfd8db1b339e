"""What happens in a turn, as lines that make sense when they are read aloud in order."""

from milk_tui.cli.answer import AnswerText
from milk_tui.core import events as ev
from milk_tui.core.cut import one_line
from milk_tui.core.messages import AgentRole
from milk_tui.core.receipts import receipt_line
from milk_tui.core.text import sanitize

WHO: dict[AgentRole, str] = {"local": "Local agent", "claude": "Claude"}

_FLOOR: dict[AgentRole, str] = {
    "claude": "Your lines go to Claude; /local ends that.",
    "local": "Your lines go to the local agent.",
}
_ARGUMENTS = 200
"""Characters of a call's arguments that are read out."""


def tell(text: str) -> None:
    """Print something that is not part of an answer."""
    print(sanitize(text), flush=True)


class Telling:
    """Tells turns, one after the other."""

    def __init__(self) -> None:
        self._answer = AnswerText()
        self._agent: AgentRole = "local"
        self._is_speaking = False
        self._calls: dict[str, str] = {}

    def show(self, event: ev.Event) -> None:
        """Tell one event."""
        match event:
            case ev.TurnStarted():
                self._agent = event.agent
            case ev.TextDelta():
                self._speak(event.text)
            case ev.StepStarted():
                self._answer.part()
            case ev.TurnEnded():
                self._pause()
                if event.receipt is not None:
                    tell(receipt_line(event.receipt))
            case _:
                words = self._words(event)
                if words:
                    self._pause()
                    tell(words)

    def _speak(self, text: str) -> None:
        if not self._is_speaking:
            print(f"{WHO[self._agent]}:", flush=True)
            self._is_speaking = True
        self._answer.text(text)

    def _pause(self) -> None:
        self._answer.end()
        self._is_speaking = False

    def _words(self, event: ev.Event) -> str:
        match event:
            case ev.ToolCallStarted(call=call):
                self._calls[call.id] = call.name
                return f"{WHO[self._agent]} uses {call.name} {one_line(call.arguments, _ARGUMENTS)}"
            case ev.ToolCallFinished(result=result):
                first = one_line(result.text, _ARGUMENTS) or "nothing to say"
                return f"{self._calls.pop(result.call_id, 'It')} {'failed' if result.is_error else 'is done'}: {first}"
            case ev.NeedChanged() | ev.PerceptRecorded() | ev.EscalationRequested():
                return _of_bricks(event)
            case ev.StepVoided():
                return "The agent starts its answer again."
            case ev.RetryScheduled():
                return f"{event.reason}; attempt {event.attempt} of {event.of} in {event.delay:.0f} s"
            case ev.Silent():
                return f"Nothing has come for {event.seconds:.0f} s. Ctrl+C stops the turn."
            case ev.Noticed():
                return event.text
            case ev.AgentFailed():
                return str(event.failure)
            case ev.TurnInterrupted():
                return "Stopped."
            case ev.FloorChanged():
                return _FLOOR[event.floor]
        return ""


def _of_bricks(event: ev.NeedChanged | ev.PerceptRecorded | ev.EscalationRequested) -> str:
    match event:
        case ev.NeedChanged():
            return f"Need: {event.text}"
        case ev.PerceptRecorded():
            return f"Remembered: {event.text}"
        case ev.EscalationRequested():
            return (
                f"The local agent asks for Claude: {event.reason} /escalate shows what would be handed over."
            )
