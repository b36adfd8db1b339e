"""Markdown to draw: every construct in one document, its lines for making others, and ways to draw them."""

from hypothesis import strategies as st

from milk_tui.ui.markdown.pieces import Piece, split
from milk_tui.ui.markdown.render import render_markdown
from milk_tui.ui.markdown.rows import Row

DOCUMENT = """# Heading

Some *text* with **bold**, `code`, ~~old~~ and a [link](http://x.y/z).
Its second line.

Setext
======
- one
- two
  - nested
    more

  para in item
* other list

3. three
1. four

   ```js
   let x = 1
   ```
5. five

> quote
lazy
> more **text**

```python
def f(x):
    '''doc
    string'''

    return x
```
| a | b |
|---|--:|
| 1 | `2` | 3 |
| long cell **text** | 漢字 |
after
- [ ] todo
- [x] done

    indented code

---
<div>hello</div>
Last line"""

LINES = [
    *DOCUMENT.split("\n"),
    "",
    "",
    "```",
    "~~~",
    "   ```py",
    "text",
    "  text",
    "===",
    "---",
    "|-|-|",
    "- b | c",
    "#",
    "#foo",
    "1.",
    "* * *",
    "-",
    "> ",
    ">> x",
    "\tx",
    "\\[ a_b",
    "'''",
    "漢字 👩‍👩‍👧 e\u0301 ﷽",
]


def drawn(pieces: list[Piece], source: str, width: int) -> list[Row]:
    ends = [piece.start for piece in pieces[1:]] + [len(source)]
    return [
        row._replace(line=0)
        for piece, end in zip(pieces, ends, strict=True)
        for row in render_markdown(source[piece.start : end], piece.context, width)
    ]


def picture(source: str, width: int = 60) -> str:
    return "\n".join(row.text.rstrip() for row in drawn(split(source, Piece(0)), source, width))


documents = st.lists(st.sampled_from(LINES), max_size=40).map("\n".join)
texts = st.one_of(
    st.text(max_size=200),
    st.text(alphabet="ab 漢字👩\u200d\ufe0f👧❤\u0301\t\u200bאב-*_`|>#\n[]()", max_size=200),
    documents,
)


WORDS = [
    *(
        "plain",
        "naïve",
        "Ελληνικά",
        "Привет",
        "漢字",
        "ｶﾀｶﾅ",
        "한국어",
        "\u1112\u1161\u11ab",
        "e\u0301",
        "Z\u0338\u0322a\u0336",
    ),
    *("שָׁלוֹם", "مُحَمَّد", "می\u200cخواهم", "ﷺ", "﷽", "हिन्दी", "क्षत्रिय", "தமிழ்", "বাংলা", "తెలుగు", "മലയാളം"),
    *(
        "မြန်မာ",
        "ខ្មែរ",
        "ภาษาไทยที่",
        "ພາສາ",
        "བོད་",
        "සිංහල",
        "𝕏",
        "½",
        "…",
        "→",
        "│",
        "\u200b",
        "\xad",
        "\u2060",
    ),
    *(
        "👩\u200d👩\u200d👧",
        "❤\ufe0f",
        "❤",
        "☀\ufe0e",
        "1\ufe0f\u20e3",
        "🇩🇪",
        "🇩",
        "👍🏽",
        "🏽",
        "🏳\ufe0f\u200d🌈",
        "™\ufe0f",
    ),
    *(
        "\t",
        "\t\t",
        " ",
        "\n",
        "\n\n",
        "\n- ",
        "\n> ",
        "\n| ",
        " | ",
        "\n|---|---|\n",
        "`",
        "**",
        "\n```\n",
        "\n# ",
    ),
    "w" * 400,
    "漢" * 200,
    "हि" * 150,
]
mixed = st.lists(st.sampled_from(WORDS), max_size=40).map("".join)
