"""Which records of a Claude Code session are the conversation as it stands.

Every record names the one before it. Going back to an earlier prompt makes a branch, and the last record's is the one
that Claude Code shows. Calls made in parallel make branches too, and those belong together. Nothing here knows what
is in a record beyond how it hangs together with others.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from milk_tui.storage.importing.fields import object_in, objects_in, text_in

_KINDS = {"user", "assistant", "attachment", "system", "progress"}


@dataclass(frozen=True, slots=True)
class Node:
    """A record's place in the file and in the conversation."""

    name: str
    place: int
    parent: str
    """The record before it; a summary of the conversation begins anew, but says what it followed."""
    is_message: bool
    is_aside: bool
    """Whether it is a sub-agent's, a team mate's, or Claude Code's own word to Claude, such as a summary."""
    message: str = ""
    """The message that it is a part of."""
    calls: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    """Calls whose results are in it."""


Nodes = dict[str, Node]


def node_of(record: dict[str, Any], place: int) -> Node | None:
    """The record's node; None for one that is no part of any conversation."""
    kind, name = record.get("type"), text_in(record, "uuid")
    if kind not in _KINDS or not name:
        return None
    message = object_in(record, "message")
    blocks = objects_in(message, "content")
    return Node(
        name=name,
        place=place,
        parent=text_in(record, "parentUuid") or text_in(record, "logicalParentUuid"),
        is_message=kind in ("user", "assistant"),
        is_aside=is_of_sub_agent(record) or bool(record.get("isMeta") or record.get("isCompactSummary")),
        message=text_in(message, "id") if kind == "assistant" else "",
        calls=_ids(blocks, "tool_use", "id") if kind == "assistant" else (),
        answers=_ids(blocks, "tool_result", "tool_use_id") if kind == "user" else (),
    )


def is_of_sub_agent(record: dict[str, Any]) -> bool:
    """Whether a record is of somebody's conversation with Claude who is not the user."""
    return bool(record.get("isSidechain") or record.get("teamName"))


def branch(nodes: Nodes) -> list[Node]:
    """The records that the conversation consists of, in order."""
    leaf = _leaf(nodes)
    if leaf is None:
        return []
    chain = list(_upwards(nodes, leaf))[::-1]
    beside = _parallel(nodes, chain)
    return [node for link in chain for node in (link, *beside.get(link.name, ()))]


def _leaf(nodes: Nodes) -> Node | None:
    """The last message of the newest branch."""
    parents = {node.parent for node in nodes.values()}
    ends = (node for node in nodes.values() if node.name not in parents)
    leaves = [leaf for end in ends for leaf in _first_message(_upwards(nodes, end))]
    own = [leaf for leaf in leaves if not leaf.is_aside]
    return max(own, key=lambda leaf: leaf.place, default=None)


def _upwards(nodes: Nodes, start: Node) -> Iterator[Node]:
    """The node, the one before it, and so on; a circle is gone round once."""
    seen: set[str] = set()
    node: Node | None = start
    while node is not None and node.name not in seen:
        seen.add(node.name)
        yield node
        node = nodes.get(node.parent)


def _first_message(nodes: Iterable[Node]) -> Iterator[Node]:
    for node in nodes:
        if node.is_message:
            yield node
            return


def _parallel(nodes: Nodes, chain: list[Node]) -> dict[str, list[Node]]:
    """What the chain's messages called and got beside the chain, by the node that it belongs behind."""
    on_chain = {node.name for node in chain}
    last = {node.message: node.name for node in chain if node.message}
    answered = {call for node in chain for call in node.answers}
    caller = {
        call: last[node.message]
        for node in nodes.values()
        if node.message in last and not node.is_aside
        for call in node.calls
    }
    calls: defaultdict[str, list[Node]] = defaultdict(list)
    results: defaultdict[str, list[Node]] = defaultdict(list)
    for node in nodes.values():
        if node.name in on_chain or node.is_aside:
            continue
        if node.message in last:
            calls[last[node.message]].append(node)
        callers = [caller[call] for call in node.answers if call in caller and call not in answered]
        if callers:
            results[callers[0]].append(node)
    return {name: calls[name] + results[name] for name in {*calls, *results}}


def _ids(blocks: list[dict[str, Any]], kind: str, key: str) -> tuple[str, ...]:
    return tuple(text_in(block, key) for block in blocks if block.get("type") == kind)
