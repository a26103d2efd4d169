"""Finds the words of a question that nothing in its plan expresses."""

import itertools
from collections.abc import Iterator, Mapping, Sequence, Set

from agent.condition_walk import walk_conditions
from agent.english.function_words import (
    AGGREGATE_WORDS,
    COMPARATORS,
    CONTAINER_NOUNS,
    COURTESY_WORDS,
    DOCUMENT_NOUNS,
    HAVE_WORDS,
    LINKING_VERBS,
    MEMBER_NOUNS,
    NEGATIONS,
    PRONOUNS,
    QUANTIFIERS,
    QUESTION_WORDS,
    REQUEST_VERBS,
    STOP_WORDS,
)
from agent.english.gradable_adjectives import scale_of_superlative
from agent.english.rota_words import WORDS_ABOUT_DAYS, weekday_of_word
from agent.english.stock_words import (
    QUANTITY_IN_STOCK_WORDS,
    STOCK_VALUE_WORDS,
    names_quantity_at_place,
    rank_stock_name,
)
from agent.english.telling_words import TYPED_CONTRACTIONS
from agent.rules.forms.change_over_time import FORM_WORDS as CHANGE_WORDS
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.reading.empty_phrases import find_keeping_phrases, is_identifying_noun
from agent.rules.words.tokens import QuestionToken, tokenize_question
from storage.search.analyser import fold_text
from storage.search.conditions import (
    AndCondition,
    ComparisonCondition,
    Condition,
    FieldComparisonCondition,
    MissingCondition,
    NotCondition,
    OrCondition,
    RowCondition,
    SemiJoinCondition,
)
from storage.search.ids import BucketId, FieldName
from storage.search.plan import AggregateFunction, AnswerForm, ChangeOverTime, Clause, Leg, Plan

_SHARE_WORDS = frozenset("share percentage percent proportion fraction per cent".split())
# What stands before the apostrophe of "haven't"
_CONTRACTED_VERBS = frozenset(
    "isn aren wasn weren don doesn didn hasn haven hadn won wouldn couldn shouldn mustn needn ain".split()
)
_WORDS_WITHOUT_CONTENT = (
    STOP_WORDS
    | _CONTRACTED_VERBS
    | CONTAINER_NOUNS
    | QUESTION_WORDS
    | REQUEST_VERBS
    | LINKING_VERBS
    | COURTESY_WORDS
    | COMPARATORS
    | DOCUMENT_NOUNS
    | PRONOUNS
    | QUANTIFIERS
    | HAVE_WORDS
    | TYPED_CONTRACTIONS
    | {"item", "items"}
) - NEGATIONS


def find_uncovered_words(plan: Plan, lexicons: Mapping[BucketId, BucketLexicon]) -> tuple[str, ...]:
    """Returns the words of the question that stand for nothing in the plan: no noun of its buckets, no field that it
    uses, no words of its conditions, no order or number that it asks for.
    """
    buckets = [bucket for bucket in plan.read_buckets if bucket in lexicons]
    if not buckets:
        return ()
    analyser = lexicons[buckets[0]].analyser
    covered = set[str]()
    for leg in plan.legs:
        covered |= stems_covered_by(leg, lexicons)
    covered_words = {
        token.word
        for leg in plan.legs
        for clause in leg.search.clauses
        for words in words_of_conditions(clause)
        for token in tokenize_question(words, analyser)  # as the question is: "TO-3" has two words
    }.union(
        *(
            _words_of_form(leg.answer_form) | words_for_stock(leg, lexicons) | words_for_day_column(leg)
            for leg in plan.legs
        )
    )
    computes = any(leg.answer_form.computes for leg in plan.legs)
    is_ordered = any(leg.answer_form.list_order or leg.answer_form.list_limit or computes for leg in plan.legs)
    is_negated = any(_has_negation(clause) for leg in plan.legs for clause in leg.search.clauses)
    tokens = tokenize_question(plan.question, analyser)
    parts_of_nouns = _parts_of_nouns(tokens, [lexicons[bucket] for bucket in buckets])
    return tuple(
        token.word
        for index, token in enumerate(tokens)
        if index not in parts_of_nouns
        and not _is_covered(
            token, covered, covered_words, computes=computes, is_ordered=is_ordered, is_negated=is_negated
        )
    )


def _words_of_form(form: AnswerForm) -> Set[str]:
    """ "What *percentage* of", "how did it *develop* over the *years*": the words that ask for such a number."""
    if isinstance(form, ChangeOverTime):
        return CHANGE_WORDS
    return _SHARE_WORDS if AggregateFunction.SHARE in form.computed_functions else frozenset()


def words_for_stock(leg: Leg, lexicons: Mapping[BucketId, BucketLexicon]) -> Set[str]:
    """ "How many are *in stock*", "… are *left*": the words for a quantity in stock that is asked for, or its value."""
    if leg.answer_form.computed_factor is not None:
        return STOCK_VALUE_WORDS
    asked = {name for _, name in leg.answer_form.requested_fields} | {leg.answer_form.computed_field}
    labels = (
        field.label
        for bucket in leg.search.buckets
        if bucket in lexicons
        for field in lexicons[bucket].schema.fields
        if field.name in asked
    )
    holds_stock = any(rank_stock_name(frozenset(fold_text(label).replace("_", " ").split())) for label in labels)
    return QUANTITY_IN_STOCK_WORDS if holds_stock else frozenset()


def words_for_day_column(leg: Leg) -> Set[str]:
    """ "Which *shop* is she *in* on *Wednesdays*": the words around a day, if its column in a rota is read."""
    reads_day = any(weekday_of_word(fold_text(name)) is not None for _, name in leg.answer_form.requested_fields)
    return WORDS_ABOUT_DAYS if reads_day else frozenset()


def _parts_of_nouns(tokens: Sequence[QuestionToken], lexicons: Sequence[BucketLexicon]) -> frozenset[int]:
    """Returns the positions of words that only belong to a noun for the documents.

    Names of fields right before it, as in "*customer* orders"; what numbers the documents, and what keeps them.
    """
    modifiers = frozenset(
        index
        for index, (token, following) in enumerate(itertools.pairwise(tokens))
        for lexicon in lexicons
        if (token.word in MEMBER_NOUNS and following.word == "of")
        or (
            following.stem in lexicon.noun_stems
            and any(lexicon.is_known_of_all(field.name) for field in lexicon.fields_named_by(token.stem))
        )
    )
    numbers = frozenset(
        index
        for index in range(len(tokens))
        if any(is_identifying_noun(tokens, index, lexicon.noun_stems) for lexicon in lexicons)
    )
    return modifiers.union(numbers, *(find_keeping_phrases(tokens, lexicon.noun_stems) for lexicon in lexicons))


def names_its_documents(plan: Plan, lexicons: Mapping[BucketId, BucketLexicon]) -> bool:
    """Whether the question has a noun for the documents of each part that is about a set; of one bucket needs none."""
    if len(lexicons) <= 1:
        return True
    return all(
        any(
            token.stem in lexicons[bucket].noun_stems
            for bucket in leg.search.buckets
            if bucket in lexicons
            for token in tokenize_question(plan.question, lexicons[bucket].analyser)
        )
        for leg in plan.legs
        if leg.answer_form.names_a_set
    )


def _is_covered(
    token: QuestionToken, stems: set[str], words: set[str], *, computes: bool, is_ordered: bool, is_negated: bool
) -> bool:
    word = token.word
    if word in _WORDS_WITHOUT_CONTENT or token.stem in stems or word in words:
        return True
    if word in AGGREGATE_WORDS:
        return computes or is_ordered
    if word in _WORDS_ON_AMOUNTS:
        return computes
    if word in NEGATIONS:
        return is_negated
    return is_ordered and scale_of_superlative((word,)) is not None


# What is said of an amount that is added up: "how much *money*", "*including VAT*".
_WORDS_ON_AMOUNTS = frozenset("money vat tax gst incl inc including excl exc excluding".split())
_OWING_STEMS = frozenset({"owe"})  # of a synonym of "arrears" and "balance" that says nothing else


def stems_covered_by(leg: Leg, lexicons: Mapping[BucketId, BucketLexicon]) -> set[str]:
    """Returns the stems of the nouns and of the names of the fields that the leg uses."""
    stems = set[str]()
    used = used_fields_of(leg)
    for clause in leg.search.clauses:
        if clause.bucket in lexicons:
            stems |= lexicons[clause.bucket].noun_stems
    for bucket, name in used:
        if bucket in lexicons:
            lexicon = lexicons[bucket]
            stems |= lexicon.noun_stems
            stems |= lexicon.label_stems_of(name) if name in lexicon.schema.by_name else frozenset()
            if name in lexicon.schema.by_name and names_quantity_at_place(lexicon.get_field(name).label):
                stems |= lexicon.stems_of(name)  # "at Harbury" of "Qty HB"
            stems |= _OWING_STEMS & lexicon.stems_of(name) if name in lexicon.schema.by_name else frozenset()
    return stems


def used_fields_of(leg: Leg) -> frozenset[tuple[BucketId, FieldName]]:
    """Returns the fields of the leg's conditions, and those that its form asks for, computes, groups or sorts by."""
    form = leg.answer_form
    names = {name for _, name in form.requested_fields}
    names |= {name for name in (form.computed_field, form.computed_factor) if name is not None}
    names |= {group.field for group in (form.grouping, form.second_grouping) if group is not None}
    names |= {form.list_order.field} if form.list_order is not None else set()
    names |= set(form.fields_beside)
    return frozenset[tuple[BucketId, FieldName]]().union(
        *(
            {(clause.bucket, name) for name in names} | set(_used_fields(clause.condition, clause.bucket))
            for clause in leg.search.clauses
        )
    )


def _used_fields(condition: Condition, bucket: BucketId) -> Iterator[tuple[BucketId, FieldName]]:
    for own_bucket, member in walk_conditions(condition, bucket):
        match member:
            case ComparisonCondition(field=name) | MissingCondition(field=name) | RowCondition(rows_field=name):
                yield own_bucket, name
            case FieldComparisonCondition(field=name, other_field=other):
                yield from ((own_bucket, name), (own_bucket, other))
            case SemiJoinCondition(field=name, bucket=inner_bucket):
                yield own_bucket, name
                inner_names = (member.key, member.key_rows, member.order_by)
                yield from ((inner_bucket, inner_name) for inner_name in inner_names if inner_name is not None)
            case _:
                continue


def words_of_conditions(clause: Clause) -> Iterator[str]:
    """Yields the words of the question that each condition was read from; empty for those that no word gave."""
    for _, member in walk_conditions(clause.match_condition, clause.bucket):
        if not isinstance(member, (AndCondition, OrCondition, NotCondition)):
            yield member.words


def _has_negation(clause: Clause) -> bool:
    return any(
        isinstance(member, (NotCondition, MissingCondition))
        or (isinstance(member, ComparisonCondition) and (member.value is False or member.value == 0.0))
        for _, member in walk_conditions(clause.condition, clause.bucket)
    )
