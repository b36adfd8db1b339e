"""Other keys by the settings: what is granted, what is not, and that the granted ones work."""

from collections.abc import Mapping

import pytest
from textual.binding import Binding, BindingType

from milk_tui.ui.keymap import granted

CHAT: list[BindingType] = [
    Binding("f2", "bricks", id="chat.bricks"),
    Binding("ctrl+g,f8", "escalate", id="chat.escalate"),
    Binding("question_mark", "help", id="chat.help"),
]
NEED: list[BindingType] = [Binding("e", "edit", id="need.edit")]
PLACES = (("In the chat", CHAT), ("On the need", NEED))


@pytest.mark.parametrize(
    ("wishes", "keymap"),
    [
        ({"chat.bricks": "f3"}, {"chat.bricks": "f3"}),
        ({"chat.bricks": " f3 , ctrl+b "}, {"chat.bricks": "f3,ctrl+b"}),
        ({"need.edit": "?"}, {"need.edit": "question_mark"}),
        ({"need.edit": "+"}, {"need.edit": "plus"}),
        ({"chat.bricks": "f8", "chat.escalate": "f2"}, {"chat.bricks": "f8", "chat.escalate": "f2"}),
        ({"need.edit": "f2"}, {"need.edit": "f2"}),
    ],
)
def test_a_wish_for_free_keys_is_granted(wishes: Mapping[str, str], keymap: Mapping[str, str]) -> None:
    assert granted(wishes, PLACES) == (keymap, [])


@pytest.mark.parametrize(
    ("wishes", "word"),
    [
        ({"chat.nothing": "f3"}, "no key with the id chat.nothing"),
        ({"chat.bricks": "f99"}, "is no key"),
        ({"chat.bricks": "hyper+x"}, "is no key"),
        ({"chat.bricks": ""}, "is no key"),
        ({"chat.bricks": "ctrl+g"}, "taken by chat.escalate"),
        ({"chat.bricks": "?"}, "taken by chat.help"),
    ],
)
def test_a_wish_that_cannot_be_granted_loses_only_itself_and_says_why(
    wishes: Mapping[str, str], word: str
) -> None:
    keymap, refused = granted({**wishes, "need.edit": "x"}, PLACES)
    assert keymap == {"need.edit": "x"}
    assert len(refused) == 1 and word in refused[0]


def test_two_wishes_for_one_key_grant_the_first() -> None:
    keymap, refused = granted({"chat.bricks": "f3", "chat.escalate": "f3"}, PLACES)
    assert keymap == {"chat.bricks": "f3"} and "taken by chat.bricks" in refused[0]
