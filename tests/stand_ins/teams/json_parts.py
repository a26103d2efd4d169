"""Parts of JSON, with their types stated: objects, lists of objects, and the texts that people read."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

# What a submission carries, and what clients show only in place of what they do not know.
_HIDDEN: Final = frozenset({"data", "fallback"})


def object_of(holder: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Returns the object of that name; an empty one where there is none."""
    return cast(dict[str, Any], holder.get(name) or {})


def objects_of(holder: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """Returns the objects in the list of that name; an empty list where there is none."""
    return cast(list[dict[str, Any]], holder.get(name) or [])


def objects_in(value: Any) -> Iterator[dict[str, Any]]:
    """Yield all objects that a person sees in the value, at any depth, including the value itself."""
    if isinstance(value, dict):
        mapping = cast(dict[str, Any], value)
        yield mapping
        for name, member in mapping.items():
            if name not in _HIDDEN:
                yield from objects_in(member)
    elif isinstance(value, list):
        for member in cast(list[Any], value):
            yield from objects_in(member)


def type_of(part: Mapping[str, Any]) -> str:
    """Returns the type of a part of a card; empty where it has none."""
    kind = part.get("type")
    return kind if isinstance(kind, str) else ""


def texts_in(card: Mapping[str, Any]) -> Iterator[str]:
    """Yield the texts of a card in the order in which a person reads them."""
    for part in objects_in(card):
        yield from (part[name] for name in ("text", "label", "title", "value") if _is_shown(part, name))


def _is_shown(part: Mapping[str, Any], name: str) -> bool:
    """Whether a person reads the property: of the values only those of a fact, which has a title and no type."""
    if not isinstance(part.get(name), str):
        return False
    return name != "value" or ("title" in part and "value" in part and "type" not in part and len(part) == 2)
