"""Numbers for narrow places."""


def short(number: int) -> str:
    """A number in at most five characters: 143, 4.2k, 12k, 412k, 1.2M."""
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if number >= size:
            value = number / size
            return f"{value:.1f}".removesuffix(".0") + unit if value < 100 else f"{value:.0f}{unit}"
    return str(number)


def duration(seconds: float) -> str:
    """A time as people say it, in whole seconds: 12 s, 1 min 15 s, 2 h 3 min."""
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3_600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3_600} h {whole % 3_600 // 60} min"
