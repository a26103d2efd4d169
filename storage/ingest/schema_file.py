"""A schema as an editable YAML file, both ways, in the codec's shape; what cannot be read names its line and field."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from storage.ingest.errors import UnreadableSchema
from storage.search.codec import schema_from_json, schema_to_json
from storage.search.errors import InvalidSchema, SearchError
from storage.search.schema import Bare, FieldType, Schema

_HEAD = """\
# The schema of the bucket {bucket}: what is known of each of its documents.
# Edit it and give it back: parley bucket schema {bucket} --set FILE
# Then ingest or sync the documents again, to fill what is new from their texts.
#
# synonyms   what people call the documents (here), a field, or (under `values`) one value
# order      how a list is sorted when nobody says: {{field: NAME, descending: true}}; else the first date, newest first
# Each field has a name (the key in the metadata) and a type:
#   number    with its `unit` (V, kg, degC, day); `bare: at_least` where "1 W" means 1 W or more
#   money     with `currency: EUR`, or `currency_field: NAME` where each document says its own
#   date      a day; a time is cut to its day in UTC
#   category  a short string       list  several of them       text  a long string
#   flag      yes or no            rows  a table, its fields under `columns`
# and may have a title, a description, synonyms, `facet: true` (offered to narrow a list) and `shared: true`.
"""
_BOOLEANS = frozenset({"facet", "shared", "descending"})
_LISTS = frozenset({"synonyms", "fields", "columns"})
_MAPPINGS = frozenset({"order", "values"})
_CHOICES = {"type": [one.value for one in FieldType], "bare": [one.value for one in Bare]}
_NULLS = ("", "~", "null")
_DEEPEST = 12
_LONGEST_COMMENT = 160
_ODD_BREAK = re.compile("[\x85\u2028\u2029]")


def written(schema: Schema, evidence: Mapping[str, str] | None = None) -> str:
    """The schema as commented YAML, keys and fields in their order.

    `evidence`: what is said in a comment before a field, and before a column under `rows.column`.
    """
    data = schema_to_json(schema)
    fields: list[dict[str, Any]] = data.pop("fields", [])
    parts = [_HEAD.format(bucket=_one_line(schema.bucket)), _dumped(data)]
    if fields:
        parts.append("\nfields:\n" + "\n".join(_commented(one, evidence or {}) for one in fields))
    return "".join(parts)


def _commented(field: Mapping[str, Any], evidence: Mapping[str, str]) -> str:
    columns = iter(field.get("columns", ()))
    lines = list[str]()
    for line in _dumped([field]).splitlines(keepends=True):
        if line.startswith("- name:"):
            lines += _comment("", evidence.get(field["name"]))
        elif line.startswith("  - name:"):
            lines += _comment("  ", evidence.get(f"{field['name']}.{next(columns)['name']}"))
        lines.append(line)
    return "".join(lines)


def _comment(indent: str, text: str | None) -> list[str]:
    return [f"{indent}# {_one_line(text)[:_LONGEST_COMMENT]}\n"] if text else []


def read(path: Path) -> Schema:
    """The schema in a file. Raises `UnreadableSchema`."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as exc:
        raise UnreadableSchema(path, f"it cannot be read: {exc.strerror or exc}") from exc
    except UnicodeDecodeError as exc:
        raise UnreadableSchema(path, "it is not UTF-8") from exc
    return parsed(text, path)


def parsed(text: str, path: Path) -> Schema:
    """The schema in a text that came from `path`. Raises `UnreadableSchema`."""
    try:
        root = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as exc:
        mark = exc.problem_mark or exc.context_mark
        raise UnreadableSchema(path, f"it is not YAML: {exc.problem}", line=mark.line + 1 if mark else None) from exc
    except (yaml.YAMLError, RecursionError) as exc:
        raise UnreadableSchema(path, f"it is not YAML: {str(exc).splitlines()[0]}") from exc
    if root is None:
        raise UnreadableSchema(path, "it is empty")
    return _File(path, root).schema()


class _Loader(yaml.SafeLoader):
    def compose_node(self, parent: Node | None, index: int) -> Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.MarkedYAMLError(problem="aliases are not read", problem_mark=self.get_mark())
        return super().compose_node(parent, index)


class _Fault(Exception):
    def __init__(self, node: Node, reason: str) -> None:
        super().__init__(reason)
        self.node, self.reason = node, reason


@dataclass(frozen=True)
class _File:
    path: Path
    root: Node

    def schema(self) -> Schema:
        try:
            data = _plain(self.root)
        except _Fault as exc:
            raise self._unreadable(exc.reason, exc.node) from exc
        if not isinstance(data, dict):
            raise self._unreadable("it is no mapping of keys to values", self.root)
        try:
            return schema_from_json(data)
        except InvalidSchema as exc:
            raise self._unreadable(exc.reason, self._field_node(exc.field), exc.field) from exc
        except SearchError as exc:
            node, name = self._culprit()
            raise self._unreadable(str(exc), node, name) from exc

    def _unreadable(self, reason: str, node: Node | None, field: str | None = None) -> UnreadableSchema:
        name = field if field is not None else self._name_around(node)
        return UnreadableSchema(self.path, reason, line=node.start_mark.line + 1 if node else None, field=name)

    def _field_node(self, name: str | None) -> Node | None:
        """Where the last field of that name stands: of two alike, the second is at fault."""
        found = [node for node in _field_nodes(self.root) if _name_in(node) == name]
        return found[-1] if found else self.root

    def _name_around(self, node: Node | None) -> str | None:
        """The innermost field that `node` stands in."""
        if node is None:
            return None
        lines = node.start_mark.index
        around = [one for one in _field_nodes(self.root) if one.start_mark.index <= lines < one.end_mark.index]
        return _name_in(around[-1]) if around else None

    def _culprit(self) -> tuple[Node, str | None]:
        """The first field that is at fault by itself, its first key that the rest would do without; else the file."""
        for node in reversed(list(_field_nodes(self.root))):
            if not _reads(_plain(node)):
                return _key_at_fault(node), _name_in(node)
        return _top_at_fault(self.root), None


def _reads(one: Any) -> bool:
    """Whether it reads as a field, apart from what refers to other fields."""
    if not isinstance(one, dict):
        return False
    alone: dict[str, Any] = {key: value for key, value in one.items() if key != "currency_field"}  # pyright: ignore
    try:
        schema_from_json({"bucket": "b", "fields": [alone]})
    except InvalidSchema:
        return True  # of another kind, found elsewhere
    except SearchError:
        return False
    return True


def _key_at_fault(node: Node) -> Node:
    if not isinstance(node, MappingNode):
        return node
    for key, value in node.value:
        rest = MappingNode(
            node.tag, [pair for pair in node.value if pair[0] is not key], node.start_mark, node.end_mark
        )
        if _reads(_plain(rest)):
            return key if isinstance(value, (MappingNode, SequenceNode)) else value
    return node


def _top_at_fault(root: Node) -> Node:
    known = {"version", "bucket", "title", "description", "synonyms", "language", "order", "fields"}
    if isinstance(root, MappingNode):
        for key, _ in root.value:
            if key.value not in known:
                return key
    return root


def _field_nodes(node: Node, key: str = "fields") -> Iterator[Node]:
    """The nodes of all fields and, each after its field, their columns."""
    if not isinstance(node, MappingNode):
        return
    for name, value in node.value:
        if name.value == key and isinstance(value, SequenceNode):
            for one in value.value:
                yield one
                yield from _field_nodes(one, "columns")


def _name_in(node: Node) -> str | None:
    pairs: Sequence[tuple[Node, Node]] = node.value if isinstance(node, MappingNode) else ()
    return next((str(value.value) for key, value in pairs if key.value == "name"), None)


def _plain(node: Node, key: str = "", depth: int = 0) -> Any:
    """Strings, except under the keys that hold something else: `no` and 007 mean what they say. Raises `_Fault`."""
    if depth > _DEEPEST:
        raise _Fault(node, "it is nested too deeply")
    match node:
        case ScalarNode():
            return _scalar(node, key)
        case SequenceNode():
            if key in _BOOLEANS or key in _MAPPINGS or key in ("name", "type", "title", "unit", "bucket"):
                raise _Fault(node, f"{key} is no list")
            return [_plain(one, "", depth + 1) for one in node.value]
        case MappingNode():
            if key in _LISTS:
                raise _Fault(node, f"{key} is a list: each member on a line of its own, after a dash")
            return _mapping(node, "synonyms" if key == "values" else "", depth)
        case _:
            raise _Fault(node, "it is neither a value, a list nor a mapping")


def _mapping(node: MappingNode, inside: str, depth: int) -> dict[str, Any]:
    """`inside`: what every member holds, where the keys are not the codec's own."""
    result: dict[str, Any] = {}
    for key, value in node.value:
        if not isinstance(key, ScalarNode):
            raise _Fault(key, "a key is a word")
        if key.value in result:
            raise _Fault(key, f"the key {key.value!r} stands twice")
        one = _plain(value, inside or key.value, depth + 1)
        if one is not None or inside:
            result[key.value] = one
    return result


def _scalar(node: ScalarNode, key: str) -> str | int | bool | None:
    is_plain = node.style is None
    if is_plain and node.value.lower() in _NULLS and key != "":
        return None
    if key in _BOOLEANS:
        if node.value.lower() not in ("true", "false", "yes", "no"):
            raise _Fault(node, f"{key} is true or false, not {node.value!r}")
        return node.value.lower() in ("true", "yes")
    if key in _LISTS or key in _MAPPINGS:
        raise _Fault(node, f"{key} holds several things, not {node.value!r}")
    if key in _CHOICES and node.value not in _CHOICES[key]:
        raise _Fault(node, f"{node.value!r} is no {key}; there are {', '.join(_CHOICES[key])}")
    if key == "version":
        if not node.value.isdecimal():
            raise _Fault(node, f"version is a whole number, not {node.value!r}")
        return int(node.value)
    return node.value


def _dumped(data: Mapping[str, Any] | Sequence[Any]) -> str:
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110, default_flow_style=False)


class _Dumper(yaml.SafeDumper):
    """Quotes line breaks that are none to the eye, which the library would read back as blanks."""

    def represent_str(self, data: str) -> ScalarNode:
        style = '"' if _ODD_BREAK.search(data) else None
        return self.represent_scalar("tag:yaml.org,2002:str", data, style)  # pyright: ignore[reportUnknownMemberType]


_Dumper.add_representer(str, _Dumper.represent_str)


def _one_line(text: str) -> str:
    """For a comment."""
    return "".join(c if c.isprintable() else "?" for c in " ".join(text.split()))
