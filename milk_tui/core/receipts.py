"""A receipt in words: the line that stays under an answer of Claude's, on the screen and in what is exported."""

from milk_tui.core.budget import estimated_tokens
from milk_tui.core.messages import Receipt


def receipt_line(receipt: Receipt) -> str:
    """What a hand-off carried and took, on one line."""
    usage = receipt.usage
    cached = f" ({usage.cached_tokens:,} from the cache)" if usage.cached_tokens else ""
    facts = [
        "In Claude Code's own screen" if receipt.in_own_screen else "",
        _handed_over(receipt) if receipt.has_handoff else "",
        f"{usage.input_tokens:,} tokens read{cached}, {usage.output_tokens:,} written",
        "cost unknown" if usage.cost_usd is None else f"${usage.cost_usd:.4f}",
        f"{receipt.seconds:.1f} s",
        "what looked like a secret was masked" if receipt.is_masked else "",
    ]
    return " · ".join(filter(None, facts))


def _handed_over(receipt: Receipt) -> str:
    how = "Resumed" if receipt.situation == "resume" else "First hand-off"
    instead = f", instead of {receipt.history_chars:,} of history"
    return (
        f"{how}: {receipt.chars:,} characters handed over, about {estimated_tokens(receipt.chars):,} tokens"
        f"{instead if receipt.history_chars > receipt.chars else ''}"
    )
