"""Laws of the kernel that hold for every value: round trips, refinements, equality, the fold, the true form."""

import json
import random
from itertools import pairwise
from pathlib import Path
from typing import assert_never

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from storage.analysis import analyser_for
from storage.search import codec
from storage.search.cells import period_around, periods_of, ranges_of
from storage.search.conditions import All, Any, Condition, InRow, Missing, Not, all_of, conjuncts, fields_of
from storage.search.documents import Document, Row
from storage.search.errors import InvalidSchema, UnreadableJson
from storage.search.fit import fitted, still_fitting
from storage.search.ids import BucketId, DocId, LegId
from storage.search.naive import evaluate
from storage.search.normal import AllOf, AnyOf, Leaf, RowLeaf, TrueForm, bound, true_form
from storage.search.plan import (
    Clause,
    Combine,
    Compute,
    FindPassages,
    Function,
    Group,
    Leg,
    ListDocuments,
    Period,
    Plan,
    ReadFields,
    Search,
    Summarise,
    Wanted,
)
from storage.search.refinement import (
    Action,
    AddBucket,
    AddFilter,
    ChooseDocument,
    ContinuePrivately,
    CorrectWord,
    DropFilter,
    DropWord,
    ExportAll,
    JustAnswer,
    OnlyBucket,
    OnlyMissing,
    OpenTail,
    Refinement,
    SearchByMeaning,
    SearchWeb,
    StartOver,
    TakeInMissing,
    TakeReading,
    UseNearest,
    apply,
)
from storage.search.schema import Schema, SchemaOrder
from storage.search.text import fold
from tests.builders import a_receipt_schema
from tests.strategies import conditions, days, documents, numbers, schemas, strings

GOLDEN = Path(__file__).parents[2] / "golden" / "kernel"
RECEIPT_SCHEMA = a_receipt_schema()
lawful = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])

_names = st.sampled_from([one.name for one in RECEIPT_SCHEMA.fields])
_buckets = st.sampled_from([BucketId("receipts"), BucketId("b 2"), BucketId("ü")])
_conditions = conditions(RECEIPT_SCHEMA, most=4)
_clauses = st.builds(Clause, bucket=_buckets, condition=_conditions, required=st.lists(strings, max_size=2).map(tuple))
_searches = st.builds(
    Search, clauses=st.lists(_clauses, max_size=3, unique_by=lambda one: one.bucket).map(tuple), ranking=strings
)
_orders = st.none() | st.builds(SchemaOrder, field=_names, descending=st.booleans())
_limits = st.none() | st.integers(1, 100)
_wanted: st.SearchStrategy[Wanted] = st.one_of(
    st.just(FindPassages()),
    st.just(Summarise()),
    st.builds(ReadFields, fields=st.lists(st.tuples(_buckets, _names), max_size=2).map(tuple)),
    st.builds(ListDocuments, order=_orders, limit=_limits, skip=st.integers(0, 30)),
    st.builds(
        Compute,
        functions=st.lists(st.sampled_from(Function), max_size=3).map(tuple),
        field=st.none() | _names,
        group=st.none() | st.builds(Group, field=_names, period=st.none() | st.sampled_from(Period)),
        limit=_limits,
        descending=st.booleans(),
        whole=st.none() | _searches,
    ),
)
_legs = st.builds(
    Leg,
    id=st.sampled_from(["a", "b", "c"]).map(LegId),
    question=strings,
    search=_searches,
    wanted=_wanted,
    probes=st.lists(strings, max_size=2).map(tuple),
)
_plans = st.builds(
    Plan,
    question=strings,
    legs=st.lists(_legs, min_size=1, max_size=2, unique_by=lambda one: one.id).map(tuple),
    combine=st.sampled_from(Combine),
    assumptions=st.lists(strings, max_size=2).map(tuple),
)
_maybe_bucket = st.none() | _buckets
_refinements: st.SearchStrategy[Refinement] = st.one_of(
    st.builds(AddFilter, condition=_conditions, bucket=_maybe_bucket),
    st.builds(OpenTail, condition=_conditions, bucket=_maybe_bucket),
    st.builds(OnlyMissing, field=_names, bucket=_maybe_bucket),
    st.builds(TakeInMissing, condition=_conditions, field=_names, bucket=_buckets),
    st.builds(DropFilter, condition=_conditions, bucket=_maybe_bucket),
    st.builds(DropWord, word=strings, bucket=_maybe_bucket),
    st.builds(UseNearest, old=_conditions, new=_conditions, bucket=_buckets),
    st.builds(CorrectWord, old=strings, new=strings, bucket=_maybe_bucket),
    st.builds(AddBucket, clause=_clauses),
    st.builds(OnlyBucket, bucket=_buckets),
    st.builds(ChooseDocument, condition=_conditions, bucket=_buckets),
    st.builds(TakeReading, search=_searches),
)
_actions: st.SearchStrategy[Action] = st.sampled_from(
    [ExportAll(), SearchWeb(), JustAnswer(), ContinuePrivately(), SearchByMeaning(), StartOver()]
)


def _through_text(data: object) -> object:
    return json.loads(json.dumps(data))


# -- JSON


@lawful
@given(_conditions)
def test_a_condition_survives_json(condition: Condition) -> None:
    read = codec.condition_from_json(_through_text(codec.condition_to_json(condition)))

    assert read == condition
    assert repr(read) == repr(condition)  # `words`, which equality leaves out, and the types of values


@lawful
@given(_searches)
def test_a_search_survives_json(search: Search) -> None:
    assert codec.search_from_json(_through_text(codec.search_to_json(search))) == search


@lawful
@given(_plans)
def test_a_plan_survives_json(plan: Plan) -> None:
    assert codec.plan_from_json(_through_text(codec.plan_to_json(plan))) == plan


@lawful
@given(_refinements | _actions)
def test_what_a_button_does_survives_json(chosen: Refinement | Action) -> None:
    assert codec.choice_from_json(_through_text(codec.choice_to_json(chosen))) == chosen


@lawful
@given(schemas())
def test_a_schema_survives_json(schema: Schema) -> None:
    assert codec.schema_from_json(_through_text(codec.schema_to_json(schema))) == schema


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["field", "op", "value", "row", "all"]), inner)
    ),
)


@lawful
@given(_json)
def test_json_of_no_known_shape_is_unreadable(data: object) -> None:
    for read in (codec.condition_from_json, codec.search_from_json, codec.plan_from_json, codec.choice_from_json):
        try:
            read(data)
        except UnreadableJson:
            continue


@pytest.mark.parametrize("read", [codec.plan_from_json, codec.choice_from_json, codec.schema_from_json])
def test_json_of_a_later_version_is_unreadable(read: object) -> None:
    assert callable(read)
    with pytest.raises(UnreadableJson, match="version 2"):
        read({"version": 2})


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.json")), ids=lambda path: path.stem)
def test_json_of_earlier_releases_stays_readable_and_is_written_alike(path: Path) -> None:
    kind = path.stem.partition("-")[0]
    data = json.loads(path.read_text(encoding="utf-8"))

    written = {
        "condition": lambda: codec.condition_to_json(codec.condition_from_json(data)),
        "search": lambda: codec.search_to_json(codec.search_from_json(data)),
        "plan": lambda: codec.plan_to_json(codec.plan_from_json(data)),
        "choice": lambda: codec.choice_to_json(codec.choice_from_json(data)),
        "schema": lambda: codec.schema_to_json(codec.schema_from_json(data)),
    }[kind]()

    assert _through_text(written) == data


def test_there_is_golden_json_of_each_kind() -> None:
    kinds = {path.stem.partition("-")[0] for path in GOLDEN.glob("*.json")}

    assert kinds == {"condition", "search", "plan", "choice", "schema"}


# -- refinements


@lawful
@given(_refinements, _searches)
def test_applying_a_refinement_twice_is_applying_it_once(refinement: Refinement, search: Search) -> None:
    once = apply(refinement, search)

    assert apply(refinement, once) == once


@lawful
@given(_searches, st.data())
def test_a_refinement_of_what_is_there_can_be_applied_twice_too(search: Search, data: st.DataObject) -> None:
    there = [one for clause in search.clauses for one in conjuncts(clause.condition)]
    words = [word for clause in search.clauses for word in clause.required]
    kinds = st.one_of(
        st.builds(DropFilter, condition=st.sampled_from(there or [All()])),
        st.builds(TakeInMissing, condition=st.sampled_from(there or [All()]), field=_names, bucket=_buckets),
        st.builds(UseNearest, old=st.sampled_from(there or [All()]), new=_conditions, bucket=_buckets),
        st.builds(DropWord, word=st.sampled_from(words or [""])),
        st.builds(CorrectWord, old=st.sampled_from(words or [""]), new=strings),
    )
    refinement = data.draw(kinds)
    once = apply(refinement, search)

    assert apply(refinement, once) == once


# -- equality


@lawful
@given(st.lists(_conditions, max_size=4), st.randoms(use_true_random=False))
def test_order_and_repeats_of_members_do_not_matter(members: list[Condition], shuffled: random.Random) -> None:
    others = [*members, *members[:2]]
    shuffled.shuffle(others)

    for kind in (All, Any):
        one, other = kind(tuple(members)), kind(tuple(others))
        assert one == other
        assert hash(one) == hash(other)
        assert kind((one,)) == one
    assert all_of(*members) == all_of(*others)
    assert All((members[0],)) != Any((members[0],)) if members else All() != Any()


@lawful
@given(_searches)
def test_the_order_of_clauses_and_words_does_not_matter(search: Search) -> None:
    turned = [
        Clause(bucket=one.bucket, condition=one.condition, required=(*reversed(one.required), *one.required))
        for one in reversed(search.clauses)
    ]

    assert search.with_clauses(*turned) == search
    assert hash(search.with_clauses(*turned)) == hash(search)


@lawful
@given(_conditions)
def test_the_fields_of_a_condition_are_those_it_binds_to(condition: Condition) -> None:
    wanted = {name.partition(".")[0] for name in fields_of(condition)}

    assert {str(name) for name in fields_of(bound(condition, RECEIPT_SCHEMA))} == wanted


@lawful
@given(_conditions)
def test_binding_twice_is_binding_once(condition: Condition) -> None:
    once = bound(condition, RECEIPT_SCHEMA)

    assert bound(once, RECEIPT_SCHEMA) == once


# -- strings, numbers, cells


@lawful
@given(st.text() | strings)
def test_the_fold_is_idempotent(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@lawful
@given(st.text() | strings, st.sampled_from(["en", "de", "fr", "es", ""]))
def test_terms_are_letters_and_digits_at_their_places(text: str, language: str) -> None:
    analyser = analyser_for(language)
    terms, words = analyser.terms(text), analyser.words(text)

    assert [(one.start, one.end) for one in terms] == [(one.start, one.end) for one in words]
    assert all(one.text and one.text.isalnum() for one in (*terms, *words))
    assert all(0 <= one.start < one.end <= len(text) for one in terms)
    assert [one.start for one in terms] == sorted(one.start for one in terms)


@lawful
@given(st.text() | strings, st.sampled_from(["en", "de", ""]))
def test_what_is_indexed_is_the_terms_and_words_without_their_places(text: str, language: str) -> None:
    analyser = analyser_for(language)
    indexed = analyser.unplaced(text)

    assert indexed.terms == " ".join([one.text for one in analyser.terms(text)])
    assert indexed.words == {one.text for one in analyser.words(text)}


@lawful
@given(st.text("ab1 -é\u0301中½", max_size=12))
def test_a_text_is_split_where_a_term_goes_across(text: str) -> None:
    analyser = analyser_for("")
    terms = analyser.terms(text)

    across = [any(one.start < at < one.end for one in terms) for at in range(len(text) + 1)]

    assert [analyser.is_split(text, at) for at in range(len(text) + 1)] == across


@lawful
@given(st.dictionaries(numbers.map(lambda n: n + 0.0), st.integers(1, 50), min_size=1), st.integers(1, 9))
def test_ranges_are_disjoint_non_empty_and_cover_every_value(counted: dict[float, int], parts: int) -> None:
    ranges = ranges_of(sorted(counted.items()), parts)

    assert 1 <= len(ranges) <= parts
    assert ranges[0].low <= min(counted)
    assert ranges[-1].high is None
    for one, after in zip(ranges, [*ranges[1:], None], strict=True):
        assert one.high == (after.low if after else None)
        within = [n for value, n in counted.items() if value >= one.low and (one.high is None or value < one.high)]
        assert one.count == sum(within) > 0


@lawful
@given(st.dictionaries(days, st.integers(1, 50), min_size=1), st.integers(1, 9))
def test_periods_are_disjoint_non_empty_and_cover_every_day(counted: dict[str, int], parts: int) -> None:
    periods = periods_of(sorted(counted.items()), parts)

    assert 1 <= len(periods) <= parts
    assert all(one.last < after.first for one, after in pairwise(periods))
    for one in periods:
        assert one.count == sum(n for day, n in counted.items() if one.first <= day <= one.last) > 0
    assert sum(one.count for one in periods) == sum(counted.values())


@lawful
@given(days, st.sampled_from(Period))
def test_a_day_lies_in_its_period(day: str, period: Period) -> None:
    first, last = period_around(day, period)

    assert first <= day <= last
    assert period_around(first, period) == period_around(last, period) == (first, last)


# -- what a condition means


@lawful
@given(st.data())
def test_the_true_form_is_true_where_the_condition_is(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    document = data.draw(documents(schema, "d1"))
    condition = bound(data.draw(conditions(schema)), schema)

    meant = evaluate(condition, document, schema, analyser_for("en"))

    assert _holds(true_form(condition), document, schema) == (meant is True)
    assert _holds(true_form(condition, negated=True), document, schema) == (meant is False)


def _holds(form: TrueForm, document: Document, schema: Schema) -> bool:
    """The true form read as its docstrings say it, without a third value."""
    match form:
        case AllOf(members):
            return all(_holds(member, document, schema) for member in members)
        case AnyOf(members):
            return any(_holds(member, document, schema) for member in members)
        case Leaf(condition=condition, negated=negated):
            value = evaluate(condition, document, schema, analyser_for("en"))
            return value is not None and value != negated
        case RowLeaf(row=row, form=inner, negated=negated):
            rows = document.values.get(row, ())
            assert isinstance(rows, tuple)
            columns = Schema(bucket=schema.bucket, fields=schema.by_name[row].columns, of_rows=True)
            found = any(_row_holds(inner, one, columns) for one in rows if not isinstance(one, str))
            return found != negated
        case _:
            assert_never(form)


def _row_holds(form: TrueForm, row: Row, columns: Schema) -> bool:
    """A row seen as a document of its columns, none of which has a reserved name here."""
    return _holds(form, Document(doc_id=DocId("row"), title="", text="", values=dict(row)), columns)


@lawful
@given(st.data())
def test_what_fits_a_schema_goes_on_fitting(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    document = data.draw(documents(schema, "d1"))
    values = fitted(document, schema)

    assert values == document.values
    assert still_fitting({str(name): value for name, value in values.items()}, schema) == values
    assert still_fitting(json.loads(json.dumps(values)), schema) == values


def test_a_schema_ordered_by_a_list_cannot_be() -> None:
    fields = RECEIPT_SCHEMA.fields

    with pytest.raises(InvalidSchema, match="order"):
        Schema(bucket=RECEIPT_SCHEMA.bucket, fields=fields, order=SchemaOrder(field=fields[5].name))


def test_a_missing_column_and_a_row_within_rows_are_never_unknown() -> None:
    nothing = Document(doc_id=DocId("d1"), title="", text="")
    inside = InRow(row=RECEIPT_SCHEMA.fields[6].name, condition=Missing(field=RECEIPT_SCHEMA.fields[6].columns[0].name))

    assert evaluate(bound(inside, RECEIPT_SCHEMA), nothing, RECEIPT_SCHEMA, analyser_for("en")) is False
    assert evaluate(bound(Not(inside), RECEIPT_SCHEMA), nothing, RECEIPT_SCHEMA, analyser_for("en")) is True
