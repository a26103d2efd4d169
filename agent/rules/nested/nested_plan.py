"""Plans a question within a question: a part of it names an inner set, the rest is read as if it named one document.

The words for the inner set are replaced by a value that the outer field holds. The question that results is read and
planned like any other, and the condition on that value then becomes a semi-join with the inner set. So all forms of
answer, orders and numbers work as they do elsewhere. A nested reading is taken only if it explains more of the question
than the plain one, or if the plain one leaves the question's own documents out.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import TypeAlias

from agent.assumptions import Assumption, TakenInnerSet
from agent.decomposition import LegAlternatives
from agent.rules.linking.lexicon import BucketLexicon
from agent.rules.nested.inner_sets import InnerSet, count_unexplained, inner_set_of, list_request_for
from agent.rules.nested.joins import BucketJoin, compares_with, find_joins, find_stand_in
from agent.rules.nested.own_names import count_lost_relations, settle_own_names
from agent.rules.nested.question_splits import QuestionSplit, SplitFinder, start_of_relation
from agent.rules.reading.asked_noun import find_asked_buckets
from agent.rules.reading.bucket_reading import BucketReading
from agent.rules.reading.question_reader import QuestionReader
from agent.rules.words.tokens import tokenize_question
from storage.search.conditions import (
    MAX_SEMI_JOIN_DEPTH,
    AndCondition,
    ComparisonCondition,
    Condition,
    NotCondition,
    OrCondition,
    SemiJoinCondition,
    conjunction_of,
    conjuncts_of,
    semi_join_depth,
)
from storage.search.ids import BucketId, LegId
from storage.search.plan import Leg, Search

PlanLeg: TypeAlias = Callable[[LegId, str, Sequence[BucketReading]], tuple[Leg, LegAlternatives]]
_MAX_SPLITS = 60  # tried in one question, and in one inner set
_MAX_READINGS = 48  # of parts of one question, each a few tenths of a millisecond


@dataclass(frozen=True, slots=True, kw_only=True)
class NestedLeg:
    """A leg whose search holds a semi-join, with what else was read."""

    leg: Leg
    alternatives: LegAlternatives
    reading: BucketReading  # of the question with a value in place of the inner set
    unexplained_count: int
    split: QuestionSplit
    inner: InnerSet
    is_by_role: bool  # the field that connects the two is named after neither, and not in the question
    assumptions: tuple[Assumption, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _OuterReading:
    """The question with `stand_in` in place of the words for the inner set, as read in the outer bucket."""

    split: QuestionSplit
    inner: InnerSet
    stand_in: str
    text: str
    reading: BucketReading


class NestedPlanner:
    """Plans one question. Reads each part of it once a bucket."""

    def __init__(self, reader: QuestionReader, plan_leg: PlanLeg) -> None:
        self._reader, self._plan_leg = reader, plan_leg
        self._joins = find_joins(reader.lexicons)
        self._stand_ins: dict[BucketJoin, str | None] = {}
        self._inner_sets: dict[tuple[BucketId, str, int], InnerSet | None] = {}
        self._read_texts: set[tuple[BucketId, str]] = set()

    def plan_nested(
        self, leg_id: LegId, question: str, plain: Leg, readings: Sequence[BucketReading]
    ) -> NestedLeg | None:
        """Returns the best nested leg if it explains the question better than the plain leg; else None."""
        if not self._joins:
            return None
        plain_count = self._count_unexplained(readings[0], plain)
        nested_legs: list[NestedLeg] = []
        for split in islice(self._splits_of(question, plain, readings, plain_count), _MAX_SPLITS):
            nested_legs += self._legs_of_split(leg_id, question, split)
            if (nested_legs and _is_best(nested_legs[-1])) or len(self._read_texts) > _MAX_READINGS:
                break
        asked = find_asked_buckets(readings, self._reader.lexicons)
        nested_legs = [nested for nested in nested_legs if not asked or nested.reading.bucket in asked]
        best = min(nested_legs, key=_rank_of, default=None)
        if best is None:
            return None
        if best.unexplained_count < plain_count:
            return best
        names_both = best.split.needs_noun and best.reading.has_noun and not readings[0].has_noun
        is_meant = names_both or best.split.is_dereference or _is_of_single_document(best, plain)
        return best if is_meant and best.unexplained_count == plain_count else None

    def _splits_of(
        self, question: str, plain: Leg, readings: Sequence[BucketReading], plain_count: int
    ) -> Iterator[QuestionSplit]:
        """Yields the splits that may explain more than the plain reading, the likeliest first."""
        finder = SplitFinder(question, self._reader.lexicons, self._joins)
        yield from finder.find_dereferences()
        if plain_count or plain.answer_form.grouping is not None or not readings[0].has_noun:
            yield from finder.find_noun_splits()
        if plain_count:
            yield from finder.find_field_splits()
            for reading in readings:
                if reading.unlinked_words and (reading.has_noun or reading.conditions):
                    yield from finder.find_value_splits(reading.unlinked_words, reading.bucket)

    # -- the outer question

    def _legs_of_split(self, leg_id: LegId, question: str, split: QuestionSplit) -> Iterator[NestedLeg]:
        outer = self._read_outer(question, split, depth=1)
        if outer is None:
            return
        leg, alternatives = self._plan_leg(leg_id, outer.text, [outer.reading])
        search = self._joined_search(leg.search, outer)
        if search is None or not _asks_something(leg, outer):
            return
        bucket = split.join.outer
        equal_readings = (
            replace(reading, search=joined, conditions=_conditions_of(joined, bucket))
            for reading in alternatives.equal_readings
            if (joined := self._joined_search(reading.search, outer)) is not None
        )
        yield NestedLeg(
            leg=replace(leg, question=question, search=replace(search, ranking_text=question)),
            alternatives=LegAlternatives(leg=leg_id, equal_readings=tuple(equal_readings)),
            reading=outer.reading,
            unexplained_count=self._count_unexplained(outer.reading, leg),
            split=split,
            inner=outer.inner,
            is_by_role=self._is_by_role(split.join, question),
            assumptions=(*outer.reading.assumptions, *_assumptions_of(leg, search)),
        )

    def _read_outer(self, question: str, split: QuestionSplit, depth: int) -> _OuterReading | None:
        """Returns the reading of the words around the inner set; None if either cannot be read."""
        inner = self._read_inner_set(split.join.inner, split.inner_text, depth)
        if inner is None or inner.is_everything or (split.needs_noun and not inner.has_noun):
            return None
        if not (split.needs_noun or inner.is_certain or inner.order is not None):
            return None
        stand_in = self._stand_in_for(split.join)
        if stand_in is None:
            return None
        text = f"{question[: split.start]}{stand_in}{question[split.end :]}"
        reading = self._read_in_bucket(split.join.outer, text)
        if split.join.is_within_bucket and not reading.has_noun:
            return None  # its noun is that of the inner set, and nothing names the outer one
        if reading.unlinked_words and not split.join.is_within_bucket:
            text, reading = self._drop_relation(split.join.outer, text, split.start, reading)
        return _OuterReading(split=split, inner=inner, stand_in=stand_in, text=text, reading=reading)

    def _drop_relation(
        self, bucket: BucketId, text: str, end: int, reading: BucketReading
    ) -> tuple[str, BucketReading]:
        """ "Towns that *lie on* …": the words between the noun and the inner set say how the two are connected."""
        start = start_of_relation(reading, end)
        if start is None:
            return text, reading
        shorter_text = f"{text[:start]} of {text[end:]}"
        shorter_reading = self._read_in_bucket(bucket, shorter_text)
        if len(shorter_reading.unlinked_words) < len(reading.unlinked_words):
            return shorter_text, shorter_reading
        return text, reading

    def _joined_search(self, search: Search, outer: _OuterReading) -> Search | None:
        """Returns the search with the inner set in place of the value that stood for it, or None."""
        if search.buckets != (outer.split.join.outer,):
            return None
        clause = search.clauses[0]
        condition = _join_condition(clause.condition, outer)
        if condition is None or any(outer.stand_in.casefold() in term.casefold() for term in clause.required_terms):
            return None
        return search.with_clauses(replace(clause, condition=condition))

    def _stand_in_for(self, join: BucketJoin) -> str | None:
        if join not in self._stand_ins:
            self._stand_ins[join] = find_stand_in(join, self._lexicon_of(join.outer))
        return self._stand_ins[join]

    def _is_by_role(self, join: BucketJoin, question: str) -> bool:
        """ "The province that has the largest town" is not the one whose *capital* that is."""
        bucket = join.outer if join.is_forward else join.inner
        named = self._reader.lexicons[join.inner if join.is_forward else join.outer]
        names = join.outer_fields if join.is_forward else (join.inner_key,)
        lexicon = self._lexicon_of(bucket)
        field_stems = frozenset[str]().union(*(lexicon.stems_of(name) for name in names))
        question_stems = {token.stem for token in tokenize_question(question, lexicon.analyser)}
        return not field_stems & (named.noun_stems | question_stems)

    # -- inner sets

    def _read_inner_set(self, bucket: BucketId, text: str, depth: int) -> InnerSet | None:
        """Returns the set that the words name in the bucket, with inner sets of its own where they explain more."""
        key = (bucket, text, depth)
        if key not in self._inner_sets:
            self._inner_sets[key] = None  # a set within itself is none
            request = list_request_for(text)
            plain = self._set_of(self._read_in_bucket(bucket, request))
            self._inner_sets[key] = plain if plain is not None else self._read_nested_set(bucket, request, depth)
        return self._inner_sets[key]

    def _read_nested_set(self, bucket: BucketId, request: str, depth: int) -> InnerSet | None:
        if depth >= MAX_SEMI_JOIN_DEPTH:
            return None
        finder = SplitFinder(request, self._reader.lexicons, self._joins)
        reading = self._read_in_bucket(bucket, request)
        splits = chain(
            finder.find_dereferences(bucket),
            finder.find_noun_splits(bucket),
            finder.find_field_splits(bucket),
            finder.find_value_splits(reading.unlinked_words, bucket) if reading.has_noun or reading.conditions else (),
        )
        for split in islice(splits, _MAX_SPLITS):
            if len(self._read_texts) > _MAX_READINGS:
                return None
            outer = self._read_outer(request, split, depth + 1)
            outer_set = None if outer is None else self._set_of(outer.reading)
            if outer is None or outer_set is None:
                continue
            condition = _join_condition(outer_set.condition, outer)
            if condition is not None and semi_join_depth(condition) < MAX_SEMI_JOIN_DEPTH:
                return replace(outer_set, condition=condition)
        return None

    def _read_in_bucket(self, bucket: BucketId, text: str) -> BucketReading:
        self._read_texts.add((bucket, text))
        return settle_own_names(self._reader.read_in_bucket(text, bucket), self._lexicon_of(bucket))

    def _count_unexplained(self, reading: BucketReading, leg: Leg) -> int:
        return count_unexplained(reading, leg.answer_form) + count_lost_relations(reading, self._reader.lexicons)

    def _set_of(self, reading: BucketReading) -> InnerSet | None:
        if count_lost_relations(reading, self._reader.lexicons):
            return None
        keys = {join.inner_key for join in self._joins if join.is_forward and join.inner == reading.bucket}
        return inner_set_of(reading, self._lexicon_of(reading.bucket), keys)

    def _lexicon_of(self, bucket: BucketId) -> BucketLexicon:
        return self._reader.lexicons[bucket]


def _assumptions_of(leg: Leg, search: Search) -> Iterator[Assumption]:
    """Yields what was taken, for answers that do not describe their set."""
    if leg.answer_form.reads_values:
        clause = search.clauses[0]
        yield TakenInnerSet(bucket=clause.bucket, conditions=conjuncts_of(clause.condition))


def _rank_of(nested: NestedLeg) -> tuple[int | bool, ...]:
    """Returns a sort key: words explained, then "the F of …", then an outer set that is named, and first."""
    conditions = len(nested.reading.conditions)
    return (nested.unexplained_count, not nested.split.is_dereference, *_doubts_about(nested), -conditions)


def _doubts_about(nested: NestedLeg) -> tuple[bool, ...]:
    return (
        nested.split.start == 0,
        not nested.reading.has_noun,
        nested.is_by_role,
        not nested.split.join.is_forward,
    )


def _is_best(nested: NestedLeg) -> bool:
    """Whether no later split can be better. Those behind a field come first."""
    return nested.unexplained_count == 0 and (nested.split.is_dereference or not any(_doubts_about(nested)))


def _is_of_single_document(nested: NestedLeg, plain: Leg) -> bool:
    """ "Which province has *the town with the most inhabitants*": a group is no single document."""
    return nested.inner.order is not None and nested.inner.limit == 1 and plain.answer_form.grouping is not None


def _asks_something(leg: Leg, outer: _OuterReading) -> bool:
    """Whether the question asks for more than the document that stands for the inner set."""
    reading = outer.reading
    asks = bool(reading.asked_mentions) or leg.answer_form.reads_values or leg.answer_form.computes
    return reading.has_noun or asks or len(reading.conditions) > 1


def _conditions_of(search: Search, bucket: BucketId) -> tuple[Condition, ...]:
    clause = search.clause_for(bucket)
    return () if clause is None else conjuncts_of(clause.condition)


def _join_condition(condition: Condition, outer: _OuterReading) -> Condition | None:
    """Returns the condition with the semi-join in place of the stand-in; None unless it stands for exactly one."""
    members = conjuncts_of(condition)
    replaced = [member for member in members if compares_with(member, outer.stand_in)]
    join = outer.split.join
    if len(replaced) != 1 or any(outer.stand_in in _values_in(member) for member in members if member not in replaced):
        return None
    comparison = replaced[0]
    if not isinstance(comparison, ComparisonCondition) or comparison.field not in join.outer_fields:
        return None
    inner = outer.inner
    semi_join = SemiJoinCondition(
        field=comparison.field,
        bucket=join.inner,
        key=join.inner_key,
        condition=inner.condition,
        order_by=None if inner.order is None else inner.order.field,
        is_descending=inner.order is None or inner.order.descending,
        limit=inner.limit,
        words=outer.split.inner_text,
    )
    return conjunction_of(*(semi_join if member is comparison else member for member in members))


def _values_in(condition: Condition) -> Sequence[object]:
    match condition:
        case ComparisonCondition(value=value):
            return value if isinstance(value, tuple) else (value,)
        case AndCondition(members) | OrCondition(members):
            return [value for member in members for value in _values_in(member)]
        case NotCondition(inner):
            return _values_in(inner)
        case _:
            return ()
