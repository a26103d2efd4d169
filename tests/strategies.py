"""Hypothesis strategies for schemas, documents of a schema, conditions valid for it, and scopes.

Most strings come from small pools, and the others from all of Unicode, so that conditions match some documents.
"""

from collections.abc import Sequence

from hypothesis import strategies as st

from storage.search.conditions import (
    DOC_ID_FIELD,
    ORDER_OPERATORS,
    TEXT_FIELD,
    TITLE_FIELD,
    AndCondition,
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    FieldComparisonCondition,
    MissingCondition,
    NotCondition,
    OrCondition,
    RowCondition,
    Scalar,
    SemiJoinCondition,
    replace_semi_joins,
)
from storage.search.documents import Document, FieldValue, Passage, RowValues
from storage.search.errors import InvalidCondition
from storage.search.evaluation.condition_normal_form import bind_to_schema
from storage.search.evaluation.row_selection import row_condition_of
from storage.search.ids import BucketId, DocId, FieldName, Subject
from storage.search.schema import (
    REFERENCE_TYPES,
    FieldType,
    Schema,
    SchemaField,
    SchemaOrder,
    have_different_currencies,
)
from storage.search.scope import Scope
from tests.builders import TENANT

WORDS = (
    *("tire", "Tire", "TÍRE", "tires", "running", "runs", "Straße", "STRASSE", "B-120", "b 120", "3.0", "1,000"),
    *("don't", "snake_case", "100%", "a*b", "what?", "_", "%", "back\\slash", '"quoted"', "'single'", "AND", "OR NOT"),
    *(
        "NEAR(a b)",
        "title:x",
        "日本語",
        "日本",
        "מס׳",
        "مرحبا",
        "\u202eright",
        "ﬁne",
        "½ inch",
        "İstanbul",
        "ς",
        "e\u0301",
    ),
    *("nul\x00byte", "tab\tnew\nline", "\u200bzero", "🙂", "ｆｕｌｌ", "ᏸᎯ"),
    *("---", "ǅ", "x" * 300),
)
NAMES = ("vendor", "a b", "größe", "x'y\"z", "100%", "日付", "_id", "SELECT", "items*", "név", "doc", "_score", "rowid")
SUBJECTS = ("everyone", "user:slack:T1:U1", "group:g1", 'it\'s "me"')
DAYS = ("0001-01-01", "1999-12-31", "2024-02-29", "2024-03-01", "2024-04-01", "2025-01-01", "9999-12-31")
NUMBERS = (0.0, -0.0, 1.0, -1.0, 0.1, 0.30000000000000004, 0.3, 2.5, 1e-300, 1e300, 12345678901234567.0, 10.005)

storable_strings = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
strings = st.one_of(
    st.sampled_from(WORDS),
    st.sampled_from(WORDS),
    st.lists(st.sampled_from(WORDS), min_size=2, max_size=3).map(" ".join),
    storable_strings,
)
numbers = st.one_of(
    st.sampled_from(NUMBERS), st.integers(-3, 3).map(float), st.floats(-1e300, 1e300, allow_nan=False, width=64)
)
days = st.one_of(st.sampled_from(DAYS), st.dates().map(lambda day: day.isoformat()))

_COLUMN_TYPES = (
    FieldType.NUMBER,
    FieldType.MONEY,
    FieldType.DATE,
    FieldType.CATEGORY,
    FieldType.FLAG,
    FieldType.TEXT,
)


@st.composite
def fields(draw: st.DrawFn, name: str, *, is_column: bool = False, field_type: FieldType | None = None) -> SchemaField:
    """Fields of the type; None: of any type that a field of documents, or a column, may have."""
    field_type = field_type or draw(st.sampled_from(_COLUMN_TYPES if is_column else tuple(FieldType)))
    names = (
        draw(st.lists(st.sampled_from(NAMES), unique=True, min_size=1, max_size=4))
        if field_type is FieldType.ROWS
        else []
    )
    return SchemaField(
        name=FieldName(name),
        type=field_type,
        unit=draw(st.sampled_from(["", "kg"])) if field_type is FieldType.NUMBER else "",
        currency=draw(st.sampled_from(["", "EUR", "JPY"])) if field_type is FieldType.MONEY else "",
        title=draw(st.sampled_from(["", "Título"])),
        synonyms=tuple(draw(st.lists(st.sampled_from(WORDS[:6]), max_size=2))),
        labels=tuple(draw(st.lists(st.sampled_from(WORDS[:6]), max_size=2))),
        facet=draw(st.booleans()),
        month_first=draw(st.booleans()) and field_type is FieldType.DATE,
        shared=draw(st.booleans()),
        references=draw(st.sampled_from(["", "", "none", "drawn.vendor", "a b.c.title"]))
        if field_type in REFERENCE_TYPES and not is_column
        else "",
        columns=tuple(draw(fields(column_name, is_column=True)) for column_name in names),
    )


@st.composite
def schemas(draw: st.DrawFn, bucket: str = "drawn") -> Schema:
    names = draw(st.lists(st.sampled_from(NAMES), unique=True, min_size=1, max_size=8))
    drawn_fields = tuple(draw(fields(name)) for name in names)
    sortable_fields = [field.name for field in drawn_fields if field.type not in (FieldType.LIST, FieldType.ROWS)]
    orders = (
        st.builds(SchemaOrder, field=st.sampled_from(sortable_fields), descending=st.booleans())
        if sortable_fields
        else st.none()
    )
    order = draw(st.none() | orders)
    language = draw(st.sampled_from(["en", "de", "fr", "es", "", "pl"]))
    return Schema(bucket=BucketId(bucket), fields=drawn_fields, language=language, order=order)


def _name_of_field(field: SchemaField) -> FieldName:
    return field.name


def scalars(field: SchemaField) -> st.SearchStrategy[Scalar]:
    """Values of a field; of a list field, its members."""
    match field.type:
        case FieldType.NUMBER | FieldType.MONEY:
            return numbers
        case FieldType.DATE:
            return days
        case FieldType.FLAG:
            return st.booleans()
        case FieldType.CATEGORY | FieldType.TEXT | FieldType.LIST | FieldType.ROWS:
            return strings


def values(field: SchemaField) -> st.SearchStrategy[FieldValue]:
    match field.type:
        case FieldType.LIST:
            return st.lists(strings, min_size=1, max_size=3).map(tuple)
        case FieldType.ROWS:
            return st.lists(rows(field), min_size=1, max_size=3).map(tuple)
        case _:
            return scalars(field)


@st.composite
def rows(draw: st.DrawFn, rows_field: SchemaField) -> RowValues:
    columns = draw(st.lists(st.sampled_from(rows_field.columns), unique_by=_name_of_field, min_size=1))
    return {column.name: draw(scalars(column)) for column in columns}


@st.composite
def documents(draw: st.DrawFn, schema: Schema, doc_id: str) -> Document:
    filled_fields = draw(st.lists(st.sampled_from(schema.fields), unique_by=_name_of_field))
    text = " ".join(draw(st.lists(strings, max_size=6)))
    boundary = draw(st.integers(0, len(text)))
    return Document(
        doc_id=DocId(doc_id),
        title=draw(st.one_of(st.just(""), strings)),
        text=text,
        values={field.name: draw(values(field)) for field in filled_fields},
        readers=frozenset(map(Subject, draw(st.lists(st.sampled_from(SUBJECTS), max_size=2)))),
        passages=(Passage(start=0, end=boundary, page=1), Passage(start=boundary, end=len(text))),
    )


doc_ids = st.one_of(st.integers(0, 40).map(lambda n: f"d{n}"), storable_strings.map(lambda text: f"é/{text}#1"))


@st.composite
def corpora(draw: st.DrawFn, schema: Schema, max_documents: int = 25) -> list[Document]:
    """Lists of documents with distinct ids."""
    ids = draw(st.lists(doc_ids, unique=True, max_size=max_documents))
    return [draw(documents(schema, doc_id)) for doc_id in ids]


_TEXTUAL = [ComparisonOperator.EQ, ComparisonOperator.IN, ComparisonOperator.CONTAINS]
_ORDERED = [
    ComparisonOperator.EQ,
    ComparisonOperator.IN,
    ComparisonOperator.GT,
    ComparisonOperator.GTE,
    ComparisonOperator.LT,
    ComparisonOperator.LTE,
    ComparisonOperator.BETWEEN,
]
_OPS = {
    FieldType.NUMBER: _ORDERED,
    FieldType.MONEY: _ORDERED,
    FieldType.DATE: _ORDERED,
    FieldType.CATEGORY: _TEXTUAL,
    FieldType.TEXT: _TEXTUAL,
    FieldType.LIST: [ComparisonOperator.HAS, ComparisonOperator.EQ, ComparisonOperator.IN, ComparisonOperator.CONTAINS],
    FieldType.FLAG: [ComparisonOperator.EQ],
    FieldType.ROWS: [ComparisonOperator.CONTAINS],
}


@st.composite
def comparisons(draw: st.DrawFn, field: SchemaField) -> ComparisonCondition:
    op = draw(st.sampled_from(_OPS[field.type]))
    if op is ComparisonOperator.BETWEEN:
        value: Scalar | tuple[Scalar, ...] = (draw(scalars(field)), draw(scalars(field)))
    elif op is ComparisonOperator.IN:
        value = tuple(draw(st.lists(scalars(field), max_size=3)))
    else:
        value = draw(scalars(field))
    return ComparisonCondition(field=field.name, op=op, value=value, words=draw(st.sampled_from(["", "in words"])))


@st.composite
def reserved_comparisons(draw: st.DrawFn) -> ComparisonCondition:
    name = draw(st.sampled_from([TEXT_FIELD, TEXT_FIELD, TITLE_FIELD, DOC_ID_FIELD]))
    if name == DOC_ID_FIELD:
        return ComparisonCondition(
            field=name, op=ComparisonOperator.IN, value=tuple(draw(st.lists(doc_ids, max_size=3)))
        )
    return ComparisonCondition(field=name, op=ComparisonOperator.CONTAINS, value=draw(strings))


def _compound_conditions(inner: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
    members = st.lists(inner, max_size=3).map(tuple)
    return st.one_of(members.map(AndCondition), members.map(OrCondition), inner.map(NotCondition))


def _leaf_conditions(field: SchemaField) -> st.SearchStrategy[Condition]:
    leaf: st.SearchStrategy[Condition] = comparisons(field) | st.just(MissingCondition(field=field.name))
    if field.type is not FieldType.ROWS:
        return leaf
    row_leaf = st.builds(RowCondition, rows_field=st.just(field.name), condition=row_conditions(field))
    column_comparisons = st.sampled_from(field.columns).flatmap(comparisons)
    dotted_comparisons = column_comparisons.map(
        lambda comparison: ComparisonCondition(
            field=FieldName(f"{field.name}.{comparison.field}"), op=comparison.op, value=comparison.value
        )
    )
    return st.one_of(leaf, row_leaf, dotted_comparisons)


def row_conditions(rows_field: SchemaField, max_leaves: int = 4) -> st.SearchStrategy[Condition]:
    """Conditions on the columns of one row."""
    return st.recursive(_column_conditions(rows_field), _compound_conditions, max_leaves=max_leaves)


def _column_conditions(rows_field: SchemaField) -> st.SearchStrategy[Condition]:
    return st.one_of([*map(_leaf_conditions, rows_field.columns), *field_comparisons(rows_field.columns)])


def field_comparisons(fields: Sequence[SchemaField]) -> list[st.SearchStrategy[Condition]]:
    """Comparisons of each pair of fields that can be compared; a field may stand beside itself."""
    operators = [ComparisonOperator.EQ, ComparisonOperator.GT, ComparisonOperator.GTE, ComparisonOperator.LT]
    ordered = (FieldType.NUMBER, FieldType.MONEY, FieldType.DATE)
    return [
        st.builds(
            FieldComparisonCondition,
            field=st.just(left.name),
            op=st.sampled_from([*operators, ComparisonOperator.LTE]),
            other_field=st.just(right.name),
            offset=st.sampled_from([0.0, 0.0, 1.0, -30.0, 0.5]),
        )
        for left in fields
        for right in fields
        if left.type is right.type
        and left.type in ordered
        and left.unit == right.unit
        and not have_different_currencies(left, right)
    ]


def conditions(schema: Schema, max_leaves: int = 6) -> st.SearchStrategy[Condition]:
    """Conditions that are valid for the schema, with all operators, rows, reserved fields and nesting."""
    leaves = st.one_of(reserved_comparisons(), *map(_leaf_conditions, schema.fields), *field_comparisons(schema.fields))
    return st.recursive(leaves, _compound_conditions, max_leaves=max_leaves)


@st.composite
def scopes(draw: st.DrawFn, buckets: Sequence[str]) -> Scope:
    """Scopes with all of the buckets and some of the subjects."""
    return Scope(
        tenant=TENANT,
        buckets=frozenset(map(BucketId, buckets)),
        subjects=frozenset(map(Subject, draw(st.lists(st.sampled_from(SUBJECTS), max_size=3)))),
        ignores_readers=draw(st.sampled_from([False, False, True])),
    )


_ORDERED_TYPES = (FieldType.NUMBER, FieldType.MONEY, FieldType.DATE)


@st.composite
def semi_joins(draw: st.DrawFn, schema: Schema, inner_schemas: Sequence[Schema], depth: int = 2) -> SemiJoinCondition:
    """Semi-joins of documents of `schema`, or of its rows, with the buckets of `inner_schemas`.

    They are of any kind, and `depth` deep at most.
    """
    inner = draw(st.sampled_from(inner_schemas))
    ordering = [field.name for field in inner.fields if field.type not in (FieldType.LIST, FieldType.ROWS)]
    order_by = draw(st.none() | st.sampled_from(ordering)) if ordering else None
    condition = draw(conditions(inner, max_leaves=2))
    if depth > 1 and draw(st.booleans()):
        condition = AndCondition((condition, draw(placed_semi_joins(inner, inner_schemas, depth - 1))))
    key_rows, key_schema = draw(st.sampled_from([(None, inner), *_joinable_rows_of(inner)]))
    if key_rows is not None:
        condition = draw(_conditions_on_key_rows(key_rows, key_schema, condition, inner_schemas, depth - 1))
        condition = condition if _says_which_rows_count(condition, key_rows.name, inner) else AndCondition()
    name = draw(st.sampled_from(_join_fields_of(schema)))
    has_order = name in schema.by_name and schema.by_name[name].type in _ORDERED_TYPES
    op = (
        draw(st.sampled_from([ComparisonOperator.EQ, *sorted(ORDER_OPERATORS)])) if has_order else ComparisonOperator.EQ
    )
    return SemiJoinCondition(
        field=name,
        bucket=inner.bucket,
        key=draw(st.sampled_from(_join_fields_of(key_schema))),
        condition=draw(st.sampled_from([AndCondition(), condition])),
        key_rows=None if key_rows is None else key_rows.name,
        order_by=order_by,
        is_descending=draw(st.booleans()) if order_by else True,
        limit=draw(st.integers(1, 3)) if order_by else 1,
        min_count=draw(st.sampled_from([1, 1, 2, 3])) if op is ComparisonOperator.EQ else 1,
        op=op,
        words=draw(st.sampled_from(["", "in words"])),
    )


@st.composite
def _conditions_on_key_rows(
    draw: st.DrawFn,
    key_rows: SchemaField,
    row_schema: Schema,
    condition: Condition,
    inner_schemas: Sequence[Schema],
    depth: int,
) -> Condition:
    """The condition, or a conjunction, negation or disjunction with a condition on the rows of a key."""
    in_rows = row_conditions(key_rows, max_leaves=3)
    if depth > 0:
        in_rows |= semi_joins(row_schema, inner_schemas, depth)
    first, second = (RowCondition(rows_field=key_rows.name, condition=draw(in_rows)) for _ in range(2))
    others = [first, OrCondition((first, second)), NotCondition(first), AndCondition((first, NotCondition(second)))]
    return draw(st.sampled_from([condition, *others, *(AndCondition((condition, other)) for other in others)]))


def _says_which_rows_count(condition: Condition, rows_field: FieldName, schema: Schema) -> bool:
    bound = bind_to_schema(replace_semi_joins(condition, lambda semi_join, rows: AndCondition()), schema)
    try:
        row_condition_of(bound, rows_field)
    except InvalidCondition:
        return False
    return True


def _joinable_rows_of(schema: Schema) -> list[tuple[SchemaField, Schema]]:
    """The rows fields with a column that can be compared, and the schema of their rows."""
    row_schemas = [
        (field, Schema(bucket=schema.bucket, fields=field.columns, is_row_schema=True))
        for field in schema.fields
        if field.type is FieldType.ROWS
    ]
    return [(field, row_schema) for field, row_schema in row_schemas if _join_fields_of(row_schema)]


def _join_fields_of(schema: Schema) -> list[FieldName]:
    names = [field.name for field in schema.fields if field.type not in (FieldType.FLAG, FieldType.ROWS)]
    return names if schema.is_row_schema else [TITLE_FIELD, DOC_ID_FIELD, *names]


@st.composite
def placed_semi_joins(draw: st.DrawFn, schema: Schema, inner_schemas: Sequence[Schema], depth: int = 2) -> Condition:
    """Semi-joins of a field of the documents, or of a column in one row with other conditions on that row."""
    joinable_rows = _joinable_rows_of(schema)
    if not joinable_rows or draw(st.booleans()):
        return draw(semi_joins(schema, inner_schemas, depth))
    rows_field, row_schema = draw(st.sampled_from(joinable_rows))
    joins: st.SearchStrategy[Condition] = semi_joins(row_schema, inner_schemas, depth)
    in_rows = st.recursive(joins | _column_conditions(rows_field), _compound_conditions, max_leaves=3)
    return RowCondition(rows_field=rows_field.name, condition=draw(joins | in_rows))


def joined_conditions(schema: Schema, inner_schemas: Sequence[Schema]) -> st.SearchStrategy[Condition]:
    """Conditions valid for the schema with semi-joins between its other conditions."""
    joins: st.SearchStrategy[Condition] = placed_semi_joins(schema, inner_schemas)
    leaves = st.one_of(joins, joins, conditions(schema, 2))
    return st.recursive(leaves, _compound_conditions, max_leaves=4)
