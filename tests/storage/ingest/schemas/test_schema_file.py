"""Schemas as YAML files: the round trip, and errors with file, line and field."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storage.ingest.errors import UnreadableSchema
from storage.ingest.schemas.schema_file import parse_schema, read_schema_file, schema_to_yaml
from storage.search.conditions import RESERVED_FIELDS
from storage.search.ids import BucketId, FieldName
from storage.search.schema import BareValueMatch, FieldOrigin, FieldType, Schema, SchemaField, SchemaOrder

HERE = Path("x.schema.yaml")
ODD_STRINGS = st.sampled_from(
    ["no", "Null", "007", "1.10", "2020-01-01", "a: b", "# c", "'", "- x", "é 日", "order", "true"]
)
WORDS = st.one_of(ODD_STRINGS, st.text(min_size=1, max_size=12))
NAMES = (
    st.one_of(ODD_STRINGS, st.text("abc_ :#'日", min_size=1))
    .map(str.strip)
    .filter(lambda name: name and "." not in name)
)
SYNONYMS = st.lists(WORDS, max_size=3).map(tuple)


@st.composite
def fields(draw: st.DrawFn, name: str, kinds: tuple[FieldType, ...] = tuple(FieldType)) -> SchemaField:
    kind = draw(st.sampled_from(kinds))
    column_types = tuple(FieldType(type_name) for type_name in ("number", "date", "category", "flag", "text"))
    names = draw(st.lists(NAMES, max_size=2, unique=True)) if kind is FieldType.ROWS else []
    return SchemaField(
        name=FieldName(name),
        type=kind,
        title=draw(WORDS),
        description=draw(WORDS),
        synonyms=draw(SYNONYMS),
        unit=draw(st.sampled_from(["", "V", "degC"])) if kind is FieldType.NUMBER else "",
        currency="EUR" if kind is FieldType.MONEY else "",
        values=draw(st.dictionaries(WORDS, SYNONYMS, max_size=2)),
        facet=draw(st.booleans()),
        bare=draw(st.sampled_from(BareValueMatch)),
        shared=draw(st.booleans()),
        columns=tuple(draw(fields(column_name, column_types)) for column_name in names),
    )


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    names = [name for name in draw(st.lists(NAMES, max_size=4, unique=True)) if name not in RESERVED_FIELDS]
    members = tuple(draw(fields(name)) for name in names)
    orderable = [field for field in members if field.type not in (FieldType.LIST, FieldType.ROWS)]
    return Schema(
        bucket=BucketId(draw(WORDS)),
        fields=members,
        title=draw(WORDS),
        description=draw(WORDS),
        synonyms=draw(SYNONYMS),
        language=draw(st.sampled_from(["", "en", "de"])),
        order=SchemaOrder(field=orderable[0].name, descending=draw(st.booleans())) if orderable else None,
    )


@settings(deadline=None)
@given(schemas(), WORDS)
def test_a_schema_is_read_back_as_it_was_written(schema: Schema, comment: str) -> None:
    evidence = {
        name: comment
        for field in schema.fields
        for name in (field.name, *(f"{field.name}.{column.name}" for column in field.columns))
    }
    assert parse_schema(schema_to_yaml(schema), HERE) == schema
    assert parse_schema(schema_to_yaml(schema, evidence), HERE) == schema


def test_evidence_is_a_comment_before_its_field_or_column() -> None:
    columns = (
        SchemaField(name=FieldName("qty"), type=FieldType.NUMBER),
        SchemaField(name=FieldName("of"), type=FieldType.TEXT),
    )
    rows = SchemaField(name=FieldName("items"), type=FieldType.ROWS, columns=columns)
    lines = schema_to_yaml(
        Schema(bucket=BucketId("b"), fields=(rows,)), {"items": "in 4", "items.of": "a\nb"}
    ).splitlines()
    assert lines[lines.index("- name: items") - 1] == "# in 4"
    assert lines[lines.index("  - name: of") - 1] == "  # a b"


def test_the_file_is_commented_and_keeps_the_order_of_the_fields() -> None:
    names = ["width", "a", "maker"]
    schema = Schema(
        bucket=BucketId("panels"),
        fields=tuple(SchemaField(name=FieldName(name), type=FieldType.CATEGORY) for name in names),
    )
    text = schema_to_yaml(schema)
    assert text.startswith("# The schema of the bucket panels")
    assert [line.removeprefix("- name: ") for line in text.splitlines() if line.startswith("- name")] == names


def test_words_that_yaml_reads_as_other_types_stay_strings() -> None:
    text = "bucket: b\nfields:\n- {name: country, type: category, values: {no: [norway], on: [ontario], 007: []}}\n"
    values = parse_schema(text, HERE).fields[0].values
    assert values == {"no": ("norway",), "on": ("ontario",), "007": ()}


_KIND_FIELD = "bucket: b\nfields:\n- name: k\n  type: category\n  origin: kind\n  values: {bill: [bills]}\n"


def test_kinds_and_origins_are_read_and_written() -> None:
    text = f"{_KIND_FIELD}- name: x\n  type: text\n  kinds: [bill]\n- name: f\n  type: list\n  origin: folder\n"

    schema = parse_schema(text, Path("b.yaml"))

    assert [(field.kinds, field.origin) for field in schema.fields[1:]] == [(("bill",), None), ((), FieldOrigin.FOLDER)]
    assert parse_schema(schema_to_yaml(schema), Path("b.yaml")) == schema


@pytest.mark.parametrize(
    ("text", "line", "field", "word"),
    [
        ("bucket: b\nfields:\n- name: x\n  type: [\n", 5, None, "YAML"),
        ("bucket: b\nfields:\n- name: x\n  type: numbr\n", 4, "x", "numbr"),
        ("bucket: b\nfields:\n- name: x\n  type: number\n- name: y\n  type: number\n  untis: V\n", 7, "y", "untis"),
        ("bucket: b\nfields:\n- name: x\n  type: text\n  facet: perhaps\n", 5, "x", "facet"),
        ("bucket: b\nfields:\n- name: x\n  type: text\n- name: x\n  type: text\n", 5, "x", "twice"),
        ("bucket: b\nfields:\n- name: title\n  type: text\n", 3, "title", "reserved"),
        ("bucket: b\nfields:\n- name: x\n  type: text\n  type: date\n", 5, "x", "twice"),
        ("bucket: b\nfields:\n- name: x\n  type: text\n  synonyms: one\n", 5, "x", "synonyms"),
        ("bucket: b\nfields:\n- name: r\n  type: rows\n  columns:\n  - name: q\n    type: many\n", 7, "q", "many"),
        ("bucket: b\nfields:\n- name: x\n  type: text\n  unit: V\n", 3, "x", "unit"),
        ("bucket: b\nfields:\n- name: x\n  type: text\n  origin: shelf\n", 5, "x", "shelf"),
        ("bucket: b\nfields:\n- name: x\n  type: date\n  origin: kind\n", 3, "x", "category"),
        ("bucket: b\nfields:\n- name: x\n  type: text\n  kinds: [bill]\n", 3, "x", "origin: kind"),
        (f"{_KIND_FIELD}- name: x\n  type: text\n  kinds: [bil]\n", 7, "x", "there are bill"),
        (f"{_KIND_FIELD}- name: x\n  type: category\n  origin: kind\n", 7, "x", "already"),
        ("bucket: b\nfeilds: []\n", 2, None, "feilds"),
        ("bucket: b\nversion: 99\n", 1, None, "99"),
        ("fields: []\n", 1, None, "bucket"),
        ("- a\n", 1, None, "mapping"),
        ("a: &x 1\nb: *x\n", 2, None, "aliases"),
        ("", None, None, "empty"),
    ],
)
def test_an_invalid_schema_is_reported_with_its_line_and_field(
    text: str, line: int | None, field: str | None, word: str
) -> None:
    with pytest.raises(UnreadableSchema) as caught:
        parse_schema(text, HERE)
    assert (caught.value.line, caught.value.field) == (line, field)
    assert word in str(caught.value)
    assert str(HERE) in str(caught.value)


@settings(deadline=None)
@given(st.text("abc:-[]{}&*#!|>'\" \n", max_size=60))
def test_any_text_gives_a_schema_or_unreadable_schema(text: str) -> None:
    with suppress(UnreadableSchema):
        parse_schema(text, HERE)


def test_a_missing_file_is_named_in_the_error(tmp_path: Path) -> None:
    with pytest.raises(UnreadableSchema, match=r"gone\.yaml: it cannot be read"):
        read_schema_file(tmp_path / "gone.yaml")
