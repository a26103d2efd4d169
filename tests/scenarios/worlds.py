"""Hypothesis strategies for buckets with documents, for plans over them, and for questions in words.

Documents repeat a few prototypes, so that facet values have several documents and conditions match some documents.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from hypothesis import strategies as st

from agent.decomposition import AlternativeReading, LegAlternatives, PlannedQuestion
from storage.search.conditions import (
    MATCH_ALL,
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    MissingCondition,
    NotCondition,
    RowCondition,
    conjunction_of,
    conjuncts_of,
    fields_of,
)
from storage.search.documents import Document, FieldValue
from storage.search.evaluation.naive_evaluation import matches_search
from storage.search.ids import BucketId, DocId, FieldName, LegId
from storage.search.plan import (
    AggregateFunction,
    AnswerForm,
    CheckClaims,
    Clause,
    ComputeNumbers,
    FindPassages,
    GroupBy,
    Leg,
    LegCombination,
    ListDocuments,
    Plan,
    ReadFields,
    Search,
    SummariseDocuments,
)
from storage.search.schema import FieldType, Schema, SchemaField, SchemaOrder
from storage.search.scope import Scope
from storage.text.snowball_analyser import analyser_for
from tests import strategies

_NUMERIC = (FieldType.NUMBER, FieldType.MONEY)
_UNORDERED = (FieldType.LIST, FieldType.ROWS)
_MISSPELT = ("tirre", "runing", "snakecase", "strase", "quotd", "tire")
_NOUNS = ("receipt", "Beleg", "tire", "日本", "paper of record")


@dataclass(frozen=True, kw_only=True)
class DocumentWorld:
    """Every bucket of an index, with its schema and documents."""

    schemas: Mapping[BucketId, Schema]
    documents: Mapping[BucketId, Sequence[Document]]

    def members_of(self, search: Search, scope: Scope) -> set[DocId]:
        """The documents of a search by the naive evaluation."""
        return {
            document.doc_id
            for bucket in search.buckets
            for document in self.documents[bucket]
            if matches_search(
                search, document, self.schemas[bucket], analyser_for(self.schemas[bucket].language), scope
            )
        }

    def visible_documents(self, scope: Scope) -> set[DocId]:
        return {
            document.doc_id
            for bucket, documents in self.documents.items()
            for document in documents
            if scope.can_see(bucket, document.readers)
        }


@st.composite
def worlds(draw: st.DrawFn, name: str, *, buckets: int = 2, min_documents: int = 0) -> DocumentWorld:
    """At most `buckets` buckets, named after `name`, each with at least `min_documents` documents."""
    drawn = [
        replace(draw(strategies.schemas(f"{name}-{letter}")), synonyms=(draw(st.sampled_from(_NOUNS)),))
        for letter in "abc"[: draw(st.integers(1, buckets))]
    ]
    schemas = {schema.bucket: schema for schema in drawn}
    return DocumentWorld(
        schemas=schemas,
        documents={bucket: draw(bucket_documents(schema, min_documents)) for bucket, schema in schemas.items()},
    )


@st.composite
def bucket_documents(draw: st.DrawFn, schema: Schema, min_documents: int = 0) -> tuple[Document, ...]:
    """The documents of a bucket. Ids are unique among buckets."""
    prototypes = draw(st.lists(strategies.documents(schema, "prototype"), min_size=1, max_size=5))
    picked = draw(st.lists(st.sampled_from(prototypes), min_size=min_documents, max_size=24))
    odd = draw(st.lists(strategies.storable_strings, unique=True, max_size=2))
    ids = [f"{schema.bucket}/{suffix}" for suffix in (*odd, *(f"{n:02}" for n in range(len(picked))))]
    return tuple(replace(document, doc_id=DocId(doc_id)) for document, doc_id in zip(picked, ids, strict=False))


@st.composite
def changed_worlds(draw: st.DrawFn, world: DocumentWorld) -> DocumentWorld:
    """The world after writes: in each bucket some documents stay, some are replaced, some are deleted, some are new."""
    new_documents = {bucket: draw(bucket_documents(schema)) for bucket, schema in world.schemas.items()}
    documents = {
        bucket: _draw_rewritten_documents(draw, old_documents, new_documents[bucket])
        for bucket, old_documents in world.documents.items()
    }
    return DocumentWorld(schemas=world.schemas, documents=documents)


def _draw_rewritten_documents(
    draw: st.DrawFn, old_documents: Sequence[Document], new_documents: Sequence[Document]
) -> tuple[Document, ...]:
    stay = draw(st.lists(st.booleans(), min_size=len(old_documents), max_size=len(old_documents)))
    kept_documents = [document for document, stays in zip(old_documents, stay, strict=True) if stays]
    return tuple({document.doc_id: document for document in (*new_documents, *kept_documents)}.values())


# -- searches


@st.composite
def searches(draw: st.DrawFn, world: DocumentWorld, buckets: Sequence[BucketId], *, simple: bool = False) -> Search:
    """A search over some of the buckets. `simple`: with so few constraints that every refinement is offered."""
    chosen_buckets = draw(st.lists(st.sampled_from(buckets), unique=True, min_size=1, max_size=1 if simple else 2))
    clauses = [
        draw(clauses_in(world.schemas[bucket], world.documents[bucket], simple=simple)) for bucket in chosen_buckets
    ]
    return Search(clauses=tuple(clauses), ranking_text=draw(st.sampled_from(["", "tire running"])))


@st.composite
def clauses_in(draw: st.DrawFn, schema: Schema, documents: Sequence[Document], *, simple: bool = False) -> Clause:
    leaf = strategies.conditions(schema, 1)
    single_condition = st.one_of(met_conditions(documents), met_conditions(documents), leaf) if documents else leaf
    conjunction = st.lists(single_condition, min_size=2, max_size=3).map(lambda members: conjunction_of(*members))
    kinds = (
        [st.just(MATCH_ALL), single_condition]
        if simple
        else [st.just(MATCH_ALL), single_condition, conjunction, strategies.conditions(schema)]
    )
    condition: Condition = draw(st.one_of(kinds))
    words = st.one_of(st.sampled_from(_MISSPELT), st.sampled_from(strategies.WORDS[:8]))
    required = [] if simple or draw(st.booleans()) else draw(st.lists(words, max_size=1))
    return Clause(bucket=schema.bucket, condition=condition, required_terms=tuple(required))


@st.composite
def met_conditions(draw: st.DrawFn, documents: Sequence[Document]) -> Condition:
    """A condition that some document meets or almost meets."""
    document = draw(st.sampled_from(documents))
    if not document.values:
        return MATCH_ALL
    name = draw(st.sampled_from(sorted(document.values)))
    return _draw_met_condition(draw, name, document.values[name])


def _draw_met_condition(draw: st.DrawFn, name: FieldName, value: FieldValue) -> Condition:
    if isinstance(value, float):
        op = draw(
            st.sampled_from(
                [
                    ComparisonOperator.EQ,
                    ComparisonOperator.GT,
                    ComparisonOperator.GTE,
                    ComparisonOperator.LT,
                    ComparisonOperator.LTE,
                ]
            )
        )
        return ComparisonCondition(field=name, op=op, value=value + draw(st.sampled_from([0.0, 0.0, 1.0])))
    if not isinstance(value, tuple):
        return ComparisonCondition(field=name, op=ComparisonOperator.EQ, value=value)
    first_value = value[0]
    if isinstance(first_value, str):
        return ComparisonCondition(field=name, op=ComparisonOperator.HAS, value=first_value)
    column = draw(st.sampled_from(sorted(first_value)))
    return RowCondition(
        rows_field=name,
        condition=ComparisonCondition(field=column, op=ComparisonOperator.EQ, value=first_value[column]),
    )


# -- plans


@st.composite
def planned_questions(
    draw: st.DrawFn, world: DocumentWorld, buckets: Sequence[BucketId], question: str
) -> PlannedQuestion:
    """A plan over the buckets as a reasoner may return it, with alternatives."""
    legs = tuple(
        _draw_leg(draw, world, LegId(letter), f"{question} {letter}", draw(searches(world, buckets)))
        for letter in "ab"[: draw(st.sampled_from([1, 1, 1, 2]))]
    )
    combine = LegCombination.ONE if len(legs) == 1 else LegCombination.SIDE_BY_SIDE
    plan = Plan(question=question, legs=legs, combination=combine)
    doubted = [leg for leg in legs if isinstance(leg.answer_form, (ListDocuments, ComputeNumbers, SummariseDocuments))]
    doubts = tuple(_draw_alternatives(draw, world, leg, buckets) for leg in doubted if draw(st.booleans()))
    return PlannedQuestion(plan=plan, alternatives=doubts)


@st.composite
def plainly_planned_questions(
    draw: st.DrawFn, world: DocumentWorld, buckets: Sequence[BucketId], question: str
) -> PlannedQuestion:
    """A plan with one leg over a set, few constraints and no alternatives. The reply shows every requested count."""
    search = draw(searches(world, buckets, simple=True))
    kinds = st.sampled_from(
        [ListDocuments(), ListDocuments(), ComputeNumbers(functions=(AggregateFunction.COUNT,)), SummariseDocuments()]
    )
    leg = Leg(id=LegId("a"), question=question, search=search, answer_form=draw(kinds))
    return PlannedQuestion(plan=Plan(question=question, legs=(leg,)))


def _draw_leg(draw: st.DrawFn, world: DocumentWorld, leg_id: LegId, question: str, search: Search) -> Leg:
    schema = world.schemas[search.clauses[0].bucket]
    first_clause_search = Search(clauses=search.clauses[:1], ranking_text=search.ranking_text)
    kind = draw(
        st.sampled_from(
            [
                ListDocuments,
                ListDocuments,
                ListDocuments,
                SummariseDocuments,
                ComputeNumbers,
                ReadFields,
                FindPassages,
                CheckClaims,
            ]
        )
    )
    answer_form: AnswerForm
    if kind is ListDocuments:
        order = draw(_order_strategy(schema)) if len(search.clauses) == 1 else None
        answer_form = ListDocuments(order=order, limit=draw(st.sampled_from([None, None, None, 2, 7])))
    elif kind is ComputeNumbers:
        answer_form, search = draw(_computations(schema)), first_clause_search
    elif kind is ReadFields:
        names = draw(st.lists(st.sampled_from(schema.fields), min_size=1, max_size=2, unique_by=_field_name_of))
        answer_form, search = (
            ReadFields(fields=tuple((schema.bucket, field.name) for field in names)),
            first_clause_search,
        )
    else:
        text_form = CheckClaims() if kind is CheckClaims else FindPassages()
        answer_form = SummariseDocuments() if kind is SummariseDocuments else text_form
    return Leg(id=leg_id, question=question, search=search, answer_form=answer_form)


def _field_name_of(field: SchemaField) -> str:
    return field.name


def _order_strategy(schema: Schema) -> st.SearchStrategy[SchemaOrder | None]:
    orderable = [field.name for field in schema.fields if field.type not in _UNORDERED]
    no_order = st.none()
    return (
        no_order
        if not orderable
        else no_order | st.builds(SchemaOrder, field=st.sampled_from(orderable), descending=st.booleans())
    )


@st.composite
def _computations(draw: st.DrawFn, schema: Schema) -> ComputeNumbers:
    numeric = [field.name for field in schema.fields if field.type in _NUMERIC]
    groups = [field.name for field in schema.fields if field.type is not FieldType.ROWS]
    group = GroupBy(field=draw(st.sampled_from(groups))) if groups and draw(st.booleans()) else None
    if not numeric or draw(st.booleans()):
        return ComputeNumbers(functions=(AggregateFunction.COUNT,), group=group)
    function = draw(st.sampled_from([AggregateFunction.SUM, AggregateFunction.AVERAGE, AggregateFunction.MAXIMUM]))
    return ComputeNumbers(functions=(function,), field=draw(st.sampled_from(numeric)), group=group)


def _draw_alternatives(draw: st.DrawFn, world: DocumentWorld, leg: Leg, buckets: Sequence[BucketId]) -> LegAlternatives:
    def draw_readings() -> tuple[AlternativeReading, ...]:
        return (_draw_reading(draw, world, leg),) if draw(st.booleans()) else ()

    other_buckets = [
        bucket
        for bucket in buckets
        if bucket not in leg.search.buckets and not isinstance(leg.answer_form, ComputeNumbers)
    ]
    other_clauses = tuple(draw(clauses_in(world.schemas[bucket], world.documents[bucket])) for bucket in other_buckets)
    words = sorted({word for clause in leg.search.clauses for word in clause.required_terms})
    doubtful = tuple(word for word in words if draw(st.booleans()))
    return LegAlternatives(
        leg=leg.id,
        equal_readings=draw_readings(),
        wider_readings=draw_readings(),
        other_bucket_clauses=other_clauses,
        droppable_words=doubtful,
    )


def _draw_reading(draw: st.DrawFn, world: DocumentWorld, leg: Leg) -> AlternativeReading:
    """The search with another condition in place of the first condition of its first clause."""
    first_clause, *other_clauses = leg.search.clauses
    kept_conditions = conjuncts_of(first_clause.condition)[1:]
    new_condition = draw(strategies.conditions(world.schemas[first_clause.bucket], 1))
    search = leg.search.with_clauses(
        replace(first_clause, condition=conjunction_of(new_condition, *kept_conditions)), *other_clauses
    )
    return AlternativeReading(bucket=first_clause.bucket, conditions=(new_condition,), search=search)


# -- questions in words


@st.composite
def questions(draw: st.DrawFn, world: DocumentWorld, buckets: Sequence[BucketId]) -> str:
    """A question in the words of a schema and its documents. Some questions have no meaning."""
    schema = world.schemas[draw(st.sampled_from(buckets))]
    documents, field = world.documents[schema.bucket], draw(st.sampled_from(schema.fields))
    noun, label = draw(st.sampled_from([*schema.synonyms, schema.label])), field.label
    known_values = [document.values[field.name] for document in documents if field.name in document.values]
    value = _words_of(draw(st.sampled_from(known_values))) if known_values else draw(strategies.strings)
    other_value, word = (
        _words_of(draw(strategies.values(field))),
        draw(st.sampled_from((*_MISSPELT, *strategies.WORDS))),
    )
    title = draw(st.sampled_from(documents)).title if documents else "Nowhere"
    shapes = (
        f"List every {noun}",
        f"List every {noun} with {label} {value}",
        f"{noun} with {label} {other_value}",
        f"{noun} with {label} over {value}",
        f"{noun} with {label} {value} or {other_value} mentioning {word}",
        f"{noun} without {label}",
        f"{noun} not {value}",
        f"the first 3 {noun} from {word}",
        f"How many {noun} have {label} {value}?",
        f"What is the total {label} of {noun} by {label}?",
        f"What is the {label} of {title}?",
        f"Summarise every {noun} about {word}",
        f"What does it say about {word} {value}?",
        f'List every {noun} mentioning "{word} {word}"',
    )
    return draw(st.sampled_from(shapes))


def _words_of(value: FieldValue) -> str:
    return str(value[0]) if isinstance(value, tuple) else str(value)


# -- documents with missing values


def searches_for_missing(clause: Clause, name: FieldName) -> list[Search]:
    """The search for documents that lack the field and meet all conditions except the comparisons on the field."""

    def compares(condition: Condition) -> bool:
        inner = condition.condition if isinstance(condition, NotCondition) else condition
        return isinstance(inner, ComparisonCondition) and inner.field == name

    other_conditions = [condition for condition in conjuncts_of(clause.condition) if not compares(condition)]
    return [
        Search(clauses=(replace(clause, condition=conjunction_of(*other_conditions, MissingCondition(field=name))),))
    ]


def search_with_conditions(search: Search, change: Callable[[Condition], Condition]) -> Search:
    """The search with the condition of each clause changed."""
    return search.with_clauses(*(replace(clause, condition=change(clause.condition)) for clause in search.clauses))


def others_of_plain_search(search: Search, world: DocumentWorld, scope: Scope) -> Search | None:
    """The search without the comparisons on fields that some document lacks; None unless all conditions are plain."""
    visible = world.visible_documents(scope)

    def is_stated(condition: Condition, bucket: BucketId) -> bool:
        [name] = fields_of(condition)
        field = world.schemas[bucket].by_name.get(name)
        documents = (document for document in world.documents[bucket] if document.doc_id in visible)
        return field is None or field.absent_means_none or all(name in document.values for document in documents)

    clauses: list[Clause] = []
    for clause in search.clauses:
        conditions = conjuncts_of(clause.condition)
        if not all(isinstance(condition, ComparisonCondition) for condition in conditions):
            return None
        kept = (condition for condition in conditions if is_stated(condition, clause.bucket))
        clauses.append(replace(clause, condition=conjunction_of(*kept)))
    return search.with_clauses(*clauses)
