"""Of several conditions, those that another says more tightly are not told."""

from hypothesis import given
from hypothesis import strategies as st

from agent.bounds import without_implied
from storage.analysis import analyser_for
from storage.search.conditions import All, Compare, Condition, Missing, Op
from storage.search.documents import Document
from storage.search.ids import BucketId, DocId, FieldName
from storage.search.naive import evaluate
from storage.search.schema import Field, FieldType, Schema

TOTAL, DATE = FieldName("total"), FieldName("date")


def total(op: Op, value: float | tuple[float, ...]) -> Compare:
    return Compare(field=TOTAL, op=op, value=value)


def day(first: str, last: str) -> Compare:
    return Compare(field=DATE, op=Op.BETWEEN, value=(first, last))


def test_the_tighter_of_two_bounds_is_told() -> None:
    above = [total(Op.GT, 5.0), total(Op.GTE, 8.0), total(Op.LT, 11.0), total(Op.LTE, 11.0)]

    assert without_implied(above) == [total(Op.GTE, 8.0), total(Op.LT, 11.0)]


def test_a_month_is_told_without_its_year() -> None:
    year, march = day("2024-01-01", "2024-12-31"), day("2024-03-01", "2024-03-31")

    assert without_implied([year, march]) == [march]


def test_other_fields_and_other_conditions_stay() -> None:
    others: list[Condition] = [
        total(Op.GT, 5.0),
        total(Op.EQ, 5.0),
        day("2024-01-01", "2024-12-31"),
        Missing(field=DATE),
    ]

    assert without_implied(others) == others


def fulfils(condition: Condition, value: float) -> bool | None:
    document = Document(doc_id=DocId("one"), title="", text="", values={TOTAL: value})
    schema = Schema(bucket=BucketId("receipts"), fields=(Field(name=TOTAL, type=FieldType.NUMBER),))
    return evaluate(condition, document, schema, analyser_for(""))


def bound(op: Op, low: float, more: float) -> Compare:
    return total(op, (low, low + more) if op is Op.BETWEEN else low)


bounds = st.builds(
    bound,
    st.sampled_from([Op.GT, Op.GTE, Op.LT, Op.LTE, Op.BETWEEN]),
    st.integers(0, 6).map(float),
    st.integers(0, 3).map(float),
)


@given(st.lists(bounds, min_size=1, max_size=4), st.integers(-1, 10).map(float))
def test_what_is_told_means_the_same(conditions: list[Condition], value: float) -> None:
    told = without_implied(conditions)

    assert told
    assert set(told) <= set(conditions)
    assert fulfils(All(tuple(told)), value) is fulfils(All(tuple(conditions)), value)
