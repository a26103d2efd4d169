"""Finds what the strict mode of OpenAI's API refuses in a JSON schema.

https://platform.openai.com/docs/guides/structured-outputs#supported-schemas; `oneOf`, `default`, and keywords beside
`$ref` are refused in practice too (the `openai` package rewrites schemas for that reason, in `lib/_pydantic.py`).
"""

from collections.abc import Iterator
from typing import Any as Json
from typing import cast

_REFUSED_KEYWORDS = (
    "allOf",
    "default",
    "dependentRequired",
    "dependentSchemas",
    "discriminator",
    "else",
    "if",
    "not",
    "oneOf",
    "patternProperties",
    "then",
    "uniqueItems",
)
_TYPE_GIVERS = ("type", "$ref", "anyOf", "enum", "const")
_MAX_PROPERTIES = 5000
_MAX_DEPTH = 10
_MAX_ENUM_VALUES = 1000


def find_refused_parts(schema: Json) -> Iterator[str]:
    """Yields what is wrong, each with its place in the schema; nothing for a schema that is accepted."""
    if not isinstance(schema, dict):
        yield "schema must be an object"
        return
    root = cast(dict[str, Json], schema)
    if root.get("type") != "object":
        yield 'schema must be a JSON Schema of type "object" at its root'
    counts = [0, 0]
    yield from _find_in_node(root, "()", 0, counts)
    for name, node in cast(dict[str, Json], root.get("$defs") or {}).items():
        yield from _find_in_node(node, f"($defs, {name})", 0, counts)
    if counts[0] > _MAX_PROPERTIES:
        yield f"schema has more than {_MAX_PROPERTIES} properties"
    if counts[1] > _MAX_ENUM_VALUES:
        yield f"schema has more than {_MAX_ENUM_VALUES} values in enumerations"


def _find_in_node(node: Json, place: str, depth: int, counts: list[int]) -> Iterator[str]:
    if not isinstance(node, dict):
        yield f"in context={place}, schema must be an object"
        return
    schema = cast(dict[str, Json], node)
    if depth > _MAX_DEPTH:
        yield f"in context={place}, schema is nested deeper than {_MAX_DEPTH} levels"
        return
    yield from (f"in context={place}, '{word}' is not permitted" for word in _REFUSED_KEYWORDS if word in schema)
    if not any(word in schema for word in _TYPE_GIVERS):
        yield f"in context={place}, schema must have a 'type' key"
    if "$ref" in schema and len(schema) > 1:
        yield f"in context={place}, $ref cannot have keywords {sorted(schema.keys() - {'$ref'})}"
    counts[1] += len(cast(list[Json], schema.get("enum") or []))
    if _allows_type(schema, "object"):
        yield from _find_in_object(schema, place, depth, counts)
    if _allows_type(schema, "array"):
        if "items" in schema:
            yield from _find_in_node(schema["items"], f"{place[:-1]}, items)", depth + 1, counts)
        else:
            yield f"in context={place}, array schema missing items"
    for position, branch in enumerate(cast(list[Json], schema.get("anyOf") or [])):
        yield from _find_in_node(branch, f"{place[:-1]}, anyOf, {position})", depth, counts)


def _find_in_object(schema: dict[str, Json], place: str, depth: int, counts: list[int]) -> Iterator[str]:
    properties = cast(dict[str, Json], schema.get("properties") or {})
    counts[0] += len(properties)
    if schema.get("additionalProperties") is not False:
        yield f"in context={place}, 'additionalProperties' is required to be supplied and to be false"
    if sorted(cast(list[str], schema.get("required") or [])) != sorted(properties):
        yield f"in context={place}, 'required' is required to be supplied and to be an array including every key"
    for name, child in properties.items():
        yield from _find_in_node(child, f"{place[:-1]}, properties, {name})", depth + 1, counts)


def _allows_type(schema: dict[str, Json], name: str) -> bool:
    types = schema.get("type")
    return types == name or (isinstance(types, list) and name in cast(list[str], types))
