"""What the user is told beside an answer: what was cut, by whom, and what to do about it.

Sentences and nothing else; it decides nothing.
"""

from milk_tui.agents.server.completion import Completion
from milk_tui.agents.server.facts import ServerKind
from milk_tui.agents.server.tool_text import ToolForm

_LARGER: dict[ServerKind, str] = {
    "ollama": "Set `window` to more tokens; if that changes nothing, the model takes no more or memory is short.",
    "llama.cpp": "Start llama-server with a larger -c (and fewer -np, for they share it).",
    "openai": "Give the server a larger window: OLLAMA_CONTEXT_LENGTH for Ollama, -c for llama.cpp.",
}


def cut_by_server(url: str, kind: ServerKind, counted: int, expected: int) -> str:
    """The server has read less than was sent."""
    return (
        f"{url} counted {counted:,} tokens of a request of about {expected:,}: it seems to have cut the beginning, "
        f"instructions included. {_LARGER[kind]}"
    )


def left_out(turns: int, window: int) -> str:
    """Earlier turns were not sent."""
    start = "1 earlier turn was" if turns == 1 else f"{turns:,} earlier turns were"
    return f"{start} not sent: the model's window of {window:,} tokens holds no more."


def shortened(results: int, window: int) -> str:
    """Results of the present turn were shortened."""
    start = "1 tool result of this turn was" if results == 1 else f"{results} tool results of this turn were"
    return f"{start} shortened for the model: its window of {window:,} tokens holds no more."


def tools_refused(url: str, form: ToolForm) -> str:
    """The server took no tools, and what is done from now on."""
    then = "they are described to the model in words" if form == "text" else "none are offered"
    return f"{url} takes no tools with a request, so {then} from now on."


def of_answer(completion: Completion, answer_tokens: int) -> list[str]:
    """What is odd about an answer."""
    remarks: list[str] = []
    if completion.unreadable:
        lines = "1 line" if completion.unreadable == 1 else f"{completion.unreadable} lines"
        remarks.append(f"{lines} of the server's answer could not be read and may be missing from it.")
    if completion.finish_reason == "length":
        remarks.append(
            f"The answer was cut: it reached {answer_tokens:,} tokens (max_tokens) or the window's end."
        )
    if not completion.text.strip() and not completion.drafts:
        remarks.append(
            "The model thought and gave no answer." if completion.has_thought else "The model said nothing."
        )
    return remarks
