"""What Hypothesis draws: schemas, documents of a schema, conditions valid for it, scopes.

Strings come from small pools as often as from all of Unicode, so that conditions and documents meet.
"""

from collections.abc import Sequence

from hypothesis import strategies as st

from storage.search.conditions import DOC_ID, TEXT, TITLE, All, Any, Compare, Condition, InRow, Missing, Not, Op, Scalar
from storage.search.documents import Document, Passage, Row, Value
from storage.search.ids import BucketId, DocId, FieldName, Subject
from storage.search.schema import Field, FieldType, Schema, SchemaOrder
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

storable = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
strings = st.one_of(
    st.sampled_from(WORDS),
    st.sampled_from(WORDS),
    st.lists(st.sampled_from(WORDS), min_size=2, max_size=3).map(" ".join),
    storable,
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
def fields(draw: st.DrawFn, name: str, *, column: bool = False) -> Field:
    kind = draw(st.sampled_from(_COLUMN_TYPES if column else tuple(FieldType)))
    names = (
        draw(st.lists(st.sampled_from(NAMES), unique=True, min_size=1, max_size=4)) if kind is FieldType.ROWS else []
    )
    return Field(
        name=FieldName(name),
        type=kind,
        unit=draw(st.sampled_from(["", "kg"])) if kind is FieldType.NUMBER else "",
        currency=draw(st.sampled_from(["", "EUR", "JPY"])) if kind is FieldType.MONEY else "",
        title=draw(st.sampled_from(["", "Título"])),
        synonyms=tuple(draw(st.lists(st.sampled_from(WORDS[:6]), max_size=2))),
        facet=draw(st.booleans()),
        shared=draw(st.booleans()),
        columns=tuple(draw(fields(one, column=True)) for one in names),
    )


@st.composite
def schemas(draw: st.DrawFn, bucket: str = "drawn") -> Schema:
    names = draw(st.lists(st.sampled_from(NAMES), unique=True, min_size=1, max_size=8))
    drawn = tuple(draw(fields(name)) for name in names)
    single = [one.name for one in drawn if one.type not in (FieldType.LIST, FieldType.ROWS)]
    orders = st.builds(SchemaOrder, field=st.sampled_from(single), descending=st.booleans()) if single else st.none()
    order = draw(st.none() | orders)
    language = draw(st.sampled_from(["en", "de", "fr", "es", "", "pl"]))
    return Schema(bucket=BucketId(bucket), fields=drawn, language=language, order=order)


def _name(one: Field) -> FieldName:
    return one.name


def scalars(one: Field) -> st.SearchStrategy[Scalar]:
    """Values of a field, or of a member of a list."""
    match one.type:
        case FieldType.NUMBER | FieldType.MONEY:
            return numbers
        case FieldType.DATE:
            return days
        case FieldType.FLAG:
            return st.booleans()
        case FieldType.CATEGORY | FieldType.TEXT | FieldType.LIST | FieldType.ROWS:
            return strings


def values(one: Field) -> st.SearchStrategy[Value]:
    match one.type:
        case FieldType.LIST:
            return st.lists(strings, min_size=1, max_size=3).map(tuple)
        case FieldType.ROWS:
            return st.lists(rows(one), min_size=1, max_size=3).map(tuple)
        case _:
            return scalars(one)


@st.composite
def rows(draw: st.DrawFn, of: Field) -> Row:
    kept = draw(st.lists(st.sampled_from(of.columns), unique_by=_name, min_size=1))
    return {one.name: draw(scalars(one)) for one in kept}


@st.composite
def documents(draw: st.DrawFn, schema: Schema, doc_id: str) -> Document:
    held = draw(st.lists(st.sampled_from(schema.fields), unique_by=_name))
    text = " ".join(draw(st.lists(strings, max_size=6)))
    cut = draw(st.integers(0, len(text)))
    return Document(
        doc_id=DocId(doc_id),
        title=draw(st.one_of(st.just(""), strings)),
        text=text,
        values={one.name: draw(values(one)) for one in held},
        readers=frozenset(map(Subject, draw(st.lists(st.sampled_from(SUBJECTS), max_size=2)))),
        passages=(Passage(start=0, end=cut, page=1), Passage(start=cut, end=len(text))),
    )


doc_ids = st.one_of(st.integers(0, 40).map(lambda n: f"d{n}"), storable.map(lambda text: f"é/{text}#1"))


@st.composite
def corpora(draw: st.DrawFn, schema: Schema, most: int = 25) -> list[Document]:
    """Documents of unique ids."""
    ids = draw(st.lists(doc_ids, unique=True, max_size=most))
    return [draw(documents(schema, doc_id)) for doc_id in ids]


_TEXTUAL = [Op.EQ, Op.IN, Op.CONTAINS]
_ORDERED = [Op.EQ, Op.IN, Op.GT, Op.GTE, Op.LT, Op.LTE, Op.BETWEEN]
_OPS = {
    FieldType.NUMBER: _ORDERED,
    FieldType.MONEY: _ORDERED,
    FieldType.DATE: _ORDERED,
    FieldType.CATEGORY: _TEXTUAL,
    FieldType.TEXT: _TEXTUAL,
    FieldType.LIST: [Op.HAS, Op.EQ, Op.IN, Op.CONTAINS],
    FieldType.FLAG: [Op.EQ],
    FieldType.ROWS: [Op.CONTAINS],
}


@st.composite
def comparisons(draw: st.DrawFn, one: Field) -> Compare:
    op = draw(st.sampled_from(_OPS[one.type]))
    if op is Op.BETWEEN:
        value: Scalar | tuple[Scalar, ...] = (draw(scalars(one)), draw(scalars(one)))
    elif op is Op.IN:
        value = tuple(draw(st.lists(scalars(one), max_size=3)))
    else:
        value = draw(scalars(one))
    return Compare(field=one.name, op=op, value=value, words=draw(st.sampled_from(["", "in words"])))


@st.composite
def reserved(draw: st.DrawFn) -> Compare:
    name = draw(st.sampled_from([TEXT, TEXT, TITLE, DOC_ID]))
    if name == DOC_ID:
        return Compare(field=name, op=Op.IN, value=tuple(draw(st.lists(doc_ids, max_size=3))))
    return Compare(field=name, op=Op.CONTAINS, value=draw(strings))


def _combined(inner: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
    several = st.lists(inner, max_size=3).map(tuple)
    return st.one_of(several.map(All), several.map(Any), inner.map(Not))


def _leaf(one: Field) -> st.SearchStrategy[Condition]:
    leaf: st.SearchStrategy[Condition] = comparisons(one) | st.just(Missing(field=one.name))
    if one.type is not FieldType.ROWS:
        return leaf
    inside: st.SearchStrategy[Condition] = st.recursive(
        st.one_of([_leaf(c) for c in one.columns]), _combined, max_leaves=4
    )
    in_row = st.builds(InRow, row=st.just(one.name), condition=inside)
    column = st.sampled_from(one.columns).flatmap(comparisons)
    short = column.map(lambda c: Compare(field=FieldName(f"{one.name}.{c.field}"), op=c.op, value=c.value))
    return st.one_of(leaf, in_row, short)


def conditions(schema: Schema, most: int = 6) -> st.SearchStrategy[Condition]:
    """Valid for the schema; with all operators, rows, reserved fields and nesting."""
    leaves = st.one_of(reserved(), *[_leaf(one) for one in schema.fields])
    return st.recursive(leaves, _combined, max_leaves=most)


@st.composite
def scopes(draw: st.DrawFn, buckets: Sequence[str]) -> Scope:
    """Over all the buckets, with some of the subjects."""
    return Scope(
        tenant=TENANT,
        buckets=frozenset(map(BucketId, buckets)),
        subjects=frozenset(map(Subject, draw(st.lists(st.sampled_from(SUBJECTS), max_size=3)))),
        all_readers=draw(st.sampled_from([False, False, True])),
    )
