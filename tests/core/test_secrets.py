"""What looks like a secret: found where it is, not where it is not, and never slowly."""

from itertools import pairwise

import pytest

from milk_tui.core.secrets import found, looks, masked
from tests.core.growth import grows_within

KEY = "sk-ant-api03-" + "aB3-" * 12
GITHUB = "ghp_" + "a1B2c3D4" * 5
USERS = "/Users"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N"
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA7bq+/=\nabcd\n-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"export KEY={KEY} # x", "export KEY=[masked: api key] # x"),
        (f"({GITHUB})", "([masked: api key])"),
        ("id AKIAIOSFODNN7EXAMPLE.", "id [masked: api key]."),
        (f"token {JWT}\n", "token [masked: token]\n"),
        ("Authorization: Bearer 9f8e7d6c5b4a39281706", "Authorization: Bearer [masked: token]"),
        (f"a\n{PEM}\nb", "a\n[masked: private key]\nb"),
        ('password = "hunter2-and-more"', 'password = "[masked: password]"'),
        ("DB_PASSWORD=hunter2andmore", "DB_PASSWORD=[masked: password]"),
        ('{"api_key": "0123456789abcdef"}', '{"api_key": "[masked: password]"}'),
        ("postgres://ann:s3cr3t@db:5432/x", "postgres://ann:[masked: password]@db:5432/x"),
        ("write to ann.lee@firm.co.uk, please", "write to [masked: e-mail address], please"),
        ("open /home/ana/shop/x.py:3", "open [masked: home path]/shop/x.py:3"),
        (r"C:\Users\ann\shop", r"[masked: home path]\shop"),
        (f"{USERS}/ana/x", "[masked: home path]/x"),
    ],
)
def test_a_secret_is_masked_and_what_surrounds_it_stays(text: str, expected: str) -> None:
    assert masked(text) == expected
    assert masked(expected) == expected, "masking twice is masking once"


@pytest.mark.parametrize(
    "code",
    [
        "password = get_password(user)",
        "password: str = ''",
        "def login(password: SecretStr) -> Token:",
        "token = tokens[position]; next_token = stream.read(access_token_url)",
        'API_KEY = os.environ["API_KEY"]',
        "api_key=settings.api_key,",
        "secret_key: ${SECRET_KEY}",
        'password = "your-password-here"',
        'password = "********"',
        "postgres://user:password@localhost/db",
        "@app.route('/x')\n@pytest.mark.asyncio\ndef test(): ...",
        "git clone git@github.com:ann/shop.git",
        "npm install react@18.2.0 vue@next",
        "someone@example.com and nobody@host.test",
        "a @ b.T",
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "uuid 11111111-2222-3333-4444-555555555555",
        "sk-learn, sk-image and task-123456",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "curl /home and /usr/home/x and ~/shop and $HOME/shop",
        "Bearer of bad news and authentication",
        "the line -----BEGIN PRIVATE KEY----- opens one",
        "https://host:8080/path@v2",
    ],
)
def test_ordinary_code_and_prose_hold_no_secret(code: str) -> None:
    assert [code[place.start : place.end] for place in found(code)] == []


def test_a_private_key_that_a_summary_cut_is_masked_to_where_it_was_cut() -> None:
    assert masked(f"{PEM[:60]}[120 characters left out]") == "[masked: private key][120 characters left out]"


def test_the_places_are_in_order_and_none_overlaps_another() -> None:
    text = f'password = "{KEY}" ann@firm.com {JWT} /home/ana/x ' * 5
    places = found(text)
    assert len(places) == 20
    assert all(before.end <= after.start for before, after in pairwise(places))
    assert all(0 <= place.start < place.end <= len(text) for place in places)


def test_they_are_counted_in_words() -> None:
    assert looks(1) == "1 thing looks like a secret" and looks(2) == "2 things look like secrets"


@pytest.mark.parametrize(
    "piece",
    [
        "a", "sk-", "password=", "password:    ", "a@", "x@a-.", "a.a.", "eyJaaaaaaaaaaa.", "a://a:", "Bearer ",
        "Bearer a1", "/home/", " ", "-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\nAAAA ", "a+://",
    ],
)  # fmt: skip
def test_twice_the_text_takes_about_twice_the_time_whatever_it_is(piece: str) -> None:
    short, long = (piece * (chars // len(piece)) for chars in (20_000, 80_000))
    # Quadratic work would be sixteen times as much for four times the text.
    assert grows_within(10, lambda: found(short), lambda: found(long))
