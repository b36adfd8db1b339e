"""A file named in a prompt: `@path`, with quotation marks where the path has spaces. It is text like any other."""


def as_mention(path: str) -> str:
    """A path as it stands in a prompt."""
    return f'@"{path}"' if any(character.isspace() for character in path) else f"@{path}"
