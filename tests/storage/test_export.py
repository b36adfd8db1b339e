"""What is exported is complete, can be read whatever was said, and as JSON comes back as it was."""

import json
import re
from contextlib import closing
from datetime import timedelta
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from milk_tui.core import events as ev
from milk_tui.core.errors import Failure
from milk_tui.core.messages import Receipt, ToolCall, ToolResult, Usage
from milk_tui.core.session import Session
from milk_tui.storage.exporting.forms import FORMS, Form, exported, form_of
from milk_tui.storage.importing.importer import Imported, Importer
from milk_tui.storage.session_store import SessionStore
from tests.storage.stored_sessions import EPOCH, begin, end, new_session, say, use_tool

OPEN_ENDED = [
    "```python\nprint('never closed')",
    "~~~~\nnever closed",
    "<!-- never closed",
    "<script>never closed",
    "<div>\n\n# inside\n",
    "<details><summary>x</summary>",
    "- a list\n\n      with code",
    "> a quote",
    "| a | b |\n| - | - |\n| 1 | 2 |",
    "\\",
    "`one tick",
    "    code",
    "text\n===",
    "# A heading\n\n## Turn 9 · never",
]


def everything() -> Session:
    """A session in which all has happened that can be exported."""
    session = new_session("0b8e2a5e-1111-4222-8333-444455556666")
    begin(session, "Why does *it* fail?\n# not a heading")
    session.apply(ev.AgentReady(model="small", window=8_192))
    session.apply(ev.ThinkingDelta(text="a thought"))
    session.apply(ev.TextDelta(text="I look. 日本語 `code`"))
    use_tool(session, "c1")
    session.apply(ev.ToolCallStarted(call=ToolCall(id="c2", name="run", arguments='{"command": "make"}')))
    session.apply(ev.ToolCallFinished(result=ToolResult(call_id="c2", text="boom ``` boom", is_error=True)))
    session.apply(ev.NeedChanged(text="Find the <fault>"))
    session.apply(ev.PerceptRecorded(text="The fault is & remains"))
    session.apply(ev.UsageReported(usage=Usage(input_tokens=1_200, output_tokens=34)))
    end(session)
    session.apply(ev.FloorChanged(floor="claude"))
    begin(session, "Mend it.", "claude")
    session.apply(ev.AgentReady(model="opus", session_id="claude-1"))
    use_tool(session, "c3")
    session.apply(ev.TextDelta(text="Mended."))
    session.apply(ev.UsageReported(usage=Usage(input_tokens=9, output_tokens=8, cost_usd=0.25)))
    session.apply(ev.AgentFinished())
    receipt = Receipt(situation="first", chars=900, history_chars=5_000, seconds=1.5)
    session.apply(ev.TurnEnded(at=EPOCH + timedelta(minutes=3), receipt=receipt))
    session.apply(ev.FloorChanged(floor="local"))
    begin(session, "And now?")
    session.apply(
        ev.AgentFailed(failure=Failure(kind="lost", sentence="The stream ended.", remedy="Send it again."))
    )
    session.apply(ev.TurnEnded(at=EPOCH + timedelta(minutes=4)))
    begin(session, "Once more")
    session.apply(ev.TextDelta(text="So f"))
    session.apply(ev.TurnInterrupted(at=EPOCH + timedelta(minutes=5)))
    session.apply(ev.TurnEnded(at=EPOCH + timedelta(minutes=5)))
    return session


def taken(home: Path, path: Path) -> Imported:
    with closing(Importer(home)) as importer:
        return importer.take(path)


def stored(home: Path, name: str) -> Session:
    with closing(SessionStore(home)) as store:
        return store.load(name)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "said",
    [
        "Why does",
        "a thought",
        "日本語",
        "read",
        "contents",
        "make",
        "boom",
        "fault",
        "remains",
        "opus",
        "Mended",
        "900",
        "The stream ended",
        "Once more",
        "So f",
    ],
)
def test_all_that_was_said_and_done_is_in_every_form(form: Form, said: str) -> None:
    assert said in exported(everything(), form)


@pytest.mark.parametrize("form", ["md", "html"])
def test_receipts_money_and_bricks_are_told_in_words(form: Form) -> None:
    text = exported(everything(), form).replace("\\", "")
    for words in (
        "characters handed over",
        "$0.2500",
        "said by the local agent",
        "Local summary",
        "Claude summary",
    ):
        assert words in text


def test_json_comes_back_equal(tmp_path: Path) -> None:
    before = everything()
    path = tmp_path / "any name.json"
    path.write_text(exported(before, "json"), encoding="utf-8")
    report = taken(tmp_path, path)
    assert (report.outcome, report.turns, report.left_out) == ("taken", 4, {})
    after = stored(tmp_path, before.state.id)
    assert after.state == before.state
    assert after.turns == before.turns
    assert after.percepts == before.percepts
    assert after.title == report.title == before.title
    assert after.bricks() == before.bricks()
    for name in ("current_need", "local_summary", "claude_summary"):
        assert after.versions.of(name) == before.versions.of(name) != ()
    assert exported(after, "json") == exported(before, "json")
    assert taken(tmp_path, path).outcome == "unchanged"


def test_a_session_that_was_gone_on_with_is_not_overwritten_by_its_export(tmp_path: Path) -> None:
    session = everything()
    path = tmp_path / "export.json"
    path.write_text(exported(session, "json"), encoding="utf-8")
    say(session, "Later", "Yes.")
    with closing(SessionStore(tmp_path)) as store:
        store.save(session)
    assert taken(tmp_path, path).outcome == "unchanged"
    assert len(stored(tmp_path, session.state.id).turns) == 5


def test_an_export_of_a_running_turn_comes_back_interrupted(tmp_path: Path) -> None:
    session = new_session()
    begin(session, "Look")
    use_tool(session, "c1", answered=False)
    path = tmp_path / "export.json"
    path.write_text(exported(session, "json"), encoding="utf-8")
    taken(tmp_path, path)
    (turn,) = stored(tmp_path, "session-1").turns
    assert turn.status == "interrupted"
    assert [m.result.call_id for m in turn.messages if m.result] == ["c1"]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda text: text.replace('"schema": 1', '"schema": 2'), "newer milk-tui"),
        (lambda text: text[:-20], "damaged"),
        (lambda text: text.replace('"nonce"', '"nonsense"'), "nonce"),
    ],
)
def test_an_export_that_cannot_be_read_is_told_in_a_sentence(
    tmp_path: Path, change: object, why: str
) -> None:
    assert callable(change)
    path = tmp_path / "export.json"
    path.write_text(change(exported(everything(), "json")), encoding="utf-8")
    report = taken(tmp_path, path)
    assert report.outcome == "skipped" and why in report.why


def test_what_is_no_text_in_an_export_becomes_harmless_and_a_damaged_turn_loses_only_itself(
    tmp_path: Path,
) -> None:
    fields = json.loads(exported(everything(), "json"))
    fields["turns"][0]["messages"][0]["text"] = "red \x1b[31malert\x07"
    fields["turns"][1]["status"] = "nonsense"
    fields["percepts"].append({"text": "\x1b]0;title\x07fact"})
    path = tmp_path / "export.json"
    path.write_text(json.dumps(fields), encoding="utf-8")
    report = taken(tmp_path, path)
    assert report.left_out == {"damaged turns": 1}
    session = stored(tmp_path, report.session)
    assert session.turns[0].prompt == "red alert"
    assert [turn.number for turn in session.turns] == [1, 3, 4]
    assert session.percepts[-1].text == "fact"


def test_a_folder_is_searched_for_exports_too(tmp_path: Path) -> None:
    from milk_tui.storage.importing.searching import search

    folder = tmp_path / "exports"
    folder.mkdir()
    (folder / "mine.json").write_text(exported(everything(), "json"), encoding="utf-8")
    (folder / "package.json").write_text('{"format": "another"}', encoding="utf-8")
    assert [path.name for path in search([folder]).files] == ["mine.json"]


@pytest.mark.parametrize("answer", OPEN_ENDED)
def test_markdown_keeps_its_structure_whatever_an_answer_leaves_open(answer: str) -> None:
    session = new_session()
    say(session, answer, answer)
    say(session, "Second", "Last words")
    tokens = MarkdownIt("commonmark").enable("table").parse(exported(session, "md"))
    headings = [
        after.content
        for token, after in pairwise(tokens)
        if token.type == "heading_open"
        and token.tag == "h2"
        and token.level == 0
        and after.content.startswith("Turn ")
        and "never" not in after.content
    ]
    assert [heading.split(" · ")[0] for heading in headings] == ["Turn 1", "Turn 2"]
    top = [
        after.content
        for token, after in pairwise(tokens)
        if token.type == "paragraph_open" and token.level == 0
    ]
    assert "Last words" in top


@pytest.mark.parametrize(
    "prompt",
    [
        "*a* _b_ `c` [d](e) <f> #g",
        "# a\n- b\n+ c\n1. d\n2) e\n===\n---\n> f",
        "a\n\nb\\",
        "- [ ] a | b",
        "    code\n```x\ny",
        "&amp; ~~s~~ $x$ !",
    ],
)
def test_a_prompt_is_read_in_markdown_as_it_was_written(prompt: str) -> None:
    session = new_session()
    say(session, prompt, "Yes.")
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(exported(session, "md"))
    you = next(i for i, token in enumerate(tokens) if token.content == "**You**")
    read: list[str] = []
    for token in tokens[you + 1 :]:
        if token.content.startswith("**Local"):
            break
        if token.type == "fence":
            read.append(token.content)
        read += [
            {"softbreak": "\n", "hardbreak": "\n"}.get(child.type, child.content)
            for child in token.children or ()
        ]
    assert re.sub(r"\s+", "", "".join(read)) == re.sub(r"\s+", "", prompt)


class Page(HTMLParser):
    """What a browser would make of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [
            value or "" for name, value in attributes if name in ("src", "href", "srcset", "action")
        ]
        assert not [name for name, _ in attributes if name.startswith("on")]

    def handle_data(self, data: str) -> None:
        self.words.append(data)


@pytest.mark.parametrize(
    "said",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "![a picture](http://tracker.example/x.png)",
        "[a link](javascript:alert(1))",
        "</pre></details><style>*{}</style>",
        '"><svg onload=alert(1)>',
    ],
)
def test_the_html_page_runs_and_loads_nothing_whatever_was_said(said: str) -> None:
    session = new_session()
    begin(session, said)
    session.apply(ev.TextDelta(text=said))
    session.apply(ev.ToolCallStarted(call=ToolCall(id="c", name=said, arguments=json.dumps({"x": said}))))
    session.apply(ev.ToolCallFinished(result=ToolResult(call_id="c", text=said)))
    session.apply(ev.NeedEdited(text=said))
    session.apply(ev.PerceptRecorded(text=said))
    end(session)
    page = Page(exported(session, "html"))
    assert page.tags.count("style") == 1
    assert not {"script", "img", "svg", "link", "iframe", "object", "form"} & set(page.tags)
    assert not [link for link in page.links if not link.startswith("http:")]
    assert "".join(page.words).count(said) >= 4


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("a.md", "md"),
        ("a.HTML", "html"),
        ("a.htm", "html"),
        ("b.json", "json"),
        ("notes", "md"),
        ("json", "md"),
    ],
)
def test_a_files_name_says_its_form(name: str, form: Form) -> None:
    assert form_of(name) == form
