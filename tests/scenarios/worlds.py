"""What Hypothesis draws to be asked about: buckets with documents, plans over them, questions in their own words.

Documents repeat a few prototypes, so that facets have cells of several and conditions have something to meet.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from hypothesis import strategies as st

from agent.reasoner import Doubt, Planned, Reread
from storage.analysis import analyser_for
from storage.search.conditions import EVERYTHING, Compare, Condition, InRow, Missing, Not, Op, all_of, conjuncts
from storage.search.documents import Document, Value
from storage.search.ids import BucketId, DocId, FieldName, LegId
from storage.search.naive import matches
from storage.search.plan import (
    Clause,
    Combine,
    Compute,
    FindPassages,
    Function,
    Group,
    Leg,
    ListDocuments,
    Plan,
    ReadFields,
    Search,
    Summarise,
    Wanted,
)
from storage.search.schema import Field, FieldType, Schema, SchemaOrder
from storage.search.scope import Scope
from tests import strategies

_NUMERIC = (FieldType.NUMBER, FieldType.MONEY)
_UNORDERED = (FieldType.LIST, FieldType.ROWS)
_MISSPELT = ("tirre", "runing", "snakecase", "strase", "quotd", "tire")
_NOUNS = ("receipt", "Beleg", "tire", "日本", "paper of record")


@dataclass(frozen=True, kw_only=True)
class World:
    """Every bucket of an index and what it holds."""

    schemas: Mapping[BucketId, Schema]
    documents: Mapping[BucketId, Sequence[Document]]

    def members(self, search: Search, scope: Scope) -> set[DocId]:
        """The set of a search by the naive evaluation."""
        return {
            one.doc_id
            for bucket in search.buckets
            for one in self.documents[bucket]
            if matches(search, one, self.schemas[bucket], analyser_for(self.schemas[bucket].language), scope)
        }

    def visible(self, scope: Scope) -> set[DocId]:
        return {
            one.doc_id for bucket, held in self.documents.items() for one in held if scope.sees(bucket, one.readers)
        }


@st.composite
def worlds(draw: st.DrawFn, name: str, *, buckets: int = 2, least: int = 0) -> World:
    """At most so many buckets, named after `name`, with at least so many documents each."""
    drawn = [
        replace(draw(strategies.schemas(f"{name}-{letter}")), synonyms=(draw(st.sampled_from(_NOUNS)),))
        for letter in "abc"[: draw(st.integers(1, buckets))]
    ]
    schemas = {schema.bucket: schema for schema in drawn}
    return World(schemas=schemas, documents={one: draw(held(schema, least)) for one, schema in schemas.items()})


@st.composite
def held(draw: st.DrawFn, schema: Schema, least: int = 0) -> tuple[Document, ...]:
    """The documents of a bucket. Ids are unique among buckets."""
    prototypes = draw(st.lists(strategies.documents(schema, "prototype"), min_size=1, max_size=5))
    picked = draw(st.lists(st.sampled_from(prototypes), min_size=least, max_size=24))
    odd = draw(st.lists(strategies.storable, unique=True, max_size=2))
    ids = [f"{schema.bucket}/{one}" for one in (*odd, *(f"{n:02}" for n in range(len(picked))))]
    return tuple(replace(one, doc_id=DocId(doc_id)) for one, doc_id in zip(picked, ids, strict=False))


@st.composite
def changed(draw: st.DrawFn, world: World) -> World:
    """After writes: of each bucket some documents stay, some are replaced, some are gone, some are new."""
    new = {bucket: draw(held(schema)) for bucket, schema in world.schemas.items()}
    documents = {bucket: _rewritten(draw, old, new[bucket]) for bucket, old in world.documents.items()}
    return World(schemas=world.schemas, documents=documents)


def _rewritten(draw: st.DrawFn, old: Sequence[Document], new: Sequence[Document]) -> tuple[Document, ...]:
    stay = draw(st.lists(st.booleans(), min_size=len(old), max_size=len(old)))
    kept = [one for one, stays in zip(old, stay, strict=True) if stays]
    return tuple({one.doc_id: one for one in (*new, *kept)}.values())


# -- searches


@st.composite
def searches(draw: st.DrawFn, world: World, buckets: Sequence[BucketId], *, simple: bool = False) -> Search:
    """Over some of the buckets. `simple`: few enough constraints for every way out to be offered."""
    chosen = draw(st.lists(st.sampled_from(buckets), unique=True, min_size=1, max_size=1 if simple else 2))
    clauses = [draw(clauses_in(world.schemas[one], world.documents[one], simple=simple)) for one in chosen]
    return Search(clauses=tuple(clauses), ranking=draw(st.sampled_from(["", "tire running"])))


@st.composite
def clauses_in(draw: st.DrawFn, schema: Schema, documents: Sequence[Document], *, simple: bool = False) -> Clause:
    leaf = strategies.conditions(schema, 1)
    some = st.one_of(met(documents), met(documents), leaf) if documents else leaf
    several = st.lists(some, min_size=2, max_size=3).map(lambda members: all_of(*members))
    kinds = (
        [st.just(EVERYTHING), some] if simple else [st.just(EVERYTHING), some, several, strategies.conditions(schema)]
    )
    condition: Condition = draw(st.one_of(kinds))
    words = st.one_of(st.sampled_from(_MISSPELT), st.sampled_from(strategies.WORDS[:8]))
    required = [] if simple or draw(st.booleans()) else draw(st.lists(words, max_size=1))
    return Clause(bucket=schema.bucket, condition=condition, required=tuple(required))


@st.composite
def met(draw: st.DrawFn, documents: Sequence[Document]) -> Condition:
    """What some document meets, or nearly."""
    document = draw(st.sampled_from(documents))
    if not document.values:
        return EVERYTHING
    name = draw(st.sampled_from(sorted(document.values)))
    return _met(draw, name, document.values[name])


def _met(draw: st.DrawFn, name: FieldName, value: Value) -> Condition:
    if isinstance(value, float):
        op = draw(st.sampled_from([Op.EQ, Op.GT, Op.GTE, Op.LT, Op.LTE]))
        return Compare(field=name, op=op, value=value + draw(st.sampled_from([0.0, 0.0, 1.0])))
    if not isinstance(value, tuple):
        return Compare(field=name, op=Op.EQ, value=value)
    one = value[0]
    if isinstance(one, str):
        return Compare(field=name, op=Op.HAS, value=one)
    column = draw(st.sampled_from(sorted(one)))
    return InRow(row=name, condition=Compare(field=column, op=Op.EQ, value=one[column]))


# -- plans


@st.composite
def planned(draw: st.DrawFn, world: World, buckets: Sequence[BucketId], question: str) -> Planned:
    """A plan over the buckets as a reasoner may give it, with what stands in doubt."""
    legs = tuple(
        _leg(draw, world, LegId(letter), f"{question} {letter}", draw(searches(world, buckets)))
        for letter in "ab"[: draw(st.sampled_from([1, 1, 1, 2]))]
    )
    combine = Combine.ONE if len(legs) == 1 else Combine.SIDE_BY_SIDE
    plan = Plan(question=question, legs=legs, combine=combine)
    doubted = [leg for leg in legs if isinstance(leg.wanted, (ListDocuments, Compute, Summarise))]
    doubts = tuple(_doubt(draw, world, leg, buckets) for leg in doubted if draw(st.booleans()))
    return Planned(plan=plan, doubts=doubts)


@st.composite
def plainly_planned(draw: st.DrawFn, world: World, buckets: Sequence[BucketId], question: str) -> Planned:
    """One leg over a set, few constraints, no doubts: every count that is asked becomes a number that is said."""
    search = draw(searches(world, buckets, simple=True))
    kinds = st.sampled_from([ListDocuments(), ListDocuments(), Compute(functions=(Function.COUNT,)), Summarise()])
    leg = Leg(id=LegId("a"), question=question, search=search, wanted=draw(kinds))
    return Planned(plan=Plan(question=question, legs=(leg,)))


def _leg(draw: st.DrawFn, world: World, leg_id: LegId, question: str, search: Search) -> Leg:
    schema = world.schemas[search.clauses[0].bucket]
    alone = Search(clauses=search.clauses[:1], ranking=search.ranking)
    kind = draw(
        st.sampled_from([ListDocuments, ListDocuments, ListDocuments, Summarise, Compute, ReadFields, FindPassages])
    )
    wanted: Wanted
    if kind is ListDocuments:
        order = draw(_orders(schema)) if len(search.clauses) == 1 else None
        wanted = ListDocuments(order=order, limit=draw(st.sampled_from([None, None, None, 2, 7])))
    elif kind is Compute:
        wanted, search = draw(_computations(schema)), alone
    elif kind is ReadFields:
        names = draw(st.lists(st.sampled_from(schema.fields), min_size=1, max_size=2, unique_by=_name))
        wanted, search = ReadFields(fields=tuple((schema.bucket, one.name) for one in names)), alone
    else:
        wanted = Summarise() if kind is Summarise else FindPassages()
    return Leg(id=leg_id, question=question, search=search, wanted=wanted)


def _name(one: Field) -> str:
    return one.name


def _orders(schema: Schema) -> st.SearchStrategy[SchemaOrder | None]:
    ordered = [one.name for one in schema.fields if one.type not in _UNORDERED]
    none = st.none()
    return (
        none if not ordered else none | st.builds(SchemaOrder, field=st.sampled_from(ordered), descending=st.booleans())
    )


@st.composite
def _computations(draw: st.DrawFn, schema: Schema) -> Compute:
    numeric = [one.name for one in schema.fields if one.type in _NUMERIC]
    groups = [one.name for one in schema.fields if one.type is not FieldType.ROWS]
    group = Group(field=draw(st.sampled_from(groups))) if groups and draw(st.booleans()) else None
    if not numeric or draw(st.booleans()):
        return Compute(functions=(Function.COUNT,), group=group)
    function = draw(st.sampled_from([Function.SUM, Function.AVERAGE, Function.MAXIMUM]))
    return Compute(functions=(function,), field=draw(st.sampled_from(numeric)), group=group)


def _doubt(draw: st.DrawFn, world: World, leg: Leg, buckets: Sequence[BucketId]) -> Doubt:
    def rereads() -> tuple[Reread, ...]:
        return (_reread(draw, world, leg),) if draw(st.booleans()) else ()

    others = [one for one in buckets if one not in leg.search.buckets and not isinstance(leg.wanted, Compute)]
    elsewhere = tuple(draw(clauses_in(world.schemas[one], world.documents[one])) for one in others)
    words = sorted({word for clause in leg.search.clauses for word in clause.required})
    doubtful = tuple(word for word in words if draw(st.booleans()))
    return Doubt(leg=leg.id, alike=rereads(), wider=rereads(), elsewhere=elsewhere, doubtful=doubtful)


def _reread(draw: st.DrawFn, world: World, leg: Leg) -> Reread:
    """The search with one constraint of its first clause read otherwise."""
    first, *rest = leg.search.clauses
    kept = conjuncts(first.condition)[1:]
    other = draw(strategies.conditions(world.schemas[first.bucket], 1))
    search = leg.search.with_clauses(replace(first, condition=all_of(other, *kept)), *rest)
    return Reread(words="or otherwise", search=search)


# -- questions in words


@st.composite
def questions(draw: st.DrawFn, world: World, buckets: Sequence[BucketId]) -> str:
    """In the words of a schema and of its documents, as a person may put them; some mean nothing."""
    schema = world.schemas[draw(st.sampled_from(buckets))]
    documents, field = world.documents[schema.bucket], draw(st.sampled_from(schema.fields))
    noun, label = draw(st.sampled_from([*schema.synonyms, schema.label])), field.label
    known = [one.values[field.name] for one in documents if field.name in one.values]
    value = _words(draw(st.sampled_from(known))) if known else draw(strategies.strings)
    other, word = _words(draw(strategies.values(field))), draw(st.sampled_from((*_MISSPELT, *strategies.WORDS)))
    title = draw(st.sampled_from(documents)).title if documents else "Nowhere"
    shapes = (
        f"List every {noun}",
        f"List every {noun} with {label} {value}",
        f"{noun} with {label} {other}",
        f"{noun} with {label} over {value}",
        f"{noun} with {label} {value} or {other} mentioning {word}",
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


def _words(value: Value) -> str:
    return str(value[0]) if isinstance(value, tuple) else str(value)


# -- documents that do not say


def lacking(clause: Clause, name: FieldName) -> list[Search]:
    """What meets all but the comparisons on the field, both ends of a range among them, and has no value for it."""

    def compares(one: Condition) -> bool:
        inner = one.condition if isinstance(one, Not) else one
        return isinstance(inner, Compare) and inner.field == name

    others = [one for one in conjuncts(clause.condition) if not compares(one)]
    return [Search(clauses=(replace(clause, condition=all_of(*others, Missing(field=name))),))]
