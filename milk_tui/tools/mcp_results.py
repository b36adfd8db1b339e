"""What an MCP server gave back, as plain text for a model.

Text stays, everything else is named: a picture is no use to a model that reads text. It imports the MCP package, so
import it late.
"""

import json

from mcp.types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from milk_tui.core.cut import cut_middle, one_line
from milk_tui.core.text import sanitize

RESULT_LIMIT = 1_000_000
"""Characters of one result that are looked at; how many of them a model reads is decided elsewhere."""
_NAME_LIMIT = 200


def result_text(result: CallToolResult) -> str:
    """The result as text; its structured form only where there is no other."""
    parts = [_block(block) for block in result.content]
    if result.structured_content is not None and not any(isinstance(b, TextContent) for b in result.content):
        parts.append(json.dumps(result.structured_content, ensure_ascii=False, indent=2))
    text = sanitize(cut_middle("\n".join(part for part in parts if part), RESULT_LIMIT))
    return text or "The tool gave nothing back."


def _block(block: ContentBlock) -> str:
    match block:
        case TextContent():
            return block.text
        case ImageContent() | AudioContent():
            return f"[{block.type}: {_name(block.mime_type)}, {_size(block.data)}]"
        case ResourceLink():
            return f"[resource: {_name(block.name)}, {_name(block.uri)}]"
        case EmbeddedResource():
            return _resource(block.resource)


def _resource(resource: TextResourceContents | BlobResourceContents) -> str:
    if isinstance(resource, TextResourceContents):
        return f"[resource: {_name(resource.uri)}]\n{resource.text}"
    kind = resource.mime_type or "unknown kind"
    return f"[resource: {_name(resource.uri)}, {_name(kind)}, {_size(resource.blob)}]"


def _name(text: str) -> str:
    return one_line(text, _NAME_LIMIT)


def _size(base64: str) -> str:
    return f"{len(base64) * 3 // 4 - base64[-2:].count('='):,} bytes"
