"""The models that a server offers, with what it says of each.

Reads the answers that `milk_tui.agents.server.probe` collects, trusts no field of them, and guesses nothing: what a
server does not say stays open. Asks nobody.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from milk_tui.agents.server.facts import ModelFacts

MODEL_LIMIT = 500
"""Models of one server that are listed."""
_WORD_LIMIT = 40

Fields = Mapping[str, Any]


def catalogue(listed: Fields, tags: Fields, studio: Fields) -> tuple[ModelFacts, ...]:
    """The models, in the server's order.

    Args:
        listed: the answer of `/v1/models`, as llama.cpp, vLLM and all others give it.
        tags: that of Ollama's `/api/tags`; empty where there is none.
        studio: that of LM Studio's `/api/v0/models`; empty where there is none.
    """
    if isinstance(tags.get("models"), list):
        return _models(tags["models"], "name", _ollama)
    if isinstance(studio.get("data"), list):
        chats = (entry for entry in _entries(studio["data"]) if entry.get("type") != "embeddings")
        return _models(chats, "id", _lm_studio)
    return _models(listed.get("data"), "id", _plain)


def _models(entries: object, key: str, facts: Callable[[str, Fields], ModelFacts]) -> tuple[ModelFacts, ...]:
    found: dict[str, ModelFacts] = {}
    for entry in _entries(entries):
        name = entry.get(key)
        if isinstance(name, str) and name and len(found) < MODEL_LIMIT:
            found.setdefault(name, facts(name, entry))
    return tuple(found.values())


def _ollama(name: str, entry: Fields) -> ModelFacts:
    details = _fields(entry.get("details"))
    return ModelFacts(
        name=name,
        parameters=_word(details.get("parameter_size")),
        size=_whole(entry.get("size")),
        quantization=_word(details.get("quantization_level")),
        supports_tools=_has(entry.get("capabilities"), "tools"),
    )


def _lm_studio(name: str, entry: Fields) -> ModelFacts:
    return ModelFacts(
        name=name,
        quantization=_word(entry.get("quantization")),
        window=_whole(entry.get("loaded_context_length")) or _whole(entry.get("max_context_length")),
        supports_tools=_has(entry.get("capabilities"), "tool_use"),
    )


def _plain(name: str, entry: Fields) -> ModelFacts:
    """llama.cpp says more in `meta`, vLLM its window; others only the name."""
    meta = _fields(entry.get("meta"))
    count = _whole(meta.get("n_params"))
    return ModelFacts(
        name=name,
        parameters=_billions(count) if count else "",
        size=_whole(meta.get("size")),
        window=_whole(entry.get("max_model_len")) or _whole(meta.get("n_ctx")),
    )


def _billions(count: int) -> str:
    return f"{count / 1e9:.1f}B" if count >= 1e9 else f"{count / 1e6:.0f}M"


def _has(capabilities: object, name: str) -> bool | None:
    return name in capabilities if isinstance(capabilities, list) else None


def _word(value: object) -> str:
    """A short printable text; empty for anything else."""
    fits = isinstance(value, str) and len(value) <= _WORD_LIMIT and value.isprintable()
    return str(value) if fits and value != "unknown" else ""


def _entries(value: object) -> Iterable[Fields]:
    return (entry for entry in value if isinstance(entry, dict)) if isinstance(value, Iterable) else ()


def _fields(value: object) -> Fields:
    return value if isinstance(value, dict) else {}


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
