"""What Claude's models cost, and that nobody guesses."""

import pytest

from milk_tui.core.messages import Usage
from milk_tui.core.prices import cost_to_send, dollars, price_of


def test_a_model_is_found_with_and_without_its_date() -> None:
    assert price_of("claude-sonnet-4-5-20250929") == price_of("claude-sonnet-4-5") != None  # noqa: E711
    assert price_of("claude-opus-5-5") != price_of("claude-opus-5")


@pytest.mark.parametrize(
    "model", ["", "opus", "claude-sonnet-4-5[1m]", "claude-opus-9", "gpt", "claude-opus-5-5-x"]
)
def test_an_unknown_model_has_no_price(model: str) -> None:
    assert price_of(model) is None and cost_to_send(model, 1_000) is None


def test_sending_costs_the_price_of_input() -> None:
    assert cost_to_send("claude-opus-5-5", 5_000) == pytest.approx(0.02)


def test_the_cache_is_cheap_to_read_and_dearer_to_write() -> None:
    price = price_of("claude-opus-4-5")
    assert price is not None
    million = Usage(input_tokens=1_000_000)
    assert price.cost(million) == pytest.approx(5.0)
    assert price.cost(million, written=1_000_000) == pytest.approx(6.25)
    assert price.cost(million, written_long=1_000_000) == pytest.approx(10.0)
    assert price.cost(Usage(input_tokens=1_000_000, cached_tokens=1_000_000)) == pytest.approx(0.5)
    assert price.cost(Usage(output_tokens=1_000_000)) == pytest.approx(25.0)


@pytest.mark.parametrize(
    ("amount", "words"),
    [(0, "$0.00"), (0.00001, "under $0.0001"), (0.0123, "$0.0123"), (0.5, "$0.50"), (1234.567, "$1,234.57")],
)
def test_small_amounts_are_not_rounded_to_nothing(amount: float, words: str) -> None:
    assert dollars(amount) == words
