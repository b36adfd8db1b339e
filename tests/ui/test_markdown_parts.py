"""What can be taken out of a text: its code and its addresses."""

import pytest

from milk_tui.ui.markdown.parts import Code, addresses, code_blocks


def test_blocks_of_code_are_taken_out_as_they_were_written() -> None:
    source = (
        "    plain\n\n- item\n\n  ```python title=x\n  if x:\n  \ty = 1\n  ```\n\n~~~\n```\n~~~\n```sh\nopen"
    )

    assert code_blocks(source) == [
        Code("", "plain"),
        Code("python", "if x:\n\ty = 1"),
        Code("", "```"),
        Code("sh", "open"),
    ]


def test_addresses_are_found_in_links_and_in_plain_words() -> None:
    source = (
        "[a](http://a.example/ü?q=1) <https://b.example> https://c.example/x_(y), ![i](https://d.example/i.png)\n"
        "`https://e.example` **https://f.example**. mailto:me@g.example [again](http://a.example/ü?q=1)\n"
        "```\ncurl 'https://h.example/x'\n```"
    )

    assert addresses(source, is_markdown=True) == [
        "http://a.example/ü?q=1",
        "https://b.example",
        "https://c.example/x_(y)",
        "https://d.example/i.png",
        "https://e.example",
        "https://f.example",
        "mailto:me@g.example",
        "https://h.example/x",
    ]
    assert addresses("see (https://a.example/b).", is_markdown=False) == ["https://a.example/b"]


@pytest.mark.parametrize(
    "address",
    [
        "file:///etc/passwd",
        "javascript:alert(1)",
        "data:text/html,x",
        "//host/x",
        "-x http",
        "ssh://x",
        "https://a\u202eb",
    ],
)
def test_nothing_else_is_ever_offered(address: str) -> None:
    assert addresses(f"[x](<{address}>) {address}", is_markdown=True) in ([], ["https://a"])
