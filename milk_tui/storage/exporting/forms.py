"""The forms in which a session is exported: one table for the command line and for the chat."""

from collections.abc import Callable, Mapping
from typing import Literal, cast, get_args

from milk_tui.core.session import Session

Form = Literal["md", "json", "html"]
FORMS: tuple[Form, ...] = get_args(Form)


def exported(session: Session, form: Form) -> str:
    """A whole session in one of the forms."""
    return _writers()[form](session)


def form_of(name: str) -> Form:
    """The form that a file's name asks for; Markdown if it asks for none."""
    ending = name.rpartition(".")[2].lower() if "." in name else ""
    return cast(Form, {"htm": "html"}.get(ending, ending)) if ending in (*FORMS, "htm") else "md"


def _writers() -> Mapping[Form, Callable[[Session], str]]:
    from milk_tui.storage.exporting.as_html import as_html
    from milk_tui.storage.exporting.as_json import as_json
    from milk_tui.storage.exporting.as_markdown import as_markdown

    return {"md": as_markdown, "json": as_json, "html": as_html}
