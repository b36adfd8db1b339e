"""What a turn of Claude's has cost so far, from the tokens of its steps and the published prices.

Claude Code says what a turn has cost when it is over; this is for the time before. What sub-agents and side requests
spend is not in it, and a model without a published price leaves it silent.
"""

from collections.abc import Iterator
from typing import Any

from milk_tui.core.events import CostEstimated
from milk_tui.core.messages import Usage
from milk_tui.core.prices import price_of


class Spending:
    """The steps of one turn. Each begins with what it reads and ends with what it has written."""

    def __init__(self) -> None:
        self._total = 0.0
        self._message: dict[str, Any] = {}

    def began(self, message: dict[str, Any]) -> None:
        """A step begins; one that broke before its end costs what it read, which is not known to be charged."""
        self._message = message

    def ended(self, usage: dict[str, Any]) -> Iterator[CostEstimated]:
        """A step is complete: what all of them cost, if the model has a price."""
        message, self._message = self._message, {}
        price = price_of(str(message.get("model") or ""))
        if price is None:
            return
        read = message.get("usage") or {}
        cached, written = _count(read, "cache_read_input_tokens"), _count(read, "cache_creation_input_tokens")
        long = min(_count(read.get("cache_creation") or {}, "ephemeral_1h_input_tokens"), written)
        tokens = Usage(
            input_tokens=_count(read, "input_tokens") + cached + written,
            cached_tokens=cached,
            output_tokens=_count(usage, "output_tokens"),
        )
        self._total += price.cost(tokens, written=written - long, written_long=long)
        yield CostEstimated(cost_usd=self._total)


def _count(data: dict[str, Any], name: str) -> int:
    value = data.get(name)
    return int(value) if isinstance(value, int | float) else 0
