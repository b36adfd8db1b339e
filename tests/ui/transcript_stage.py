"""A stage for the transcript: an app that shows nothing else, and ways to look at what it shows."""

from pathlib import Path

from textual.app import App, ComposeResult
from textual.geometry import Offset
from textual.pilot import Pilot
from textual.selection import Selection

from milk_tui.ui.widgets.blocks import Block
from milk_tui.ui.widgets.excerpt import pack
from milk_tui.ui.widgets.stack import Spot
from milk_tui.ui.widgets.transcript import Transcript

STYLES = Path(__file__).parents[2] / "styles"

ANSWER = """Some *text* that is long enough to be wrapped over more than one row of a narrow window, as it is.

- one
- two

```python
x = 1
y = 2
```

| a | b |
|---|---|
| 1 | 2 |

End"""


class Stage(App[None]):
    CSS_PATH = STYLES / "transcript.tcss"

    def __init__(self, *blocks: Block) -> None:
        super().__init__()
        self.starting = blocks
        self.copied: list[str] = []
        self.follows: list[bool] = []

    def compose(self) -> ComposeResult:
        yield Transcript(self.starting)

    @property
    def transcript(self) -> Transcript:
        return self.query_one(Transcript)

    def on_transcript_copy_requested(self, message: Transcript.CopyRequested) -> None:
        self.copied.append(message.text)

    def on_transcript_wanted(self, message: Transcript.Wanted) -> None:
        self.copied.append(message.block.copied)

    def on_transcript_follow_changed(self, message: Transcript.FollowChanged) -> None:
        self.follows.append(message.following)


def messages(count: int) -> list[Block]:
    return [
        Block(f"m{n}", "local", f"{n}\n\n{ANSWER}", label="model")
        if n % 2
        else Block(f"m{n}", "user", f"{n}\n\n{ANSWER}")
        for n in range(count)
    ]


def screen(transcript: Transcript) -> list[str]:
    return [transcript.render_line(y).text.rstrip() for y in range(transcript.size.height)]


async def until_shown(pilot: Pilot[None], text: str) -> list[str]:
    transcript = pilot.app.query_one(Transcript)
    for _ in range(200):
        shown = screen(transcript)
        if text in "\n".join(shown):
            return shown
        await pilot.pause(0.01)
    raise AssertionError(f"{text!r} was not shown in {shown}")


def everything(app: Stage) -> Selection:
    return Selection(Offset(0, 0), Offset(0, pack(Spot(len(app.transcript.blocks)))))
