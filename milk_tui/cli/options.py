"""Options that every command takes, before or behind its name."""

from collections.abc import Callable
from typing import Any

import click

from milk_tui.cli.wish import Wish

Function = Callable[..., Any]


def common(function: Function) -> Function:
    """`--url`, `--model` and `--home`."""
    for option in (
        click.option("--home", metavar="DIR", help="Folder of settings and sessions (default ~/.milk)."),
        click.option("--model", metavar="NAME", help="Model to ask the server for."),
        click.option("--url", metavar="URL", help="Address of the local model's server: host:port or a URL."),
    ):
        function = option(function)
    return function


def choosing(function: Function) -> Function:
    """`-c` and `--session`."""
    for option in (
        click.option(
            "--session", metavar="ID", default="", help="Go on with this session (a prefix will do)."
        ),
        click.option(
            "-c", "--continue", "last", is_flag=True, help="Go on with this directory's last session."
        ),
    ):
        function = option(function)
    return function


def wish(context: click.Context, **given: Any) -> Wish:
    """What was said behind the command's name, else before it."""
    merged = {key: given.get(key) for key in ("url", "model", "home", "last", "session")}
    before = context.parent
    while before is not None:
        merged = {key: value or before.params.get(key) for key, value in merged.items()}
        before = before.parent
    return Wish(
        url=merged["url"],
        model=merged["model"],
        home=merged["home"],
        last=bool(merged["last"]),
        session=merged["session"] or "",
    )
