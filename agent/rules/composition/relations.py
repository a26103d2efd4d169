"""Relations between sets of documents, by the references of the schemas."""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace

from agent.rules.composition.phrases import FieldValues, LinkingWords, SetPhrase
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.nested.joins import BucketJoin, names_other_role, takes_day_of_outer
from storage.search.conditions import (
    MAX_SEMI_JOIN_DEPTH,
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    NotCondition,
    SemiJoinCondition,
    conjunction_of,
    conjuncts_of,
    semi_join_depth,
)
from storage.search.ids import BucketId, FieldName
from storage.search.schema import FieldType

# What it costs to take a relation, by how sure the words are that it is meant.
NAMED_COST = 0.0  # a word names its field: "states that *border* Texas"
_NOUN_COST = 0.1  # its field is called like the documents it refers to: the `state` of cities
_ONLY_COST = 0.4  # no other field relates the two
_ROLE_COST = 1.0  # the field says another role, which no word names: the `capital` of states
_SAME_BUCKET_COST = 1.3
_UNUSED_MENTION_COST = 1.0  # a word names another field
_BRIDGE_COST = 0.4  # the two are related by documents that are not named
_TURNED_COST = 0.1  # "states that border Texas" are not those that Texas borders


class BucketRelations:
    """The relations between the buckets in scope."""

    def __init__(self, lexicons: Mapping[BucketId, BucketLexicon], joins: Sequence[BucketJoin]) -> None:
        self._lexicons = lexicons
        self._joins = tuple(replace(join, outer_fields=(field,)) for join in joins for field in join.outer_fields)

    def relate(
        self,
        outer: SetPhrase,
        inner: SetPhrase,
        linking: LinkingWords,
        *,
        is_negated: bool = False,
        is_clause: bool = False,
    ) -> Iterator[tuple[SetPhrase, float]]:
        """Yields the documents of `outer` that belong to those of `inner`, with the cost of each relation.

        `is_clause`: the inner documents are what the verb is about: "the states *that Texas borders*".
        """
        joins = [join for join in self._joins if (join.outer, join.inner) == (outer.bucket, inner.bucket)]
        mentioned = {_reference_of(join) for join in joins} & linking.mentions
        for join in joins:
            if mentioned and _reference_of(join) not in mentioned:
                continue
            if join.is_within_bucket and not (mentioned or linking.relating):
                continue  # "states of Oregon"
            words = _words_of_set(inner)
            if names_other_role(join, words, self._joins, self._lexicons):
                continue
            if takes_day_of_outer(join, inner.condition, words, self._lexicons):
                continue
            condition = self._condition_for(join, inner)
            if condition is None:
                continue
            related = replace(
                outer,
                condition=conjunction_of(outer.condition, NotCondition(condition) if is_negated else condition),
                chosen_measures=outer.chosen_measures | inner.chosen_measures,
                depth=outer.depth + inner.depth + isinstance(condition, SemiJoinCondition),
            )
            cost = self._cost_of(join, joins, linking.mentions)
            if linking.mentions and _reference_of(join) not in linking.mentions:
                cost += _UNUSED_MENTION_COST
            is_turned = join.is_within_bucket and join.is_forward is is_clause
            yield related, cost + (_TURNED_COST if is_turned else 0.0)
        if not is_negated:
            yield from self._relate_through_others(outer, inner, linking)

    def _relate_through_others(
        self, outer: SetPhrase, inner: SetPhrase, linking: LinkingWords
    ) -> Iterator[tuple[SetPhrase, float]]:
        """ "The studios that she directed for": by films, whose director she is, and which a studio made.

        Only where a word names the field that leads to the inner documents, or nothing else relates the two.
        """
        direct = any((join.outer, join.inner) == (outer.bucket, inner.bucket) for join in self._joins)
        for first in self._joins:
            if first.outer != outer.bucket or first.is_forward or first.is_within_bucket:
                continue
            if first.inner == inner.bucket:
                continue
            middle = SetPhrase(bucket=first.inner)
            for second in self._joins:
                if (second.outer, second.inner) != (middle.bucket, inner.bucket) or not second.is_forward:
                    continue
                is_mentioned = _reference_of(second) in linking.mentions
                if direct and not is_mentioned:
                    continue
                if linking.mentions and not is_mentioned:
                    continue
                seconds = [join for join in self._joins if (join.outer, join.inner) == (second.outer, second.inner)]
                cost = _BRIDGE_COST + self._cost_of(second, seconds, linking.mentions)
                firsts = [join for join in self._joins if (join.outer, join.inner) == (first.outer, first.inner)]
                cost += self._cost_of(first, firsts, linking.mentions)
                bridged = self._condition_for(second, inner)
                if bridged is None:
                    continue
                condition = _semi_join(first.outer_fields[0], replace(middle, condition=bridged), first.inner_key)
                if condition is not None:
                    yield (
                        replace(
                            outer,
                            condition=conjunction_of(outer.condition, condition),
                            chosen_measures=outer.chosen_measures | inner.chosen_measures,
                            depth=outer.depth + inner.depth + 1,
                        ),
                        cost,
                    )

    def fields_referring_to(self, outer: SetPhrase, counted: SetPhrase) -> Iterator[tuple[FieldName, float]]:
        """Yields the fields of the counted documents that refer to those of `outer`, with the cost of each."""
        joins = [join for join in self._joins if (join.outer, join.inner) == (outer.bucket, counted.bucket)]
        for join in joins:
            if not join.is_forward and not join.is_within_bucket:
                yield join.inner_key, self._cost_of(join, joins, frozenset())

    def documents_of(self, values: FieldValues) -> Iterator[SetPhrase]:
        """Yields the documents that the values of the field refer to: those that "the capital of Texas" names."""
        documents = values.documents
        for join in self._joins:
            if join.is_forward and (join.outer, join.outer_fields) == (documents.bucket, (values.field,)):
                condition = _semi_join(join.inner_key, documents, values.field)
                if condition is not None:
                    is_list = self._lexicons[join.outer].get_field(values.field).type is FieldType.LIST
                    yield SetPhrase(
                        bucket=join.inner,
                        condition=condition,
                        is_plural=is_list or not documents.is_single,
                        key=join.inner_key if documents.is_single and not is_list else None,
                        chosen_measures=documents.chosen_measures,
                        depth=documents.depth + 1,
                    )

    def is_reference(self, bucket: BucketId, field: FieldName, target: BucketId) -> bool:
        """Whether the field of the bucket refers to documents of the other bucket."""
        return any(
            join.is_forward and (join.outer, join.outer_fields, join.inner) == (bucket, (field,), target)
            for join in self._joins
        )

    def _condition_for(self, join: BucketJoin, inner: SetPhrase) -> Condition | None:
        field = join.outer_fields[0]
        if join.is_forward and inner.key == join.inner_key and inner.name:
            is_list = self._lexicons[join.outer].get_field(field).type is FieldType.LIST
            op = ComparisonOperator.HAS if is_list else ComparisonOperator.EQ
            return ComparisonCondition(field=field, op=op, value=inner.name, words=inner.words)
        return _semi_join(field, inner, join.inner_key)

    def _cost_of(
        self, join: BucketJoin, joins: Sequence[BucketJoin], mentions: Set[tuple[BucketId, FieldName]]
    ) -> float:
        bucket, field = reference = _reference_of(join)
        if reference in mentions:
            return NAMED_COST
        if join.is_within_bucket:
            return _SAME_BUCKET_COST
        referred = join.inner if join.is_forward else join.outer
        if self._lexicons[bucket].label_stems_of(field) <= self._lexicons[referred].noun_stems:
            return _NOUN_COST
        return _ONLY_COST if len(joins) == 1 else _ROLE_COST


def _words_of_set(phrase: SetPhrase) -> str:
    """The words of the question for the set, else those for its conditions."""
    parts = (part.words for part in conjuncts_of(phrase.condition) if isinstance(part, ComparisonCondition))
    return phrase.words or " ".join(parts)


def _reference_of(join: BucketJoin) -> tuple[BucketId, FieldName]:
    """Returns the field that refers to other documents, with its bucket."""
    return (join.outer, join.outer_fields[0]) if join.is_forward else (join.inner, join.inner_key)


def compare_with_set(
    field: FieldName, op: ComparisonOperator, inner: SetPhrase, key: FieldName
) -> SemiJoinCondition | None:
    """Returns the condition that the field compares so with the key of the set; None if it is nested too deep."""
    semi_join = _semi_join(field, inner, key)
    return None if semi_join is None else replace(semi_join, op=op)


def _semi_join(field: FieldName, inner: SetPhrase, key: FieldName) -> SemiJoinCondition | None:
    """Returns the condition that the field has a value of the key in the inner set; None if it is nested too deep."""
    if semi_join_depth(inner.condition) >= MAX_SEMI_JOIN_DEPTH:
        return None
    order = inner.order
    return SemiJoinCondition(
        field=field,
        bucket=inner.bucket,
        key=key,
        condition=inner.condition,
        order_by=None if order is None else order.field,
        is_descending=order is None or order.descending,
        limit=inner.limit if order is not None else 1,
        words=inner.words,
    )
