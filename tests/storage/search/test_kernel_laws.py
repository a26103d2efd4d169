"""Properties of the kernel for all values: round trips, refinements, equality, folding, the normal form."""

import json
import random
from itertools import pairwise
from pathlib import Path
from typing import assert_never

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from storage.search import codec
from storage.search.analyser import fold_text
from storage.search.conditions import (
    AndCondition,
    Condition,
    MissingCondition,
    NotCondition,
    OrCondition,
    RowCondition,
    SemiJoinCondition,
    conjunction_of,
    conjuncts_of,
    fields_of,
    semi_join_depth,
)
from storage.search.documents import Document, FieldValue, RowValues
from storage.search.errors import InvalidSchema, UnreadableJson
from storage.search.evaluation.condition_normal_form import (
    AndNode,
    ConditionNormalForm,
    LeafNode,
    OrNode,
    RowNode,
    bind_to_schema,
    normal_form_of,
    row_schema_of,
)
from storage.search.evaluation.facet_binning import bin_days, bin_numbers, period_containing
from storage.search.evaluation.naive_evaluation import evaluate_condition
from storage.search.evaluation.row_selection import row_matcher_for
from storage.search.evaluation.value_validation import select_fitting_values, validate_values
from storage.search.ids import BucketId, DocId, FieldName, LegId
from storage.search.plan import (
    AggregateFunction,
    AnswerForm,
    CalendarPeriod,
    ChangeOverTime,
    CheckClaims,
    Clause,
    ComputeNumbers,
    FindPassages,
    FindSteps,
    GroupBy,
    Leg,
    LegCombination,
    ListDocuments,
    Plan,
    ReadFields,
    Search,
    SummariseDocuments,
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
    IncludeMissing,
    JustAnswer,
    OnlyBucket,
    OnlyMissing,
    OpenTail,
    Refinement,
    SaveSearch,
    SearchByMeaning,
    SearchWeb,
    StartOver,
    UseForm,
    UseNearest,
    UseReading,
    apply_refinement,
)
from storage.search.schema import FieldType, Schema, SchemaField, SchemaOrder
from storage.text.snowball_analyser import analyser_for
from tests.builders import a_receipt_schema
from tests.strategies import (
    conditions,
    days,
    documents,
    fields,
    numbers,
    placed_semi_joins,
    row_conditions,
    rows,
    schemas,
    strings,
)

GOLDEN = Path(__file__).parents[2] / "golden" / "kernel"
RECEIPT_SCHEMA = a_receipt_schema()
law_settings = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])

_names = st.sampled_from([field.name for field in RECEIPT_SCHEMA.fields])
_buckets = st.sampled_from([BucketId("receipts"), BucketId("b 2"), BucketId("ü")])
_semi_joins: st.SearchStrategy[Condition] = st.deferred(lambda: placed_semi_joins(RECEIPT_SCHEMA, [RECEIPT_SCHEMA]))
_conditions = conditions(RECEIPT_SCHEMA, max_leaves=4) | _semi_joins
_clauses = st.builds(
    Clause, bucket=_buckets, condition=_conditions, required_terms=st.lists(strings, max_size=2).map(tuple)
)
_searches = st.builds(
    Search,
    clauses=st.lists(_clauses, max_size=3, unique_by=lambda clause: clause.bucket).map(tuple),
    ranking_text=strings,
)
_orders = st.none() | st.builds(SchemaOrder, field=_names, descending=st.booleans())
_limits = st.none() | st.integers(1, 100)
_answer_forms: st.SearchStrategy[AnswerForm] = st.one_of(
    st.sampled_from([FindPassages(), CheckClaims()]),
    st.builds(FindSteps, action=st.text(max_size=5), allows_prose=st.booleans()),
    st.builds(
        ChangeOverTime,
        functions=st.tuples(st.sampled_from(AggregateFunction)),
        field=st.none() | _names,
        group=st.builds(GroupBy, field=_names, period=st.none() | st.sampled_from(CalendarPeriod)),
    ),
    st.just(SummariseDocuments()),
    st.builds(ReadFields, fields=st.lists(st.tuples(_buckets, _names), max_size=2).map(tuple)),
    st.builds(ListDocuments, order=_orders, limit=_limits, skip=st.integers(0, 30)),
    st.builds(
        ComputeNumbers,
        functions=st.lists(st.sampled_from(AggregateFunction), max_size=3).map(tuple),
        field=st.none() | _names,
        group=st.none() | st.builds(GroupBy, field=_names, period=st.none() | st.sampled_from(CalendarPeriod)),
        limit=_limits,
        descending=st.booleans(),
        share_base=st.none() | _searches,
        factor=st.none() | _names,
    ),
)
_legs = st.builds(
    Leg,
    id=st.sampled_from(["a", "b", "c"]).map(LegId),
    question=strings,
    search=_searches,
    answer_form=_answer_forms,
    probes=st.lists(strings, max_size=2).map(tuple),
)
_plans = st.builds(
    Plan,
    question=strings,
    legs=st.lists(_legs, min_size=1, max_size=2, unique_by=lambda leg: leg.id).map(tuple),
    combination=st.sampled_from(LegCombination),
    assumptions=st.lists(strings, max_size=2).map(tuple),
    language=st.sampled_from(["en", "de", "fr"]),
)
_maybe_bucket = st.none() | _buckets
_refinements: st.SearchStrategy[Refinement] = st.one_of(
    st.builds(AddFilter, condition=_conditions, bucket=_maybe_bucket),
    st.builds(OpenTail, condition=_conditions, bucket=_maybe_bucket),
    st.builds(OnlyMissing, field=_names, bucket=_maybe_bucket),
    st.builds(IncludeMissing, condition=_conditions, field=_names, bucket=_buckets),
    st.builds(DropFilter, condition=_conditions, bucket=_maybe_bucket),
    st.builds(DropWord, word=strings, bucket=_maybe_bucket),
    st.builds(UseNearest, old=_conditions, new=_conditions, bucket=_buckets),
    st.builds(CorrectWord, old=strings, new=strings, bucket=_maybe_bucket),
    st.builds(AddBucket, clause=_clauses),
    st.builds(OnlyBucket, bucket=_buckets),
    st.builds(ChooseDocument, condition=_conditions, bucket=_buckets),
    st.builds(UseReading, search=_searches),
    st.builds(UseForm, search=_searches, answer_form=_plans.map(lambda plan: plan.legs[0].answer_form)),
)
_actions: st.SearchStrategy[Action] = st.sampled_from(
    [
        ExportAll(),
        SearchWeb(),
        JustAnswer(),
        ContinuePrivately(),
        SearchByMeaning(),
        StartOver(),
        SaveSearch("on change"),
    ]
)


def _json_round_trip(data: object) -> object:
    return json.loads(json.dumps(data))


# -- JSON


@law_settings
@given(_conditions)
def test_a_condition_survives_json(condition: Condition) -> None:
    decoded = codec.condition_from_json(_json_round_trip(codec.condition_to_json(condition)))

    assert decoded == condition
    assert repr(decoded) == repr(condition)  # also `words`, which equality ignores, and the types of values


def test_semi_joins_nest_three_deep_at_most() -> None:
    def nest_condition(inner: Condition) -> SemiJoinCondition:
        name = next(iter(RECEIPT_SCHEMA.by_name))
        return SemiJoinCondition(field=name, bucket=RECEIPT_SCHEMA.bucket, key=name, condition=inner)

    deepest = nest_condition(nest_condition(nest_condition(AndCondition())))
    too_deep = {**codec.condition_to_json(deepest), "condition": codec.condition_to_json(deepest)}

    assert semi_join_depth(NotCondition(deepest)) == 3
    with pytest.raises(ValueError, match="deep"):
        nest_condition(OrCondition((deepest,)))
    with pytest.raises(UnreadableJson):
        codec.condition_from_json(too_deep)


@law_settings
@given(_searches)
def test_a_search_survives_json(search: Search) -> None:
    assert codec.search_from_json(_json_round_trip(codec.search_to_json(search))) == search


@law_settings
@given(_plans)
def test_a_plan_survives_json(plan: Plan) -> None:
    assert codec.plan_from_json(_json_round_trip(codec.plan_to_json(plan))) == plan


@law_settings
@given(_plans)
def test_the_language_of_a_plan_is_stored_only_if_it_is_not_english(plan: Plan) -> None:
    data = codec.plan_to_json(plan)

    assert ("language" in data) == (plan.language != "en")
    assert codec.plan_from_json({key: value for key, value in data.items() if key != "language"}).language == "en"


@law_settings
@given(_refinements | _actions)
def test_a_refinement_or_action_survives_json(chosen: Refinement | Action) -> None:
    assert codec.choice_from_json(_json_round_trip(codec.choice_to_json(chosen))) == chosen


@law_settings
@given(schemas())
def test_a_schema_survives_json(schema: Schema) -> None:
    assert codec.schema_from_json(_json_round_trip(codec.schema_to_json(schema))) == schema


_json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["field", "op", "value", "row", "all"]), inner)
    ),
)


@law_settings
@given(_json_values)
def test_json_of_no_known_shape_is_unreadable(data: object) -> None:
    for decode in (codec.condition_from_json, codec.search_from_json, codec.plan_from_json, codec.choice_from_json):
        try:
            decode(data)
        except UnreadableJson:
            continue


@pytest.mark.parametrize("read", [codec.plan_from_json, codec.choice_from_json, codec.schema_from_json])
def test_json_of_a_later_version_is_unreadable(read: object) -> None:
    assert callable(read)
    with pytest.raises(UnreadableJson, match="version 2"):
        read({"version": 2})


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.json")), ids=lambda path: path.stem)
def test_json_of_earlier_releases_is_readable_and_written_unchanged(path: Path) -> None:
    kind = path.stem.partition("-")[0]
    data = json.loads(path.read_text(encoding="utf-8"))

    written = {
        "condition": lambda: codec.condition_to_json(codec.condition_from_json(data)),
        "search": lambda: codec.search_to_json(codec.search_from_json(data)),
        "plan": lambda: codec.plan_to_json(codec.plan_from_json(data)),
        "choice": lambda: codec.choice_to_json(codec.choice_from_json(data)),
        "schema": lambda: codec.schema_to_json(codec.schema_from_json(data)),
    }[kind]()

    assert _json_round_trip(written) == data


def test_there_is_golden_json_of_each_kind() -> None:
    kinds = {path.stem.partition("-")[0] for path in GOLDEN.glob("*.json")}

    assert kinds == {"condition", "search", "plan", "choice", "schema"}


# -- refinements


@law_settings
@given(_refinements, _searches)
def test_applying_a_refinement_twice_equals_applying_it_once(refinement: Refinement, search: Search) -> None:
    once = apply_refinement(refinement, search)

    assert apply_refinement(refinement, once) == once


@law_settings
@given(_searches, st.data())
def test_a_refinement_of_existing_conditions_can_be_applied_twice(search: Search, data: st.DataObject) -> None:
    existing_conditions = [condition for clause in search.clauses for condition in conjuncts_of(clause.condition)]
    required_terms = [term for clause in search.clauses for term in clause.required_terms]
    refinements = st.one_of(
        st.builds(DropFilter, condition=st.sampled_from(existing_conditions or [AndCondition()])),
        st.builds(
            IncludeMissing,
            condition=st.sampled_from(existing_conditions or [AndCondition()]),
            field=_names,
            bucket=_buckets,
        ),
        st.builds(
            UseNearest, old=st.sampled_from(existing_conditions or [AndCondition()]), new=_conditions, bucket=_buckets
        ),
        st.builds(DropWord, word=st.sampled_from(required_terms or [""])),
        st.builds(CorrectWord, old=st.sampled_from(required_terms or [""]), new=strings),
    )
    refinement = data.draw(refinements)
    once = apply_refinement(refinement, search)

    assert apply_refinement(refinement, once) == once


# -- equality


@law_settings
@given(st.lists(_conditions, max_size=4), st.randoms(use_true_random=False))
def test_the_order_of_members_and_repeated_members_do_not_matter(
    members: list[Condition], shuffled: random.Random
) -> None:
    repeated_members = [*members, *members[:2]]
    shuffled.shuffle(repeated_members)

    for condition_type in (AndCondition, OrCondition):
        first, second = condition_type(tuple(members)), condition_type(tuple(repeated_members))
        assert first == second
        assert hash(first) == hash(second)
        assert condition_type((first,)) == first
    assert conjunction_of(*members) == conjunction_of(*repeated_members)
    assert AndCondition((members[0],)) != OrCondition((members[0],)) if members else AndCondition() != OrCondition()


@law_settings
@given(_searches)
def test_the_order_of_clauses_and_words_does_not_matter(search: Search) -> None:
    reversed_clauses = [
        Clause(
            bucket=clause.bucket,
            condition=clause.condition,
            required_terms=(*reversed(clause.required_terms), *clause.required_terms),
        )
        for clause in reversed(search.clauses)
    ]

    assert search.with_clauses(*reversed_clauses) == search
    assert hash(search.with_clauses(*reversed_clauses)) == hash(search)


@law_settings
@given(_conditions)
def test_binding_a_condition_keeps_its_fields(condition: Condition) -> None:
    expected = {name.partition(".")[0] for name in fields_of(condition)}

    assert {str(name) for name in fields_of(bind_to_schema(condition, RECEIPT_SCHEMA))} == expected


@law_settings
@given(_conditions)
def test_binding_twice_equals_binding_once(condition: Condition) -> None:
    once = bind_to_schema(condition, RECEIPT_SCHEMA)

    assert bind_to_schema(once, RECEIPT_SCHEMA) == once


# -- strings, numbers, facet bins


@law_settings
@given(st.text() | strings)
def test_the_fold_is_idempotent(text: str) -> None:
    assert fold_text(fold_text(text)) == fold_text(text)


@law_settings
@given(st.text() | strings, st.sampled_from(["en", "de", "fr", "es", ""]))
def test_terms_have_letters_and_digits_only_and_ascending_positions(text: str, language: str) -> None:
    analyser = analyser_for(language)
    terms, words = analyser.extract_terms(text), analyser.extract_words(text)

    assert [(term.start, term.end) for term in terms] == [(word.start, word.end) for word in words]
    assert all(term.text and term.text.isalnum() for term in (*terms, *words))
    assert all(0 <= term.start < term.end <= len(text) for term in terms)
    assert [term.start for term in terms] == sorted(term.start for term in terms)


@law_settings
@given(st.text() | strings, st.sampled_from(["en", "de", ""]))
def test_index_terms_are_the_terms_and_words_without_positions(text: str, language: str) -> None:
    analyser = analyser_for(language)
    indexed = analyser.index_terms_of(text)

    assert indexed.joined_terms == " ".join([term.text for term in analyser.extract_terms(text)])
    assert indexed.words == {word.text for word in analyser.extract_words(text)}


@law_settings
@given(st.text("ab1 -é\u0301中½", max_size=12))
def test_a_position_is_inside_a_term_if_a_term_crosses_it(text: str) -> None:
    analyser = analyser_for("")
    terms = analyser.extract_terms(text)

    expected = [any(term.start < position < term.end for term in terms) for position in range(len(text) + 1)]

    assert [analyser.is_inside_term(text, position) for position in range(len(text) + 1)] == expected


@law_settings
@given(st.dictionaries(numbers.map(lambda number: number + 0.0), st.integers(1, 50), min_size=1), st.integers(1, 9))
def test_ranges_are_disjoint_non_empty_and_cover_every_value(counted: dict[float, int], parts: int) -> None:
    ranges = bin_numbers(sorted(counted.items()), parts)

    assert 1 <= len(ranges) <= parts
    assert ranges[0].low <= min(counted)
    assert ranges[-1].high is None
    for range_count, next_range in zip(ranges, [*ranges[1:], None], strict=True):
        assert range_count.high == (next_range.low if next_range else None)
        counts_in_range = [
            count
            for value, count in counted.items()
            if value >= range_count.low and (range_count.high is None or value < range_count.high)
        ]
        assert range_count.count == sum(counts_in_range) > 0


@law_settings
@given(st.dictionaries(days, st.integers(1, 50), min_size=1), st.integers(1, 9))
def test_periods_are_disjoint_non_empty_and_cover_every_day(counted: dict[str, int], parts: int) -> None:
    periods = bin_days(sorted(counted.items()), parts)

    assert 1 <= len(periods) <= parts
    assert all(period_count.last_day < next_period.first_day for period_count, next_period in pairwise(periods))
    for period_count in periods:
        assert (
            period_count.count
            == sum(count for day, count in counted.items() if period_count.first_day <= day <= period_count.last_day)
            > 0
        )
    assert sum(period_count.count for period_count in periods) == sum(counted.values())


@law_settings
@given(days, st.sampled_from(CalendarPeriod))
def test_a_period_contains_its_day(day: str, period: CalendarPeriod) -> None:
    first, last = period_containing(day, period)

    assert first <= day <= last
    assert period_containing(first, period) == period_containing(last, period) == (first, last)


# -- the meaning of conditions


@law_settings
@given(st.data())
def test_the_normal_form_matches_if_the_condition_is_true(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    document = data.draw(documents(schema, "d1"))
    condition = bind_to_schema(data.draw(conditions(schema)), schema)

    truth_value = evaluate_condition(condition, document, schema, analyser_for("en"))

    assert _matches_form(normal_form_of(condition), document, schema) == (truth_value is True)
    assert _matches_form(normal_form_of(condition, is_negated=True), document, schema) == (truth_value is False)


def _matches_form(form: ConditionNormalForm, document: Document, schema: Schema) -> bool:
    """Evaluate the normal form as its docstrings define it, with two truth values only."""
    match form:
        case AndNode(members):
            return all(_matches_form(member, document, schema) for member in members)
        case OrNode(members):
            return any(_matches_form(member, document, schema) for member in members)
        case LeafNode(condition=condition, is_negated=is_negated):
            value = evaluate_condition(condition, document, schema, analyser_for("en"))
            return value is not None and value != is_negated
        case RowNode(rows_field=rows_field, form=inner, is_negated=is_negated):
            rows = document.values.get(rows_field, ())
            assert isinstance(rows, tuple)
            columns = Schema(bucket=schema.bucket, fields=schema.by_name[rows_field].columns, is_row_schema=True)
            has_matching_row = any(_row_matches_form(inner, row, columns) for row in rows if not isinstance(row, str))
            return has_matching_row != is_negated
        case _:
            assert_never(form)


def _row_matches_form(form: ConditionNormalForm, row: RowValues, columns: Schema) -> bool:
    """Evaluate the form for a row, as a document of its columns. No column of these schemas has a reserved name."""
    return _matches_form(form, Document(doc_id=DocId("row"), title="", text="", values=dict(row)), columns)


@law_settings
@given(st.data())
def test_a_row_is_selected_if_the_condition_is_true_for_it(data: st.DataObject) -> None:
    rows_field = data.draw(fields("lines", field_type=FieldType.ROWS))
    schema = Schema(bucket=BucketId("drawn"), fields=(rows_field,))
    row, condition = data.draw(rows(rows_field)), data.draw(row_conditions(rows_field))
    bound = bind_to_schema(RowCondition(rows_field=rows_field.name, condition=condition), schema)
    assert isinstance(bound, RowCondition)
    document = Document(doc_id=DocId("d1"), title="", text="", values={rows_field.name: (row,)})

    selects_row = row_matcher_for(bound.condition, row_schema_of(rows_field.name, schema))

    assert selects_row(row) == evaluate_condition(bound, document, schema, analyser_for("en"))


@law_settings
@given(st.data())
def test_values_that_fit_a_schema_are_kept_unchanged(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    document = data.draw(documents(schema, "d1"))
    values = validate_values(document, schema)

    assert values == document.values
    assert select_fitting_values({str(name): value for name, value in values.items()}, schema) == values
    assert select_fitting_values(json.loads(json.dumps(values)), schema) == values


@pytest.mark.parametrize(
    ("field_type", "stored", "expected"),
    [
        (FieldType.CATEGORY, "rim", "rim"),
        (FieldType.CATEGORY, "Zürich", "Zürich"),
        (FieldType.CATEGORY, "", None),
        (FieldType.TEXT, "\ud800", None),
        (FieldType.TEXT, 2.0, None),
        (FieldType.NUMBER, -0.0, 0.0),
        (FieldType.NUMBER, 2, 2.0),
        (FieldType.NUMBER, True, None),
        (FieldType.NUMBER, float("nan"), None),
        (FieldType.MONEY, 1e308, None),
        (FieldType.DATE, "2031-05-09", "2031-05-09"),
        (FieldType.DATE, "2031-5-9", None),
        (FieldType.FLAG, False, False),
        (FieldType.FLAG, 0.0, None),
        (FieldType.LIST, ["oil", "steel"], ("oil", "steel")),
        (FieldType.LIST, ["oil", "Öl"], ("oil", "Öl")),
        (FieldType.LIST, ["oil", ""], None),
        (FieldType.LIST, [], None),
        (FieldType.LIST, "oil", None),
    ],
)
def test_stored_values_that_do_not_fit_are_dropped(
    field_type: FieldType, stored: object, expected: FieldValue | None
) -> None:
    name = FieldName("f")
    schema = Schema(bucket=BucketId("b"), fields=(SchemaField(name=name, type=field_type),))

    fitting = select_fitting_values({"f": stored}, schema)

    assert fitting == ({} if expected is None else {name: expected})
    assert str(fitting.get(name)) == str(expected)  # 0.0 is not -0.0


def test_a_schema_ordered_by_a_list_is_invalid() -> None:
    fields = RECEIPT_SCHEMA.fields

    with pytest.raises(InvalidSchema, match="order"):
        Schema(bucket=RECEIPT_SCHEMA.bucket, fields=fields, order=SchemaOrder(field=fields[5].name))


def test_a_missing_column_and_a_row_within_rows_are_never_unknown() -> None:
    empty_document = Document(doc_id=DocId("d1"), title="", text="")
    condition = RowCondition(
        rows_field=RECEIPT_SCHEMA.fields[6].name,
        condition=MissingCondition(field=RECEIPT_SCHEMA.fields[6].columns[0].name),
    )

    assert (
        evaluate_condition(
            bind_to_schema(condition, RECEIPT_SCHEMA), empty_document, RECEIPT_SCHEMA, analyser_for("en")
        )
        is False
    )
    assert (
        evaluate_condition(
            bind_to_schema(NotCondition(condition), RECEIPT_SCHEMA), empty_document, RECEIPT_SCHEMA, analyser_for("en")
        )
        is True
    )
