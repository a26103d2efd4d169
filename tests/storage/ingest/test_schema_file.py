"""Schemas as YAML: round trip, and errors that name file, line and field."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storage.ingest.errors import UnreadableSchema
from storage.ingest.schema_file import parsed, read, written
from storage.search.conditions import RESERVED
from storage.search.ids import BucketId, FieldName
from storage.search.schema import Bare, Field, FieldType, Schema, SchemaOrder

HERE = Path("x.schema.yaml")
ODD = st.sampled_from(["no", "Null", "007", "1.10", "2020-01-01", "a: b", "# c", "'", "- x", "é 日", "order", "true"])
WORDS = st.one_of(ODD, st.text(min_size=1, max_size=12))
NAMES = st.one_of(ODD, st.text("abc_ :#'日", min_size=1)).map(str.strip).filter(lambda name: name and "." not in name)
SYNONYMS = st.lists(WORDS, max_size=3).map(tuple)


@st.composite
def fields(draw: st.DrawFn, name: str, kinds: tuple[FieldType, ...] = tuple(FieldType)) -> Field:
    kind = draw(st.sampled_from(kinds))
    inner = tuple(FieldType(one) for one in ("number", "date", "category", "flag", "text"))
    names = draw(st.lists(NAMES, max_size=2, unique=True)) if kind is FieldType.ROWS else []
    return Field(
        name=FieldName(name),
        type=kind,
        title=draw(WORDS),
        description=draw(WORDS),
        synonyms=draw(SYNONYMS),
        unit=draw(st.sampled_from(["", "V", "degC"])) if kind is FieldType.NUMBER else "",
        currency="EUR" if kind is FieldType.MONEY else "",
        values=draw(st.dictionaries(WORDS, SYNONYMS, max_size=2)),
        facet=draw(st.booleans()),
        bare=draw(st.sampled_from(Bare)),
        shared=draw(st.booleans()),
        columns=tuple(draw(fields(one, inner)) for one in names),
    )


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    names = [name for name in draw(st.lists(NAMES, max_size=4, unique=True)) if name not in RESERVED]
    members = tuple(draw(fields(name)) for name in names)
    ordered = [one for one in members if one.type not in (FieldType.LIST, FieldType.ROWS)]
    return Schema(
        bucket=BucketId(draw(WORDS)),
        fields=members,
        title=draw(WORDS),
        description=draw(WORDS),
        synonyms=draw(SYNONYMS),
        language=draw(st.sampled_from(["", "en", "de"])),
        order=SchemaOrder(field=ordered[0].name, descending=draw(st.booleans())) if ordered else None,
    )


@settings(deadline=None)
@given(schemas(), WORDS)
def test_a_schema_is_read_back_as_it_was_written(schema: Schema, said: str) -> None:
    evidence = {
        name: said for one in schema.fields for name in (one.name, *(f"{one.name}.{c.name}" for c in one.columns))
    }
    assert parsed(written(schema), HERE) == schema
    assert parsed(written(schema, evidence), HERE) == schema


def test_evidence_stands_before_its_field_and_column() -> None:
    columns = (Field(name=FieldName("qty"), type=FieldType.NUMBER), Field(name=FieldName("of"), type=FieldType.TEXT))
    rows = Field(name=FieldName("items"), type=FieldType.ROWS, columns=columns)
    lines = written(Schema(bucket=BucketId("b"), fields=(rows,)), {"items": "in 4", "items.of": "a\nb"}).splitlines()
    assert lines[lines.index("- name: items") - 1] == "# in 4"
    assert lines[lines.index("  - name: of") - 1] == "  # a b"


def test_the_file_is_commented_and_keeps_the_order_of_the_fields() -> None:
    names = ["width", "a", "maker"]
    schema = Schema(
        bucket=BucketId("panels"),
        fields=tuple(Field(name=FieldName(one), type=FieldType.CATEGORY) for one in names),
    )
    text = written(schema)
    assert text.startswith("# The schema of the bucket panels")
    assert [line.removeprefix("- name: ") for line in text.splitlines() if line.startswith("- name")] == names


def test_words_that_yaml_would_take_for_something_else_stay_words() -> None:
    text = "bucket: b\nfields:\n- {name: country, type: category, values: {no: [norway], on: [ontario], 007: []}}\n"
    values = parsed(text, HERE).fields[0].values
    assert values == {"no": ("norway",), "on": ("ontario",), "007": ()}


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
        ("bucket: b\nfeilds: []\n", 2, None, "feilds"),
        ("bucket: b\nversion: 99\n", 1, None, "99"),
        ("fields: []\n", 1, None, "bucket"),
        ("- a\n", 1, None, "mapping"),
        ("a: &x 1\nb: *x\n", 2, None, "aliases"),
        ("", None, None, "empty"),
    ],
)
def test_what_cannot_be_read_names_its_line_and_field(
    text: str, line: int | None, field: str | None, word: str
) -> None:
    with pytest.raises(UnreadableSchema) as caught:
        parsed(text, HERE)
    assert (caught.value.line, caught.value.field) == (line, field)
    assert word in str(caught.value)
    assert str(HERE) in str(caught.value)


@settings(deadline=None)
@given(st.text("abc:-[]{}&*#!|>'\" \n", max_size=60))
def test_no_text_breaks_the_reader(text: str) -> None:
    with suppress(UnreadableSchema):
        parsed(text, HERE)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnreadableSchema, match=r"gone\.yaml: it cannot be read"):
        read(tmp_path / "gone.yaml")
