"""The entry point: reads the command line and starts what it asks for.

Every error that the user can do something about ends here as one sentence on stderr. Heavy imports wait inside the
commands, so that `--help` and `--version` answer at once.
"""

import io
import sys
from typing import Any

import click

from milk_tui.cli.options import choosing, common, wish


class Sentences(click.Group):
    """A command group whose errors are sentences."""

    def invoke(self, context: click.Context) -> Any:
        """Run the command. A `MilkError` is shown as what it says."""
        from milk_tui.cli.saying import say
        from milk_tui.core.errors import MilkError

        try:
            return super().invoke(context)
        except MilkError as error:
            say(str(error))
            context.exit(1)
        finally:
            # A reader that has gone is noticed here, where Click ends quietly, and not while Python shuts down.
            print(end="", flush=True)


@click.group(
    cls=Sentences, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(package_name="milk-tui", prog_name="milk-tui")
@choosing
@click.option(
    "--demo", is_flag=True, help="Show the whole program with scripted agents; nothing is needed or kept."
)
@click.option("--plain", is_flag=True, help="Chat line by line, as a screen reader can follow it.")
@common
@click.pass_context
def cli(context: click.Context, /, demo: bool, plain: bool, **given: Any) -> None:
    """Chat with your local model; hand the hard tasks to Claude Code with a bounded context.

    Without a command the chat opens. Settings are read from ~/.milk/tui.json, ~/.milk/config.json, MILK_* variables
    and these options.
    """
    if context.invoked_subcommand is None and plain:
        from milk_tui.cli.plain.chat import run_plain

        context.exit(run_plain(wish(context, **given)))
    elif context.invoked_subcommand is None:
        from milk_tui.cli.screen import run_demo, run_screen

        context.exit(run_demo() if demo else run_screen(wish(context, **given)))


@cli.command()
@click.argument("text")
@click.option("--escalate", is_flag=True, help="Hand the text to Claude Code with the session's bricks.")
@click.option("--json", "as_json", is_flag=True, help="Print one event a line instead of the answer.")
@choosing
@common
@click.pass_context
def ask(context: click.Context, /, text: str, escalate: bool, as_json: bool, **given: Any) -> None:
    """Ask once and print the answer; TEXT `-` reads it from standard input.

    Nothing but the answer goes to standard output. Exit status 0 means that the turn finished. Nobody is there to
    answer Claude's permission questions, so they are answered with no.
    """
    from milk_tui.cli.ask import run_ask

    prompt = _typed() if text == "-" else text
    if not prompt.strip():
        raise click.UsageError("There is nothing to ask: the text is empty.", context)
    context.exit(run_ask(wish(context, **given), prompt, escalate=escalate, as_json=as_json))


@cli.command(name="context")
@click.argument("session_id", metavar="[SESSION]", default="")
@click.option("--situation", type=click.Choice(["first", "agent", "resume"]), default=None)
@click.option("--reason", default="", help="Why the local agent would ask for Claude.")
@click.option("--mask", is_flag=True, help="Mask what looks like a secret.")
@click.option("--json", "as_json", is_flag=True, help="Print parts and sizes as JSON.")
@common
@click.pass_context
def show_context(
    context: click.Context,
    /,
    session_id: str,
    situation: str | None,
    reason: str,
    mask: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Print exactly what would be handed over to Claude Code now.

    SESSION is the beginning of an id; without it, this directory's last session.
    """
    from milk_tui.cli.context import run_context

    run_context(wish(context, **given), session_id, situation, reason, is_masked=mask, as_json=as_json)


@cli.group(invoke_without_command=True)
@click.option("--here", is_flag=True, help="Only those of this directory.")
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON.")
@common
@click.pass_context
def sessions(context: click.Context, /, here: bool, as_json: bool, **given: Any) -> None:
    """List the sessions, last used first; search, export or import them."""
    if context.invoked_subcommand is None:
        from milk_tui.cli.sessions import run_sessions

        run_sessions(wish(context, **given), only_here=here, as_json=as_json)


@sessions.command()
@click.argument("words", nargs=-1, required=True, metavar="WORDS...")
@click.option("--here", is_flag=True, help="Only in the sessions of this directory.")
@click.option(
    "--limit", type=click.IntRange(1, 1_000), default=20, show_default=True, help="The most messages."
)
@click.option("--json", "as_json", is_flag=True, help="Print the messages as JSON.")
@common
@click.pass_context
def search(
    context: click.Context, /, words: tuple[str, ...], here: bool, limit: int, as_json: bool, **given: Any
) -> None:
    """Find messages in which all WORDS stand, the newest first.

    A word is found by its beginning, whatever its case and accents; Chinese, Japanese, Korean and Thai also in the
    middle. Words in double quotes stand next to each other. Exit status 1 means that nothing was found.
    """
    from milk_tui.cli.searching import run_search

    is_json = as_json or bool(context.parent and context.parent.params.get("as_json"))
    only_here = here or bool(context.parent and context.parent.params.get("here"))
    found = run_search(wish(context, **given), " ".join(words), limit, only_here=only_here, as_json=is_json)
    context.exit(0 if found else 1)


@sessions.command()
@click.argument("session_id", metavar="SESSION")
@click.option(
    "--format",
    "form",
    type=click.Choice(["md", "json", "html"]),
    default=None,
    help="The form: Markdown, unless --output is named otherwise.",
)
@click.option(
    "-o", "--output", metavar="FILE", default="", help="Write to a new file instead of standard output."
)
@common
@click.pass_context
def export(context: click.Context, /, session_id: str, form: str | None, output: str, **given: Any) -> None:
    """Print a whole session: what was said, tool calls, bricks and receipts.

    SESSION is the beginning of an id. JSON can be taken over again with `milk-tui sessions import`.
    """
    from milk_tui.cli.exporting import run_export

    run_export(wish(context, **given), session_id, form, output)


@sessions.command(name="import")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--json", "as_json", is_flag=True, help="Print what became of each file as JSON.")
@common
@click.pass_context
def import_sessions(context: click.Context, /, files: tuple[str, ...], as_json: bool, **given: Any) -> None:
    """Take over sessions of Claude Code and of the Go program, and our own exports.

    FILE is a session (~/.claude/projects/*/<uuid>.jsonl, ~/.milk/sessions/<uuid>.json, or what `sessions export
    --format json` wrote) or a folder, which is searched. The files are only read. Taking a session twice is taking it
    once; one that has grown since is taken anew, unless you have gone on with it here. Exit status 1 means that no
    session could be taken.
    """
    from milk_tui.cli.importing import run_import

    is_json = as_json or bool(context.parent and context.parent.params.get("as_json"))
    context.exit(run_import(wish(context, **given), files, as_json=is_json))


@cli.command(context_settings={"ignore_unknown_options": True})
@click.option("--host", default="127.0.0.1", show_default=True, help="Address of this machine to listen on.")
@click.option(
    "--port", default=8000, show_default=True, type=click.IntRange(1, 65535), help="Port to listen on."
)
@click.argument("chat", nargs=-1, type=click.UNPROCESSED, metavar="[CHAT OPTIONS]...")
def serve(host: str, port: int, chat: tuple[str, ...]) -> None:
    """Open the chat in a browser; options that are not known here are the chat's.

    Whoever can open the address that is printed can do with this machine what you can. It listens on this machine
    alone unless --host says otherwise.
    """
    try:
        from milk_tui.cli.serving import run_serve
    except ModuleNotFoundError as error:
        raise click.ClickException(
            f"The web server is not installed ({error.name} is missing): pip install 'milk-tui[serve]'."
        ) from error
    run_serve(host, port, chat)


@cli.command()
@click.option("--json", "as_json", is_flag=True, help="Print the checks as JSON.")
@common
@click.pass_context
def doctor(context: click.Context, /, as_json: bool, **given: Any) -> None:
    """Check server, model, window, Claude Code and its login, settings and terminal.

    Exit status 1 means that chatting or handing over cannot work yet.
    """
    from milk_tui.cli.doctor import run_doctor

    context.exit(run_doctor(wish(context, **given), as_json=as_json))


@cli.command()
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
@common
@click.pass_context
def usage(context: click.Context, /, as_json: bool, **given: Any) -> None:
    """Add up what was spent: tokens and money by day, by session and by model."""
    from milk_tui.cli.usage import run_usage

    run_usage(wish(context, **given), as_json=as_json)


@cli.group()
def model() -> None:
    """The built-in model."""


@model.command()
@common
@click.pass_context
def pull(context: click.Context, /, **given: Any) -> None:
    """Fetch the built-in model's weights (98 MB), checked and moved into place as a whole."""
    from milk_tui.cli.model import run_pull

    run_pull(wish(context, **given))


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        # A model may say what the terminal's encoding cannot: that is no reason to lose the rest of it.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    cli()


def _typed() -> str:
    """Everything on standard input. The line end that a shell puts behind it is not part of it."""
    raw = sys.stdin.buffer.read() if sys.stdin else b""
    return raw.decode("utf-8", "replace").rstrip("\r\n")
