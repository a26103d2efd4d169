"""Plans a question within a question: a part of it names an inner set, the rest is read as if it named one document.

The words for the inner set are replaced by a value that the outer field holds. The question that results is read and
planned like any other, and the condition on that value then becomes a semi-join with the inner set. So all forms of
answer, orders and numbers work as they do elsewhere. A nested reading is taken only if it explains more of the question
than the plain one, or if the plain one leaves the question's own documents out.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import TypeAlias

from agent.assumptions import Assumption, TakenInnerSet
from agent.decomposition import LegAlternatives
from agent.english.function_words import PREPOSITIONS
from agent.rules.cues.form_wording import drop_measure_words
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import BucketNoun, FieldMention, ValueMatch
from agent.rules.linking.link_filter import is_content_word
from agent.rules.nested.counted_splits import count_documents_in
from agent.rules.nested.inner_sets import InnerSet, count_unexplained, inner_set_of, list_request_for
from agent.rules.nested.joins import (
    BucketJoin,
    DocumentCount,
    compares_with,
    find_join_table,
    find_stand_in,
    names_other_role,
    takes_day_of_outer,
)
from agent.rules.nested.own_names import count_lost_relations, settle_own_names
from agent.rules.nested.question_splits import QuestionSplit, SplitFinder, start_of_relation
from agent.rules.nested.relative_splits import RelativeSplitFinder
from agent.rules.reading.asked_noun import find_asked_buckets
from agent.rules.reading.bucket_reading import BucketReading
from agent.rules.reading.question_reader import QuestionReader
from agent.rules.reading.word_roles import WordRole
from agent.rules.words.tokens import find_quotations, tokenize_question
from storage.search.conditions import (
    MAX_SEMI_JOIN_DEPTH,
    TITLE_FIELD,
    AndCondition,
    ComparisonCondition,
    Condition,
    MissingCondition,
    NotCondition,
    OrCondition,
    SemiJoinCondition,
    conjunction_of,
    conjuncts_of,
    semi_join_depth,
    semi_joins_in,
)
from storage.search.ids import BucketId, FieldName, LegId
from storage.search.plan import Leg, ListDocuments, Search

PlanLeg: TypeAlias = Callable[[LegId, str, Sequence[BucketReading]], tuple[Leg, LegAlternatives]]
# "All mines *but those* in Ostmark": a set that is left out is not an inner set.
_LEAVES_OUT_SET = re.compile(r"\b(?:but|except|besides|apart from|other than)\s+(?:for\s+)?(?:those|the ones)\b", re.I)
_OPEN_ON_DAYS = re.compile(
    r"\b(?:open|closed)\s+(?:(?:on|at|every|over)\s+)?(?:the\s+)?"
    r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|week(?:end|day)s?)\b",
    re.I,
)
_MAX_SPLITS = 200  # tried in one question, and in one inner set
_MIN_NOUN_WEIGHT = 1.0  # of a noun that is one of the bucket's own names
_MAX_READINGS = 160  # of parts of one question, each a few tenths of a millisecond


@dataclass(frozen=True, slots=True, kw_only=True)
class NestedLeg:
    """A leg whose search holds a semi-join, with what else was read."""

    leg: Leg
    alternatives: LegAlternatives
    reading: BucketReading  # of the question with a value in place of the inner set
    unexplained_count: int
    split: QuestionSplit
    inner: InnerSet
    is_first: bool  # nothing but words that ask appears before the inner set
    is_sibling: bool  # the two refer to the same documents of a third bucket
    is_by_role: bool  # the field that connects the two is named after neither, and not in the question
    assumptions: tuple[Assumption, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferredSet:
    """The documents that `field` of a set of documents of `bucket` refers to."""

    bucket: BucketId
    field: FieldName
    condition: Condition
    words: str


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
        self._join_table = find_join_table(reader.lexicons)
        self._joins, self._relative_joins = self._join_table.direct, self._join_table.relative
        self._stand_ins: dict[BucketJoin, str | None] = {}
        self._inner_sets: dict[tuple[BucketId, str, int], InnerSet | None] = {}
        self._readings: dict[tuple[BucketId, str], BucketReading] = {}
        self._plain_sets: dict[tuple[BucketId, str], InnerSet | None] = {}
        self._legs: dict[tuple[LegId, BucketId, str], tuple[Leg, LegAlternatives]] = {}

    def plan_nested(
        self, leg_id: LegId, question: str, plain: Leg, readings: Sequence[BucketReading]
    ) -> NestedLeg | None:
        """Returns the best nested leg if it explains the question better than the plain leg; else None."""
        if not self._relative_joins:
            return None
        plain_count = self._count_unexplained(readings[0], plain)
        asked = find_asked_buckets(readings, self._reader.lexicons)
        best: NestedLeg | None = None
        for split in islice(self._splits_of(question, plain, readings, plain_count), _MAX_SPLITS):
            if (asked and split.join.outer not in asked) or _cuts_value(split, readings[0]):
                continue
            if (hours := _OPEN_ON_DAYS.search(question)) is not None and split.start <= hours.start() < split.end:
                continue  # "open on Saturdays" is no status of other documents
            if names_other_role(split.join, split.inner_text, self._joins, self._reader.lexicons):
                continue
            if best is not None and self._least_rank_of(question, split) > _rank_of(best):
                continue
            nested_legs = list(self._legs_of_split(leg_id, question, split))
            for nested in nested_legs:
                reads_more = nested.leg.answer_form.reads_text and not plain.answer_form.reads_text
                if _is_plausible(nested) and not reads_more and not self._loses_value(nested, readings[0]):
                    best = nested if best is None else min(best, nested, key=_rank_of)
            if any(map(_is_best, nested_legs)) or len(self._readings) > _MAX_READINGS:
                break
        if best is None:
            return None
        if best.split.join.is_within_bucket and plain.answer_form.reads_values:
            return None  # "who is her boss": the value, which is named after the document that it refers to
        if not (plain_count or best.reading.has_noun) and _lists_own_keys(plain, best.split.join):
            return None
        if best.unexplained_count < plain_count:
            return best
        names_both = best.split.needs_noun and best.reading.has_noun and not readings[0].has_noun
        is_meant = names_both or best.split.is_structural or _is_of_single_document(best, plain)
        return best if is_meant and best.unexplained_count == plain_count else None

    def _splits_of(
        self, question: str, plain: Leg, readings: Sequence[BucketReading], plain_count: int
    ) -> Iterator[QuestionSplit]:
        """Yields the splits that may explain more than the plain reading, the likeliest first."""
        finder = SplitFinder(question, self._reader.lexicons, self._join_table)
        relatives = RelativeSplitFinder(question, self._reader.lexicons)
        yield from relatives.find_splits(self._relative_joins)
        if plain_count:
            yield from relatives.find_name_splits(self._joins)
        yield from finder.find_dereferences()
        may_name_inner = plain_count or plain.answer_form.grouping is not None or not readings[0].has_noun
        for split in self._with_counts(question, finder.find_noun_splits()):
            if may_name_inner or split.is_counted:
                yield split
        for split in finder.find_field_splits():
            if plain_count or split.is_clause:
                yield split
        if plain_count:
            for reading in readings:
                if reading.unlinked_words and (reading.has_noun or reading.conditions):
                    value_splits = finder.find_value_splits(reading)
                    for split in self._with_counts(question, value_splits):
                        if split.count.least or not self._is_by_role(split.join, question):
                            yield split

    def _with_counts(self, question: str, splits: Iterator[QuestionSplit]) -> Iterator[QuestionSplit]:
        """Yields the splits, with the number of documents that the words before them ask for."""
        literals, quotations = self._reader.literals_in(question), find_quotations(question)
        for split in splits:
            tokens = tokenize_question(question, self._lexicon_of(split.join.inner).analyser, quotations)
            counted = list(count_documents_in(split, question, tokens, literals))
            yield from counted
            if not any(other.count.least == 0 for other in counted):
                yield split
                if split.join.can_be_counted:
                    yield replace(split, is_left_out=True)

    def plan_with_set(
        self, leg_id: LegId, question: str, parts: tuple[str, str, str], referred: ReferredSet
    ) -> Leg | None:
        """Plans a question about the documents that those of a set refer to; None if it is not understood there.

        `parts` are the words before the reference, its form with `{}` in place of a name, and the words behind it.
        """
        legs: list[tuple[tuple[bool, int], Leg]] = []
        inner = InnerSet(condition=referred.condition, has_noun=False, is_certain=True)
        joins = (join for join in self._joins if not join.is_forward and not join.is_within_bucket)
        for join in joins:
            if (join.inner, join.inner_key) != (referred.bucket, referred.field):
                continue
            stand_in = self._stand_in_for(join)
            if stand_in is None:
                continue
            text = f"{parts[0]}{parts[1].format(stand_in)}{parts[2]}"
            reading = self._read_in_bucket(join.outer, text)
            split = QuestionSplit(join=join, start=0, end=0, inner_text=referred.words, is_dereference=True)
            outer = _OuterReading(split=split, inner=inner, stand_in=stand_in, text=text, reading=reading)
            leg, _ = self._plan_leg(leg_id, text, [reading])
            search = self._joined_search(leg.search, outer)
            if search is not None and not self._count_unexplained(reading, leg) and leg.answer_form.reads_values:
                joined = replace(leg, question=question, search=replace(search, ranking_text=question))
                legs.append(((join.outer_fields != (TITLE_FIELD,), len(legs)), joined))
        return min(legs, key=lambda pair: pair[0])[1] if legs else None

    # -- the outer question

    def _legs_of_split(self, leg_id: LegId, question: str, split: QuestionSplit) -> Iterator[NestedLeg]:
        outer = self._read_outer(question, split, depth=1)
        if outer is None:
            return
        leg, alternatives = self._plan_outer_leg(leg_id, outer)
        search = self._joined_search(leg.search, outer)
        if search is None or not _asks_something(leg, outer):
            return
        if split.is_left_out and leg.answer_form.reads_text:
            leg = replace(leg, answer_form=ListDocuments())  # "owners", of "owners without a loan"
        bucket = split.join.outer
        equal_readings = (
            replace(reading, search=joined, conditions=_conditions_of(joined, bucket))
            for reading in alternatives.equal_readings
            if (joined := self._joined_search(reading.search, outer)) is not None
        )
        yield NestedLeg(
            leg=replace(leg, question=question, search=replace(search, ranking_text=question)),
            alternatives=LegAlternatives(
                leg=leg_id,
                equal_readings=tuple(equal_readings),
                unknown_words=alternatives.unknown_words,
                suggested_fields=alternatives.suggested_fields,
                is_understood=alternatives.is_understood and leg.answer_form.reads_values,
            ),
            reading=outer.reading,
            unexplained_count=self._count_unexplained(outer.reading, leg),
            split=split,
            inner=outer.inner,
            is_first=self._is_first(question, split),
            is_sibling=split.join not in self._joins,
            is_by_role=self._is_by_role(split.join, question),
            assumptions=(*outer.reading.assumptions, *_assumptions_of(leg, search)),
        )

    def _plan_outer_leg(self, leg_id: LegId, outer: _OuterReading) -> tuple[Leg, LegAlternatives]:
        """Plans the words around the inner set. Several splits leave the same words."""
        key = (leg_id, outer.reading.bucket, outer.text)
        if key not in self._legs:
            self._legs[key] = self._plan_leg(leg_id, outer.text, [outer.reading])
        return self._legs[key]

    def _read_outer(self, question: str, split: QuestionSplit, depth: int) -> _OuterReading | None:
        """Returns the reading of the words around the inner set; None if either cannot be read."""
        inner = self._read_inner_set(split.join.inner, split.inner_text, depth)
        if inner is None or (inner.is_everything and not split.is_counted) or (split.needs_noun and not inner.has_noun):
            return None
        if not (split.needs_noun or inner.is_certain or inner.order is not None):
            return None
        if takes_day_of_outer(split.join, inner.condition, split.inner_text, self._reader.lexicons):
            return None
        members = conjuncts_of(inner.condition)
        if MissingCondition(field=split.join.inner_key) in members:
            return None  # documents that refer to nothing
        if not split.needs_noun and members and all(isinstance(member, MissingCondition) for member in members):
            return None  # "never taken" says little about the documents of another bucket
        if split.is_left_out:
            return self._read_without(question, split, inner)
        stand_in = self._stand_in_for(split.join)
        if stand_in is None:
            return None
        text = f"{question[: split.start]}{stand_in}{question[split.end :]}"
        reading = self._read_in_bucket(split.join.outer, text)
        if split.join.is_within_bucket and not reading.has_noun:
            return None  # its noun is that of the inner set, and nothing names the outer one
        if reading.unlinked_words and not split.join.is_within_bucket:
            text, reading = self._drop_relation(split.join.outer, text, split.start, reading)
        if _asks_who_alone(reading, self._lexicon_of(split.join.outer)):
            return None
        if self._names_more_than_set(split, question[: split.start], reading):
            return None
        return _OuterReading(split=split, inner=inner, stand_in=stand_in, text=text, reading=reading)

    def _names_more_than_set(self, split: QuestionSplit, text_before: str, reading: BucketReading) -> bool:
        """ "*Sycamore* house": whether the word before the set belongs to it, and names something else with it."""
        word = text_before.split()[-1] if text_before.split() else ""
        is_apposition = reading.word_roles.get(word) is WordRole.EXPLAINED and word in reading.unlinked_words
        lexicons = (self._lexicon_of(split.join.outer), self._lexicon_of(split.join.inner))
        nouns = lexicons[1].noun_stems.union(*(lexicons[0].stems_of(name) for name in split.join.outer_fields))
        return is_apposition and nouns.isdisjoint(lexicons[0].stems_in(word))

    def _read_without(self, question: str, split: QuestionSplit, inner: InnerSet) -> _OuterReading | None:
        """Returns the reading of the question without the inner set; None without a noun for the outer documents."""
        bucket, end = split.join.outer, split.start
        text = f"{question[:end]} {question[split.end :]}"
        reading = self._read_in_bucket(bucket, text)
        if reading.unlinked_words:
            start = start_of_relation(reading, end)
            shorter_text = text if start is None else f"{text[:start]} {text[end:]}"
            shorter_reading = self._read_in_bucket(bucket, shorter_text)
            if len(shorter_reading.unlinked_words) < len(reading.unlinked_words):
                text, reading = shorter_text, shorter_reading
        return (
            _OuterReading(split=split, inner=inner, stand_in="", text=text, reading=reading)
            if reading.has_noun
            else None
        )

    def _drop_relation(
        self, bucket: BucketId, text: str, end: int, reading: BucketReading
    ) -> tuple[str, BucketReading]:
        """ "Towns that *lie on* …": the words between the noun and the inner set say how the two are connected."""
        start = start_of_relation(reading, end)
        if start is None:
            return text, reading
        word_before = text[:end].split()[-1].casefold()
        link = word_before if word_before in PREPOSITIONS else "of"
        shorter_text = f"{text[:start]} {link} {text[end:]}"
        shorter_reading = self._read_in_bucket(bucket, shorter_text)
        if len(shorter_reading.unlinked_words) < len(reading.unlinked_words):
            return shorter_text, shorter_reading
        return text, reading

    def _loses_value(self, nested: NestedLeg, plain: BucketReading) -> bool:
        """ "Doors that *failed* at the tower": whether the nested leg knows nothing of a value in the plain reading."""
        inner = self._read_in_bucket(nested.split.join.inner, list_request_for(nested.split.inner_text))
        values = _linked_words(plain, ValueMatch)
        return not values <= _linked_words(nested.reading, object) | _linked_words(inner, object)

    def _joined_search(self, search: Search, outer: _OuterReading) -> Search | None:
        """Returns the search with the inner set in place of the value that stood for it, or None."""
        if search.buckets != (outer.split.join.outer,):
            return None
        clause = search.clauses[0]
        condition = _join_condition(clause.condition, outer)
        if condition is None:
            return None
        if not outer.split.is_left_out and any(
            outer.stand_in.casefold() in term.casefold() for term in clause.required_terms
        ):
            return None
        return search.with_clauses(replace(clause, condition=condition))

    def _stand_in_for(self, join: BucketJoin) -> str | None:
        if join not in self._stand_ins:
            self._stand_ins[join] = find_stand_in(join, self._reader.lexicons)
        return self._stand_ins[join]

    def _is_first(self, question: str, split: QuestionSplit) -> bool:
        tokens = tokenize_question(question, self._lexicon_of(split.join.outer).analyser)
        return not any(is_content_word(token) for token in tokens if token.start < split.start)

    def _least_rank_of(self, question: str, split: QuestionSplit) -> tuple[int | bool, ...]:
        """Returns the start of the least rank that a leg of the split may have, as far as it is known unread."""
        return (
            0,
            not split.is_counted,
            not split.is_structural,
            split.join not in self._joins,
            -len(split.inner_text) if split.is_structural else 0,
            self._is_first(question, split) and not split.is_structural,
            False,
            False,
            self._is_by_role(split.join, question),
            not split.join.is_forward,
        )

    def _is_by_role(self, join: BucketJoin, question: str) -> bool:
        """ "The province that has the largest town" is not the one whose *capital* that is."""
        bucket = join.outer if join.is_forward else join.inner
        named = self._reader.lexicons[join.inner if join.is_forward else join.outer]
        names = join.outer_fields if join.is_forward else (join.inner_key,)
        lexicon = self._lexicon_of(bucket)
        field_stems = frozenset[str]().union(*(lexicon.label_stems_of(name) for name in names))
        question_stems = {token.stem for token in tokenize_question(question, lexicon.analyser)}
        return not field_stems <= (named.noun_stems | question_stems)

    # -- inner sets

    def _read_inner_set(self, bucket: BucketId, text: str, depth: int) -> InnerSet | None:
        """Returns the set that the words name in the bucket, with inner sets of its own where they explain more."""
        key = (bucket, text, depth)
        if key not in self._inner_sets:
            self._inner_sets[key] = None  # a set within itself is none
            if _LEAVES_OUT_SET.search(text):
                return None
            request = list_request_for(text)
            plain = self._plain_set_of(bucket, request)
            self._inner_sets[key] = plain if plain is not None else self._read_nested_set(bucket, request, depth)
        return self._inner_sets[key]

    def _read_nested_set(self, bucket: BucketId, request: str, depth: int) -> InnerSet | None:
        if depth >= MAX_SEMI_JOIN_DEPTH:
            return None
        finder = SplitFinder(request, self._reader.lexicons, self._join_table)
        reading = self._read_in_bucket(bucket, request)
        may_miss_values = reading.has_noun or bool(reading.conditions)
        splits = chain(
            RelativeSplitFinder(request, self._reader.lexicons).find_splits(self._relative_joins, bucket),
            finder.find_dereferences(bucket),
            self._with_counts(request, finder.find_noun_splits(bucket)),
            finder.find_field_splits(bucket),
            (split for split in finder.find_value_splits(reading) if split.join.is_forward) if may_miss_values else (),
        )
        for split in islice(splits, _MAX_SPLITS):
            if len(self._readings) > _MAX_READINGS:
                return None
            outer = self._read_outer(request, split, depth + 1)
            outer_set = None if outer is None else self._plain_set_of(split.join.outer, outer.text)
            if outer is None or outer_set is None:
                continue
            condition = _join_condition(outer_set.condition, outer)
            if condition is not None and semi_join_depth(condition) < MAX_SEMI_JOIN_DEPTH:
                return replace(outer_set, condition=condition)
        return None

    def _read_in_bucket(self, bucket: BucketId, text: str) -> BucketReading:
        key = (bucket, text)
        if key not in self._readings:
            reading = self._reader.read_in_bucket(text, bucket)
            self._readings[key] = settle_own_names(reading, self._reader.lexicons)
        return self._readings[key]

    def _count_unexplained(self, reading: BucketReading, leg: Leg) -> int:
        lexicon = self._lexicon_of(reading.bucket)
        reading = drop_measure_words(reading, leg.answer_form, lexicon)
        asked = (name for bucket, name in leg.answer_form.requested_fields if bucket == reading.bucket)
        asked_stems = frozenset[str]().union(*map(lexicon.stems_of, asked))
        asking_words = {token.word for token in reading.tokens if token.stem in asked_stems}
        unlinked = tuple(words for words in reading.unlinked_words if words.casefold() not in asking_words)
        unexplained_count = count_unexplained(replace(reading, unlinked_words=unlinked), leg.answer_form)
        return unexplained_count + count_lost_relations(reading, self._reader.lexicons) + self._count_nouns(reading)

    def _count_nouns(self, reading: BucketReading) -> int:
        """Returns how many nouns for documents of joined buckets the reading takes for a hint or for a unit."""
        covered = {
            index
            for link in reading.links
            if not (isinstance(link.meaning, FieldMention) and link.meaning.is_hint)
            for index in range(link.first, link.last)
        }
        unlinked = {word for words in reading.unlinked_words for word in words.casefold().split()}
        joined = {join.inner for join in self._joins if join.outer == reading.bucket and join.can_be_counted}
        foreign = {
            index
            for bucket in joined
            for link in self._lexicon_of(bucket).find_links(reading.tokens)
            if isinstance(link.meaning, BucketNoun) and link.weight >= _MIN_NOUN_WEIGHT
            for index in range(link.first, link.last)
        }
        return len({index for index in foreign - covered if reading.tokens[index].word not in unlinked})

    def _plain_set_of(self, bucket: BucketId, text: str) -> InnerSet | None:
        """Returns the set that the text names without inner sets of its own."""
        if (bucket, text) not in self._plain_sets:
            self._plain_sets[bucket, text] = self._set_of(self._read_in_bucket(bucket, text))
        return self._plain_sets[bucket, text]

    def _set_of(self, reading: BucketReading) -> InnerSet | None:
        keys = {join.inner_key for join in self._joins if join.is_forward and join.inner == reading.bucket}
        lexicon = self._lexicon_of(reading.bucket)
        names = (field.name for field in lexicon.schema.fields if lexicon.is_identifying(field.name))
        keys |= {name for name in names if lexicon.label_stems_of(name) <= lexicon.noun_stems}
        inner = inner_set_of(reading, lexicon, keys)
        if inner is None or count_lost_relations(reading, self._reader.lexicons) or self._count_nouns(reading):
            return None
        return inner

    def _lexicon_of(self, bucket: BucketId) -> BucketLexicon:
        return self._reader.lexicons[bucket]


def _lists_own_keys(plain: Leg, join: BucketJoin) -> bool:
    """ "The *job numbers* of all open jobs": whether the plain leg gives the names by which others refer to them."""
    grouping = plain.answer_form.grouping
    return plain.search.buckets == (join.inner,) and grouping is not None and grouping.field == join.inner_key


def _assumptions_of(leg: Leg, search: Search) -> Iterator[Assumption]:
    """Yields what was taken, for answers that do not describe their set."""
    if leg.answer_form.reads_values:
        clause = search.clauses[0]
        yield TakenInnerSet(bucket=clause.bucket, conditions=conjuncts_of(clause.condition))


def _asks_who_alone(reading: BucketReading, lexicon: BucketLexicon) -> bool:
    """ "*Who* leads the project": whether only "who" names the documents, of which none is a person."""
    nouns = [link for link in reading.links if isinstance(link.meaning, BucketNoun)]
    are_who = bool(nouns) and all(reading.tokens[link.first].word == "who" for link in nouns)
    return are_who and not lexicon.roles.holds_people and len(reading.conditions) <= 1 and not reading.asked_mentions


def _cuts_value(split: QuestionSplit, plain: BucketReading) -> bool:
    """ "*Nathan* Gill's boss": whether the words for the inner set are a part of a name that is known as a whole."""
    values = (
        (plain.tokens[link.first].start, plain.tokens[link.last - 1].end)
        for link in plain.links
        if isinstance(link.meaning, ValueMatch)
    )
    return any(
        start < split.end and split.start < end and (start < split.start or split.end < end) for start, end in values
    )


def _is_plausible(nested: NestedLeg) -> bool:
    """Whether a join back that no noun names explains every word, and no join leads back to where it came from."""
    split, outer = nested.split, nested.split.join.outer
    names_outer = any(
        isinstance(link.meaning, BucketNoun) and link.weight >= _MIN_NOUN_WEIGHT for link in nested.reading.links
    )
    is_named = split.needs_noun or split.is_dereference or split.is_clause or (split.join.is_forward and names_outer)
    if not is_named and nested.unexplained_count:
        return False
    inner_buckets = {semi_join.bucket for semi_join in semi_joins_in(nested.inner.condition)}
    return outer not in inner_buckets or split.is_structural or split.join.is_within_bucket


def _rank_of(nested: NestedLeg) -> tuple[int | bool, ...]:
    """Returns a sort key: words explained, then "the F of …", then an outer set that is named, and first.

    Of two dereferences, "the keeper of the studio of …" and "the studio of …", the outer one is meant.
    """
    split = nested.split
    length = len(split.inner_text) if split.is_structural else 0
    return (
        nested.unexplained_count,
        not split.is_counted,
        not split.is_structural,
        nested.is_sibling,
        -length,
        *_doubts_about(nested),
        -len(nested.reading.conditions),
    )


def _doubts_about(nested: NestedLeg) -> tuple[bool, ...]:
    return (
        nested.is_first and not nested.split.is_structural,
        not nested.reading.has_noun and not nested.split.is_dereference,
        semi_join_depth(nested.leg.search.clauses[0].condition) > 1,
        nested.is_by_role,
        not nested.split.join.is_forward,
    )


def _is_best(nested: NestedLeg) -> bool:
    """Whether no later split can be better. Those behind a field come first."""
    return nested.unexplained_count == 0 and not nested.split.is_dereference and not any(_doubts_about(nested))


def _is_of_single_document(nested: NestedLeg, plain: Leg) -> bool:
    """ "Which province has *the town with the most inhabitants*": a group is not a single document."""
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
    if outer.split.is_left_out:
        return conjunction_of(*members, _semi_join_for(outer, outer.split.join.outer_fields[0]))
    replaced = [member for member in members if compares_with(member, outer.stand_in)]
    join = outer.split.join
    if len(replaced) != 1 or any(outer.stand_in in _values_in(member) for member in members if member not in replaced):
        return None
    comparison = replaced[0]
    if not isinstance(comparison, ComparisonCondition) or comparison.field not in join.outer_fields:
        return None
    joined = _semi_join_for(outer, comparison.field)
    return conjunction_of(*(joined if member is comparison else member for member in members))


def _semi_join_for(outer: _OuterReading, field: FieldName) -> Condition:
    inner, join = outer.inner, outer.split.join
    semi_join = SemiJoinCondition(
        field=field,
        bucket=join.inner,
        key=join.inner_key,
        condition=inner.condition,
        order_by=None if inner.order is None else inner.order.field,
        is_descending=inner.order is None or inner.order.descending,
        limit=inner.limit,
        words=outer.split.inner_text,
    )
    return _counted_condition(semi_join, outer.split.count)


def _counted_condition(semi_join: SemiJoinCondition, count: DocumentCount) -> Condition:
    """Returns the condition that the number of documents of the inner set is within the bounds."""
    parts: list[Condition] = [replace(semi_join, min_count=count.least)] if count.least else []
    if count.most is not None:
        parts.append(NotCondition(replace(semi_join, min_count=count.most + 1)))
    return conjunction_of(*parts)


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


def _linked_words(reading: BucketReading, kind: type[object]) -> frozenset[str]:
    """Returns the words, in lower case, that mean something of this kind, or belong to a literal."""
    links = (link for link in reading.links if isinstance(link.meaning, kind))
    tokens = (index for link in links for index in range(link.first, link.last))
    literals = reading.literal_tokens if kind is object else ()
    return frozenset(reading.tokens[index].word for index in (*tokens, *literals))
