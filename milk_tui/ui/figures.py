"""Numbers for narrow places."""


def short(number: int) -> str:
    """A number in at most five characters: 143, 4.2k, 12k, 412k, 1.2M."""
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if number >= size:
            value = number / size
            return f"{value:.1f}".removesuffix(".0") + unit if value < 100 else f"{value:.0f}{unit}"
    return str(number)
