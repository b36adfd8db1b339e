"""A receipt in words: the line that stays under an answer of Claude's, on the screen and in what is exported."""

from milk_tui.core.budget import estimated_tokens
from milk_tui.core.messages import Receipt


def receipt_line(receipt: Receipt) -> str:
    """What a hand-off carried and took, on one line."""
    usage = receipt.usage
    cost = "cost unknown" if usage.cost_usd is None else f"${usage.cost_usd:.4f}"
    cached = f" ({usage.cached_tokens:,} from the cache)" if usage.cached_tokens else ""
    instead = f", instead of {receipt.history_chars:,} of history"
    masked = " · what looked like a secret was masked" if receipt.is_masked else ""
    how = "Resumed" if receipt.situation == "resume" else "First hand-off"
    return (
        f"{how}: {receipt.chars:,} characters handed over, about {estimated_tokens(receipt.chars):,} tokens"
        f"{instead if receipt.history_chars > receipt.chars else ''} · "
        f"{usage.input_tokens:,} tokens read{cached}, {usage.output_tokens:,} written · "
        f"{cost} · {receipt.seconds:.1f} s{masked}"
    )
