"""Every choice leads where it says, changes something, and leads where no other choice of its reply does."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.context import AgentContext
from agent.limits import AnswerLimits
from agent.loop import answer, resume
from agent.outcome import Answer, Choice, Clarify, OutcomeKind
from agent.refine.equal_sets import intersect_searches
from agent.refine.relaxations import is_near_spelling
from agent.rules.reasoner import RuleReasoner
from storage.embedded.index import EmbeddedIndex
from storage.search.conditions import (
    ORDER_OPERATORS,
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    MissingCondition,
    Scalar,
    conjunction_of,
)
from storage.search.documents import Document, FieldValue, Passage
from storage.search.evaluation.naive_evaluation import evaluate_condition
from storage.search.ids import BucketId, DocId, FieldName, TenantId
from storage.search.index import RecordPageRequest, SpellingSuggestion
from storage.search.plan import Clause, Search
from storage.search.refinement import Action, ExportAll, JustAnswer, Refinement, SearchByMeaning, UseForm, apply_to_plan
from storage.search.schema import FieldType, Schema, SchemaField
from storage.search.scope import Scope
from storage.text.snowball_analyser import analyser_for

TENANT, CRATES = TenantId("t"), BucketId("crates")
SCHEMA = Schema(
    bucket=CRATES,
    synonyms=("crate", "crates"),
    fields=(
        SchemaField(name=FieldName("colour"), type=FieldType.CATEGORY, facet=True),
        SchemaField(name=FieldName("maker"), type=FieldType.CATEGORY, facet=True),
        SchemaField(name=FieldName("marks"), type=FieldType.LIST, facet=True),
        SchemaField(name=FieldName("weight"), type=FieldType.NUMBER, unit="kg"),
        SchemaField(name=FieldName("packed"), type=FieldType.DATE),
        SchemaField(name=FieldName("sealed"), type=FieldType.FLAG),
    ),
)
_COLOURS, _MAKERS, _MARKS = ("red", "blue", "green"), ("Wren", "Osprey"), ("fragile", "dry", "tall")
_LIMITS = AnswerLimits(overload_documents=6, read_documents=3)

_rows = st.fixed_dictionaries(
    {
        "colour": st.sampled_from((*_COLOURS, None)),
        "maker": st.sampled_from((*_MAKERS, None)),
        "marks": st.lists(st.sampled_from(_MARKS), unique=True, max_size=2).map(tuple),
        "weight": st.sampled_from((1.0, 2.0, 5.0, 9.0, None)),
        "packed": st.sampled_from(("2029-03-01", "2030-07-09", "2031-01-20", None)),
        "sealed": st.booleans(),
    }
)
_conditions = st.sampled_from(
    (
        "",
        "from Wren",
        "not from Osprey",
        "over 2 kg",
        "of 7 kg",
        "packed in 2030",
        "packed in 2027",
        "with fragile marks",
        "mentioning lathes",
        "mentioning timbr",
        "that are sealed",
        "without a colour",
    )
)


def _question_of(parts: tuple[str, str, str, str]) -> str:
    start, colour, *conditions = parts
    return " ".join(f"{start} {colour} crates {' '.join(conditions)}".split())


_questions = st.tuples(
    st.sampled_from(("list the", "how many", "which", "the 2 heaviest", "what is the average weight of the", "dented")),
    st.sampled_from(("", *_COLOURS)),
    _conditions,
    _conditions,
).map(_question_of)


def _document_of(number: int, row: dict[str, FieldValue | None]) -> Document:
    text = f"Crate {number} holds timber and tools."
    return Document(
        doc_id=DocId(f"c{number}"),
        title=f"Crate {number}",
        text=text,
        values={FieldName(name): value for name, value in row.items() if value not in (None, ())},
        passages=(Passage(start=0, end=len(text)),),
    )


async def _ask_and_click(rows: Sequence[dict[str, FieldValue | None]], question: str) -> None:
    with TemporaryDirectory() as folder:
        index = await EmbeddedIndex.open(Path(folder), tenant=TENANT, analysers=analyser_for, embedder=None)
        try:
            await index.set_schema(SCHEMA)
            await index.put(CRATES, [_document_of(number, row) for number, row in enumerate(rows)])
            scope = Scope(tenant=TENANT, buckets=frozenset({CRATES}), ignores_readers=True)
            context = AgentContext(
                index=index.within_scope(scope),
                reasoner=RuleReasoner(),
                now=datetime(2031, 5, 9, tzinfo=UTC),
                limits=_LIMITS,
            )
            await _check_choices(question, context)
        finally:
            await index.close()


async def _check_choices(question: str, context: AgentContext) -> None:
    outcome = await answer(question, context)
    if not isinstance(outcome, (Answer, Clarify)):
        return
    reached = set[object]()
    for choice in outcome.choices:
        effect = choice.effect
        if isinstance(effect, (ExportAll, JustAnswer, SearchByMeaning)):
            continue
        documents = await _documents_after(choice, outcome, context)
        assert documents, choice
        form = effect.answer_form if isinstance(effect, UseForm) else None
        assert (form, documents) not in reached, choice
        reached.add((form, documents))
        if _shows_set(outcome) and form is None:
            assert documents != await _documents_of(outcome.plan.leg_by_id(choice.leg).search, context), choice


async def _documents_after(choice: Choice, outcome: Answer | Clarify, context: AgentContext) -> frozenset[DocId]:
    """Returns the documents that the click finds, after checking that the reply to the click states its count."""
    assert choice.count is not None
    refinement = _refinement_of(choice.effect)
    refined = apply_to_plan(refinement, outcome.plan, choice.leg)
    documents = await _documents_of(refined.leg_by_id(choice.leg).search, context)
    limit = refined.leg_by_id(choice.leg).answer_form.list_limit
    assert choice.count == (len(documents) if limit is None else min(limit, len(documents)))
    clicked = await resume(refined, context)
    assert isinstance(clicked, (Answer, Clarify))
    assert clicked.legs[0].document_count == len(documents)
    return documents


def _refinement_of(effect: Refinement | Action) -> Refinement:
    assert not isinstance(effect, Action)
    return effect


async def _documents_of(search: Search, context: AgentContext) -> frozenset[DocId]:
    request = RecordPageRequest(search, limit=1000)
    page = (await context.index.answer_requests(request))[request]
    return frozenset(record.doc_id for record in page.records)


def _shows_set(outcome: Answer | Clarify) -> bool:
    """Whether the reply is about the set of its leg, and does not ask which set is meant."""
    return isinstance(outcome, Answer) or outcome.kind is not OutcomeKind.AMBIGUOUS


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(rows=st.lists(_rows, min_size=1, max_size=14), question=_questions)
def test_each_choice_leads_to_as_many_documents_as_it_says_and_to_no_set_twice(
    rows: list[dict[str, FieldValue | None]], question: str
) -> None:
    asyncio.run(_ask_and_click(rows, question))


@pytest.mark.parametrize(
    ("word", "suggestion", "distance", "is_near"),
    [
        ("timbr", "timber", 1, True),
        ("reciepts", "receipts", 1, True),
        ("hw", "in", 2, False),
        ("tent", "rent", 1, False),
        ("lathe", "bathe", 1, False),
        ("crate", "create", 1, True),
        ("wher", "where", 1, False),
        ("crates", "carafes", 2, False),
    ],
)
def test_only_words_that_may_be_a_slip_are_offered_as_a_spelling(
    word: str, suggestion: str, distance: int, *, is_near: bool
) -> None:
    assert is_near_spelling(word, SpellingSuggestion(word=suggestion, distance=distance, document_count=3)) is is_near


def _search_for(field: str, value: str, op: ComparisonOperator = ComparisonOperator.EQ) -> Search:
    condition = ComparisonCondition(field=FieldName(field), op=op, value=value)
    return Search(clauses=(Clause(bucket=CRATES, condition=condition),))


def test_searches_for_two_values_of_one_field_have_no_intersection() -> None:
    assert intersect_searches(_search_for("colour", "red"), _search_for("colour", "blue")) is None
    assert intersect_searches(_search_for("colour", "red"), _search_for("colour", "Red")) is not None
    assert intersect_searches(_search_for("colour", "red"), _search_for("maker", "Wren")) is not None


_numbers = st.integers(0, 4).map(float)
_days = st.integers(1, 5).map(lambda day: f"2030-01-0{day}")


@st.composite
def _ranges(draw: st.DrawFn) -> ComparisonCondition:
    field, values = draw(st.sampled_from((("weight", _numbers), ("packed", _days))))
    op = draw(st.sampled_from((*sorted(ORDER_OPERATORS), ComparisonOperator.BETWEEN, ComparisonOperator.EQ)))
    value: Scalar | tuple[Scalar, ...] = draw(values)
    value = (value, draw(values)) if op is ComparisonOperator.BETWEEN else value
    return ComparisonCondition(field=FieldName(field), op=op, value=value)


@given(
    conditions=st.lists(_ranges(), min_size=1, max_size=3),
    others=st.lists(_ranges(), min_size=1, max_size=3),
    weight=_numbers,
    packed=_days,
)
def test_searches_with_a_common_document_have_an_intersection(
    conditions: list[ComparisonCondition], others: list[ComparisonCondition], weight: float, packed: str
) -> None:
    values: dict[FieldName, FieldValue] = {FieldName("weight"): weight, FieldName("packed"): packed}
    document = Document(doc_id=DocId("d"), title="", text="", values=values, passages=(), digest="")
    matches = all(
        evaluate_condition(condition, document, SCHEMA, analyser_for("en")) for condition in (*conditions, *others)
    )

    intersection = intersect_searches(*(_search_with(*members) for members in (conditions, others)))

    assert intersection is not None or not matches


@pytest.mark.parametrize(
    ("first", "second", "is_separate"),
    [
        (("weight", "between", (1.0, 2.0)), ("weight", "gt", 2.0), True),
        (("weight", "between", (1.0, 2.0)), ("weight", "gte", 2.0), False),
        (("weight", "lt", 2.0), ("weight", "eq", 2.0), True),
        (("weight", "lte", 2.0), ("weight", "eq", 2.0), False),
        (("packed", "between", ("2029-01-01", "2029-12-31")), ("packed", "eq", "2030-01-01"), True),
        (("packed", "gte", "2029-01-01"), ("packed", "lt", "2031-01-01"), False),
        (("items.price", "lt", 2.0), ("items.price", "gt", 3.0), False),
    ],
)
def test_searches_for_separate_ranges_of_one_field_have_no_intersection(
    first: tuple[str, str, Scalar], second: tuple[str, str, Scalar], *, is_separate: bool
) -> None:
    searches = [
        _search_with(ComparisonCondition(field=FieldName(field), op=ComparisonOperator(op), value=value))
        for field, op, value in (first, second)
    ]

    assert (intersect_searches(*searches) is None) is is_separate


def test_searches_for_a_range_and_for_documents_without_a_value_have_no_intersection() -> None:
    packed = ComparisonCondition(field=FieldName("packed"), op=ComparisonOperator.GTE, value="2030-01-01")
    without = MissingCondition(field=FieldName("packed"))

    assert intersect_searches(_search_with(packed), _search_with(without)) is None


def _search_with(*conditions: Condition) -> Search:
    return Search(clauses=(Clause(bucket=CRATES, condition=conjunction_of(*conditions)),))
