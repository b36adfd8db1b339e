"""The user's own keys: which of the wishes in the settings can be granted, and why the others cannot.

A wish names a binding by its id and gives it other keys. What cannot be used loses only itself.
"""

from collections.abc import Iterable, Mapping, Sequence

from textual.binding import Binding, BindingType
from textual.keys import Keys

Places = Iterable[tuple[str, Sequence[BindingType]]]

_MODIFIERS = {"ctrl", "shift", "alt", "super"}
_NAMES = {key.value.rpartition("+")[2] for key in Keys}


def granted(wishes: Mapping[str, str], places: Places) -> tuple[dict[str, str], list[str]]:
    """The keymap to apply, and a sentence for each wish that cannot be granted.

    Args:
        wishes: Keys by binding id, several separated by commas.
        places: Where which keys work. In one place a key means one thing.
    """
    keymap: dict[str, str] = {}
    refused: list[str] = []
    known = [(place, [each for each in bindings if isinstance(each, Binding)]) for place, bindings in places]
    ids = {binding.id for _, bindings in known for binding in bindings}
    for name, keys in wishes.items():
        wanted = [key.strip() for key in keys.split(",") if key.strip()]
        if name not in ids:
            refused.append(f"There is no key with the id {name}; F1, then i shows the ids.")
        elif not wanted or not all(map(_is_key, wanted)):
            refused.append(f"“{keys}” for {name} is no key such as f3, ctrl+b or x; the usual one stays.")
        else:
            keymap[name] = ",".join(_canonical(keys))
    for place, bindings in known:
        refused += _clashes(place, bindings, keymap)
    return keymap, refused


def _clashes(place: str, bindings: Sequence[Binding], keymap: dict[str, str]) -> Iterable[str]:
    """Take out of the keymap what would give a key two meanings in one place."""
    owners = {
        key: each.id or "" for each in bindings if each.id not in keymap for key in _canonical(each.key)
    }
    for each in bindings:
        name = each.id or ""
        keys = keymap[name].split(",") if name in keymap else []
        taken = next((key for key in keys if owners.get(key, name) != name), None)
        if taken is not None:
            del keymap[name]
            yield f"{taken} for {name} is taken by {owners[taken]} ({place.lower()}); the usual key stays."
        else:
            owners.update(dict.fromkeys(keys, name))


def _canonical(keys: str) -> list[str]:
    """Keys as Textual names them: `?` is `question_mark`."""
    return [each.key for each in Binding.make_bindings([Binding(keys, "")])]


def _is_key(key: str) -> bool:
    *modifiers, last = key.split("+") if len(key) > 1 else [key]
    return (len(last) == 1 or last in _NAMES) and set(modifiers) <= _MODIFIERS
