"""The table of all tools. A new one is an annotated function and a row here."""

import os
from collections.abc import Mapping

from milk_tui.tools.base import Tool
from milk_tui.tools.changing import edit_file, write_file
from milk_tui.tools.reading import list_dir, read_file
from milk_tui.tools.searching import find_files, grep
from milk_tui.tools.shell import run_command
from milk_tui.tools.web import http_get

_ROWS = (
    Tool(read_file, "read"),
    Tool(list_dir, "read"),
    Tool(find_files, "read"),
    Tool(grep, "read"),
    Tool(write_file, "write"),
    Tool(edit_file, "write"),
    Tool(run_command, "run"),
    Tool(http_get, "network"),
)

TOOLS: Mapping[str, Tool] = {
    # A group of processes that ends as one, and a child without a terminal, need a POSIX system.
    tool.name: tool
    for tool in _ROWS
    if tool.effect != "run" or os.name == "posix"
}
