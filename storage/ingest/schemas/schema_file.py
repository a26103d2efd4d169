"""Writes and reads schemas as editable YAML files, in the JSON structure of the codec. An error has line and field."""

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
from storage.search.schema import BareValueMatch, FieldOrigin, FieldType, Schema

_HEADER_COMMENT = """\
# The schema of the bucket {bucket}: the fields of its documents.
# Edit it and give it back: parley bucket schema {bucket} --set FILE
# Then ingest or sync the documents again, to fill what is new from their texts.
#
# synonyms   what people call the documents (here), a field, or (under `values`) one value
# item       what replies call one of the documents: `item: employee` in a bucket named staff
# labels     of a field: only lines with these labels in the texts give its values
# kinds      of a field: only documents of these kinds get a value from their text; without it, all
# origin     of a field: what gives its values: `kind` (what each document is), `folder` or `sheet`
# order      the default sort order: {{field: NAME, descending: true}}; without it, the first date, newest first
# Each field has a name (the key in the metadata) and a type:
#   number    with its `unit` (V, kg, degC, day); `bare: at_least` where "1 W" means 1 W or more
#   money     with `currency: EUR`, or `currency_field: NAME` where each document says its own
#   date      a day; a time is cut to its day in UTC; `month_first: true` where texts write 03/04/2031 for 4 March
#   category  a short string       list  several of them       text  a long string
#   flag      yes or no            rows  a table, its fields under `columns`
# `says: starts in {{value}}` is how replies say its value in a sentence ("No contract starts in 2031").
# A field may have a title, a description, synonyms, `facet: true` (offered to narrow a list), `shared: true`, and
# `references: BUCKET.FIELD` where its values name documents of another bucket (`none`: never look for one).
"""
_BOOLEAN_KEYS = frozenset({"facet", "shared", "month_first", "descending"})
_LIST_KEYS = frozenset({"synonyms", "labels", "kinds", "fields", "columns"})
_MAPPING_KEYS = frozenset({"order", "values"})
_ALLOWED_VALUES = {
    "type": [kind.value for kind in FieldType],
    "bare": [match.value for match in BareValueMatch],
    "origin": [origin.value for origin in FieldOrigin],
}
_NULL_SPELLINGS = ("", "~", "null")
_MAX_DEPTH = 12
_MAX_COMMENT_CHARACTERS = 160
_FIELD_START = re.compile(r"^(?=- name:)", re.MULTILINE)
_TYPE_LINE = re.compile(r"^  type:.*\n", re.MULTILINE)
_UNUSUAL_LINE_BREAK = re.compile("[\x85\u2028\u2029]")


def schema_to_yaml(schema: Schema, evidence: Mapping[str, str] | None = None) -> str:
    """Returns the schema as YAML with comments; keys and fields keep their order.

    `evidence` has the comment before each field by its name, and before each column by `rows.column`.
    """
    data = schema_to_json(schema)
    fields: list[dict[str, Any]] = data.pop("fields", [])
    parts = [_HEADER_COMMENT.format(bucket=_to_single_line(schema.bucket)), _dump_yaml(data)]
    if fields:
        parts.append("\nfields:\n" + "\n".join(_dump_field(field, evidence or {}) for field in fields))
    return "".join(parts)


def add_references(text: str, schema: Schema) -> str:
    """Returns the text of a schema file with the references of the schema's fields, where a field has none there.

    All else stays as it is written. Works on files that are written like those of `schema_to_yaml`.
    """
    missing: dict[str | None, str] = {field.name: field.references for field in schema.fields if field.references}
    blocks = _FIELD_START.split(text)
    for index, block in enumerate(blocks):
        name = _field_name_in(block)
        if name in missing and "\n  references:" not in block:
            reference_line = "  " + _dump_yaml({"references": missing[name]})
            blocks[index] = _TYPE_LINE.sub(lambda found, line=reference_line: found[0] + line, block, count=1)
    return "".join(blocks)


def _field_name_in(block: str) -> str | None:
    """Returns the name of the field that a part of a schema file describes; None if it describes none."""
    first_line = block.partition("\n")[0]
    if not first_line.startswith("- name:"):
        return None
    try:
        node = yaml.compose(first_line, Loader=_SchemaLoader)
    except yaml.YAMLError:
        return None
    return _field_name_of(node.value[0]) if isinstance(node, SequenceNode) else None


def _dump_field(field: Mapping[str, Any], evidence: Mapping[str, str]) -> str:
    columns = iter(field.get("columns", ()))
    lines = list[str]()
    for line in _dump_yaml([field]).splitlines(keepends=True):
        if line.startswith("- name:"):
            lines += _comment_lines("", evidence.get(field["name"]))
        elif line.startswith("  - name:"):
            lines += _comment_lines("  ", evidence.get(f"{field['name']}.{next(columns)['name']}"))
        lines.append(line)
    return "".join(lines)


def _comment_lines(indent: str, text: str | None) -> list[str]:
    return [f"{indent}# {_to_single_line(text)[:_MAX_COMMENT_CHARACTERS]}\n"] if text else []


def read_schema_file(path: Path) -> Schema:
    """Reads the schema in a file. Raises `UnreadableSchema`."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as exc:
        raise UnreadableSchema(path, f"it cannot be read: {exc.strerror or exc}") from exc
    except UnicodeDecodeError as exc:
        raise UnreadableSchema(path, "it is not UTF-8") from exc
    return parse_schema(text, path)


def parse_schema(text: str, path: Path) -> Schema:
    """Parses the text of a schema file; `path` is only for errors. Raises `UnreadableSchema`."""
    try:
        root = yaml.compose(text, Loader=_SchemaLoader)
    except yaml.MarkedYAMLError as exc:
        mark = exc.problem_mark or exc.context_mark
        raise UnreadableSchema(path, f"it is not YAML: {exc.problem}", line=mark.line + 1 if mark else None) from exc
    except (yaml.YAMLError, RecursionError) as exc:
        raise UnreadableSchema(path, f"it is not YAML: {str(exc).splitlines()[0]}") from exc
    if root is None:
        raise UnreadableSchema(path, "it is empty")
    return _SchemaDocument(path, root).to_schema()


class _SchemaLoader(yaml.SafeLoader):
    def compose_node(self, parent: Node | None, index: int) -> Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.MarkedYAMLError(problem="aliases are not read", problem_mark=self.get_mark())
        return super().compose_node(parent, index)


class _SchemaFault(Exception):
    def __init__(self, node: Node, reason: str) -> None:
        super().__init__(reason)
        self.node, self.reason = node, reason


@dataclass(frozen=True)
class _SchemaDocument:
    path: Path
    root: Node

    def to_schema(self) -> Schema:
        try:
            data = _plain_value_of(self.root)
        except _SchemaFault as exc:
            raise self._unreadable_error(exc.reason, exc.node) from exc
        if not isinstance(data, dict):
            raise self._unreadable_error("it is not a mapping of keys to values", self.root)
        try:
            return schema_from_json(data)
        except InvalidSchema as exc:
            raise self._unreadable_error(exc.reason, self._find_field_node(exc.field), exc.field) from exc
        except SearchError as exc:
            node, name = self._find_fault()
            raise self._unreadable_error(str(exc), node, name) from exc

    def _unreadable_error(self, reason: str, node: Node | None, field: str | None = None) -> UnreadableSchema:
        name = field if field is not None else self._enclosing_field_name(node)
        return UnreadableSchema(self.path, reason, line=node.start_mark.line + 1 if node else None, field=name)

    def _find_field_node(self, name: str | None) -> Node | None:
        """Returns the last field with this name: of two fields with the same name, the second is the fault."""
        nodes = [node for node in _field_nodes(self.root) if _field_name_of(node) == name]
        return nodes[-1] if nodes else self.root

    def _enclosing_field_name(self, node: Node | None) -> str | None:
        """Returns the name of the innermost field that contains `node`."""
        if node is None:
            return None
        offset = node.start_mark.index
        enclosing = [
            field for field in _field_nodes(self.root) if field.start_mark.index <= offset < field.end_mark.index
        ]
        return _field_name_of(enclosing[-1]) if enclosing else None

    def _find_fault(self) -> tuple[Node, str | None]:
        """Returns the node to blame for an invalid schema, and the name of its field.

        Looks for a field that is invalid by itself, and in it for the first key without which it would be valid; else
        for an unknown key of the file.
        """
        for node in reversed(list(_field_nodes(self.root))):
            if not _is_valid_field(_plain_value_of(node)):
                return _find_faulty_key(node), _field_name_of(node)
        return _find_unknown_key(self.root), None


def _is_valid_field(data: Any) -> bool:
    """Whether the data is a valid field, apart from references to other fields."""
    if not isinstance(data, dict):
        return False
    field: dict[str, Any] = {key: value for key, value in data.items() if key != "currency_field"}  # pyright: ignore
    try:
        schema_from_json({"bucket": "b", "fields": [field]})
    except InvalidSchema:
        return True  # this error has its own field name and is reported elsewhere
    except SearchError:
        return False
    return True


def _find_faulty_key(node: Node) -> Node:
    if not isinstance(node, MappingNode):
        return node
    for key, value in node.value:
        remaining = MappingNode(
            node.tag, [pair for pair in node.value if pair[0] is not key], node.start_mark, node.end_mark
        )
        if _is_valid_field(_plain_value_of(remaining)):
            return key if isinstance(value, (MappingNode, SequenceNode)) else value
    return node


def _find_unknown_key(root: Node) -> Node:
    known_keys = {"version", "bucket", "title", "description", "synonyms", "item", "language", "order", "fields"}
    if isinstance(root, MappingNode):
        for key, _ in root.value:
            if key.value not in known_keys:
                return key
    return root


def _field_nodes(node: Node, key: str = "fields") -> Iterator[Node]:
    """Yields the nodes of all fields, each followed by the nodes of its columns."""
    if not isinstance(node, MappingNode):
        return
    for name, value in node.value:
        if name.value == key and isinstance(value, SequenceNode):
            for field in value.value:
                yield field
                yield from _field_nodes(field, "columns")


def _field_name_of(node: Node) -> str | None:
    pairs: Sequence[tuple[Node, Node]] = node.value if isinstance(node, MappingNode) else ()
    return next((str(value.value) for key, value in pairs if key.value == "name"), None)


def _plain_value_of(node: Node, key: str = "", depth: int = 0) -> Any:
    """Returns the value of a node. Raises `_SchemaFault`.

    Scalars are strings except under keys with another type, so that `no` and `007` stay as they are written.
    """
    if depth > _MAX_DEPTH:
        raise _SchemaFault(node, "it is nested too deeply")
    match node:
        case ScalarNode():
            return _plain_scalar_of(node, key)
        case SequenceNode():
            if (
                key in _BOOLEAN_KEYS
                or key in _MAPPING_KEYS
                or key in ("name", "type", "title", "unit", "bucket", "references", "origin")
            ):
                raise _SchemaFault(node, f"{key} is not a list")
            return [_plain_value_of(member, "", depth + 1) for member in node.value]
        case MappingNode():
            if key in _LIST_KEYS:
                raise _SchemaFault(node, f"{key} is a list: each member on a line of its own, after a dash")
            return _plain_mapping_of(node, "synonyms" if key == "values" else "", depth)
        case _:
            raise _SchemaFault(node, "it is neither a value, a list nor a mapping")


def _plain_mapping_of(node: MappingNode, member_key: str, depth: int) -> dict[str, Any]:
    """Returns a mapping. `member_key` gives the type of every value where people choose the keys; empty elsewhere."""
    result: dict[str, Any] = {}
    for key, value in node.value:
        if not isinstance(key, ScalarNode):
            raise _SchemaFault(key, "a key is a word")
        if key.value in result:
            raise _SchemaFault(key, f"the key {key.value!r} stands twice")
        plain_value = _plain_value_of(value, member_key or key.value, depth + 1)
        if plain_value is not None or member_key:
            result[key.value] = plain_value
    return result


def _plain_scalar_of(node: ScalarNode, key: str) -> str | int | bool | None:
    is_plain = node.style is None
    if is_plain and node.value.lower() in _NULL_SPELLINGS and key != "":
        return None
    if key in _BOOLEAN_KEYS:
        if node.value.lower() not in ("true", "false", "yes", "no"):
            raise _SchemaFault(node, f"{key} is true or false, not {node.value!r}")
        return node.value.lower() in ("true", "yes")
    if key in _LIST_KEYS or key in _MAPPING_KEYS:
        raise _SchemaFault(node, f"{key} holds several things, not {node.value!r}")
    if key in _ALLOWED_VALUES and node.value not in _ALLOWED_VALUES[key]:
        raise _SchemaFault(node, f"{node.value!r} is no {key}; there are {', '.join(_ALLOWED_VALUES[key])}")
    if key == "version":
        if not node.value.isdecimal():
            raise _SchemaFault(node, f"version is a whole number, not {node.value!r}")
        return int(node.value)
    return node.value


def _dump_yaml(data: Mapping[str, Any] | Sequence[Any]) -> str:
    return yaml.dump(
        data, Dumper=_SchemaDumper, sort_keys=False, allow_unicode=True, width=110, default_flow_style=False
    )


class _SchemaDumper(yaml.SafeDumper):
    """Quotes strings with unusual line breaks, which the library would otherwise read back as blanks."""

    def represent_str(self, data: str) -> ScalarNode:
        style = '"' if _UNUSUAL_LINE_BREAK.search(data) else None
        return self.represent_scalar("tag:yaml.org,2002:str", data, style)  # pyright: ignore[reportUnknownMemberType]


_SchemaDumper.add_representer(str, _SchemaDumper.represent_str)


def _to_single_line(text: str) -> str:
    """Returns the text as one printable line, for a comment."""
    return "".join(c if c.isprintable() else "?" for c in " ".join(text.split()))
