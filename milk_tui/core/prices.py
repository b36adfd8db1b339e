"""What Claude's models cost: the published prices, for estimates before and while something is spent.

What was spent is measured by Claude Code and never computed here. A model that is not in the table has no price: a
guess would be worse than none. Short names such as `opus` stand for whatever is newest and have none either.
"""

import re

from milk_tui.core.messages import Usage, Value

PRICES_OF = "2026-10-10"
"""The day on which the table was compared with the published prices."""

_MILLION = 1_000_000
_DATED = re.compile(r"-\d{8}$")


class Price(Value):
    """US dollars for a million tokens."""

    input: float
    output: float
    cache_read: float

    def cost(self, usage: Usage, written: int = 0, written_long: int = 0) -> float:
        """What tokens cost, in US dollars.

        Args:
            usage: the tokens.
            written: the part of the input that was put into the prompt cache for five minutes.
            written_long: the part that was put there for an hour.
        """
        # Writing to the cache costs a quarter more than reading afresh, for an hour twice as much.
        plain = usage.input_tokens - usage.cached_tokens + written / 4 + written_long
        read = usage.cached_tokens * self.cache_read
        return (plain * self.input + read + usage.output_tokens * self.output) / _MILLION


def _price(input: float, output: float, cache_read: float) -> Price:
    return Price(input=input, output=output, cache_read=cache_read)


_PRICES: dict[str, Price] = {
    "claude-fable-5-1": _price(10, 50, 0.25),
    "claude-fable-5": _price(10, 50, 1),
    "claude-opus-5-5": _price(4, 20, 0.2),
    "claude-opus-5": _price(5, 25, 0.5),
    "claude-opus-4-8": _price(5, 25, 0.5),
    "claude-opus-4-7": _price(5, 25, 0.5),
    "claude-opus-4-6": _price(5, 25, 0.5),
    "claude-opus-4-5": _price(5, 25, 0.5),
    "claude-opus-4-1": _price(15, 75, 1.5),
    "claude-sonnet-5-5": _price(2, 10, 0.1),
    "claude-sonnet-5": _price(2, 10, 0.2),
    "claude-sonnet-4-6": _price(3, 15, 0.3),
    "claude-sonnet-4-5": _price(3, 15, 0.3),
    "claude-haiku-4-5": _price(1, 5, 0.1),
}
"""Models with one price whatever the length of the request; one with several has none here."""


def price_of(model: str) -> Price | None:
    """The price of a model by its full name, with or without the date of its version; `None` if it is not known."""
    return _PRICES.get(_DATED.sub("", model))


def cost_to_send(model: str, tokens: int) -> float | None:
    """What it costs to have so many tokens read once, uncached, in US dollars; `None` if nobody knows."""
    price = price_of(model)
    return None if price is None else price.cost(Usage(input_tokens=tokens))


def dollars(amount: float) -> str:
    """An amount as it is shown: whole cents, and more places where it is less than ten cents' worth."""
    if 0 < amount < 0.0001:
        return "under $0.0001"
    return f"${amount:,.4f}" if 0 < amount < 0.1 else f"${amount:,.2f}"
