"""Assesses the plan of a question: which of its words nothing in the plan expresses, and what else it leaves out.

Only what is known without the truth counts. `agent.review.answer_confidence` makes a probability of it.
"""

import itertools
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

from agent.assumptions import CorrectedSpelling
from agent.condition_walk import walk_conditions
from agent.decomposition import LegAlternatives, PlannedQuestion
from agent.english.abbreviations import spell_out_label
from agent.english.function_words import (
    AMOUNT_SUPERLATIVES,
    DAY_ORDER_WORDS,
    DISTINCT_WORDS,
    MENTION_WORDS,
    NEGATIONS,
    PERIOD_WORDS,
    SMALL_NUMBERS,
    STOP_WORDS,
)
from agent.english.gradable_adjectives import scale_of_superlative
from agent.english.price_words import (
    MARGIN_WORDS,
    PRICE_VERBS,
    currency_said,
    is_unit_of_price,
    side_of_price_name,
)
from agent.english.state_words import name_words_of
from agent.english.stock_words import names_quantity_at_place
from agent.review.answer_confidence import ReadingAssessment, ReadingFeatures
from agent.rules.confidence.comparison_assessment import assess_comparison
from agent.rules.confidence.dropped_clauses import find_dropped_clause
from agent.rules.confidence.unused_words import EVERYDAY_TALK, find_words_left_out, list_words_linked_to_fields
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import FieldMention
from agent.rules.planning.word_coverage import (
    stems_covered_by,
    used_fields_of,
    words_for_day_column,
    words_for_stock,
    words_of_conditions,
)
from agent.rules.reading.empty_phrases import list_words_of_portions
from agent.rules.words.tokens import QuestionToken, tokenize_question
from storage.quantities.units import parse_unit
from storage.search.conditions import (
    TEXT_FIELD,
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    MissingCondition,
    RowCondition,
)
from storage.search.ids import BucketId
from storage.search.plan import AggregateFunction, CheckClaims, Leg, LegCombination, ListDocuments, Plan
from storage.search.schema import FieldType, SchemaField
from storage.text.identifiers import find_identifiers

_WORDS_BEFORE_ASKED_WORD = frozenset({"many", "which", "what", "whose"})
_TOTAL_WORDS = frozenset("total totals sum altogether average avg median overall combined".split())
_DIFFERENCE_WORDS = frozenset({"difference", "differ", "differs"})  # no figure of one set is a difference
_SPAN_OF_TIME = re.compile(
    r"(?<![\w.,])(?P<sign>[-−]?)(?P<number>\d+)\s+(?:days?|weeks?|months?|years?)\b(?!\s+(?:old|of)\b)", re.IGNORECASE
)
_NO_DOCUMENTS = re.compile(r"\b(?:first|last|top)\s+0\b", re.IGNORECASE)
_WORDS_FOR_WORDS = frozenset("word words phrase phrases term terms text say says said saying".split())
_ORDERING_WORDS = frozenset("sort sorted order ordered rank ranked arrange arranged ascending descending".split())
_WORDS_FOR_LAST_SET = frozenset("other others rest remaining same instead".split())
_WORDS_FOR_DATES = frozenset({"date", "day"})
_GROUPING_WORDS = frozenset({"per", "each"})
_ENDS = (AggregateFunction.MINIMUM, AggregateFunction.MAXIMUM)
_SUPERLATIVE_WORDS = AMOUNT_SUPERLATIVES | DAY_ORDER_WORDS - {"date", "dated"}


def assess_readings(planned: PlannedQuestion, lexicons: Mapping[BucketId, BucketLexicon]) -> PlannedQuestion:
    """Returns the plan, and its fallback, with an assessment of each leg whose answer is computed."""
    fallback = None if planned.fallback is None else assess_readings(planned.fallback, lexicons)
    if planned.is_undo:
        return replace(planned, fallback=fallback)
    if planned.plan.combination is LegCombination.COMPARE:
        return replace(assess_comparison(planned, lexicons), fallback=fallback)
    known = {alternatives.leg: alternatives for alternatives in planned.alternatives}
    alternatives = tuple(
        _assess_leg(leg, known.get(leg.id, LegAlternatives(leg=leg.id)), planned, lexicons) for leg in planned.plan.legs
    )
    return replace(planned, alternatives=alternatives, fallback=fallback)


def _assess_leg(
    leg: Leg, alternatives: LegAlternatives, planned: PlannedQuestion, lexicons: Mapping[BucketId, BucketLexicon]
) -> LegAlternatives:
    buckets = [bucket for bucket in leg.search.read_buckets if bucket in lexicons]
    if not buckets or not _is_computed(leg):
        return alternatives
    tokens = tokenize_question(leg.question, lexicons[buckets[0]].analyser)
    linked = frozenset(list_words_linked_to_fields(leg, tokens, lexicons))
    explained = linked | _explained_words(leg, alternatives, planned, lexicons) | _words_beside_identifiers(leg, tokens)
    explained |= _words_for_type_read(leg, lexicons) | _words_for_counted_unit(leg, tokens)
    explained |= frozenset(list_words_of_portions(tokens)) | _units_of_amounts(leg, tokens, lexicons)
    explained |= _words_for_all_kinds(leg, tokens, lexicons) | words_for_day_column(leg)
    unused = find_words_left_out(Plan(question=leg.question, legs=(leg,)), explained, lexicons)
    dropped = _find_dropped_clause(leg, tokens, alternatives, lexicons)
    features = ReadingFeatures(
        unused_words=unused.telling_count,
        unused_everyday_words=unused.everyday_count,
        misses_asked_word=float(_misses_asked_word(tokens, unused.words)),
        misses_operation=float(
            bool(dropped) or not NEGATIONS.isdisjoint(unused.words) or _misses_operation(leg, tokens, linked, lexicons)
        ),
        searches_words=float(_searches_words(leg)),
        is_followup=float(planned.is_followup),
    )
    words = (word for word in unused.words if word not in {token.word for token in dropped})
    phrase = leg.question[dropped[0].start : dropped[-1].end] if dropped else ""
    unused_words = tuple(filter(None, (*words, phrase)))
    return replace(
        alternatives,
        assessment=ReadingAssessment(
            features=features, unused_words=unused_words, guesses_condition=_guesses_condition(leg, lexicons)
        ),
    )


def _is_computed(leg: Leg) -> bool:
    """Whether conditions and fields alone give the answer."""
    match leg.answer_form:
        case CheckClaims(quantifier=quantifier):
            return quantifier is not None
        case ListDocuments(skip=skip):
            return skip == 0
        case form:
            return form.computes or form.reads_values


def _words_for_measure(leg: Leg, lexicons: Mapping[BucketId, BucketLexicon]) -> frozenset[str]:
    """ "How many *kilos*", "how much *money*": returns the words for what the computed field is measured in."""
    fields = _computed_fields(leg, lexicons)
    if any(field.type is FieldType.MONEY for field in fields):
        return frozenset({"money"})
    units = {field.unit for field in fields if field.unit}
    written = (word.casefold().strip("?.,!") for word in leg.question.split())
    spelled_out = {
        word.casefold() for field in fields for text in spell_out_label(field.label) for word in text.split()
    }
    return frozenset(spelled_out) | frozenset(
        word for word in written if (unit := parse_unit(word)) is not None and unit in units
    )


def _computed_fields(leg: Leg, lexicons: Mapping[BucketId, BucketLexicon]) -> Sequence[SchemaField]:
    schemas = (lexicons[bucket].schema for bucket in leg.search.buckets if bucket in lexicons)
    return [field for schema in schemas for field in schema.fields if field.name == leg.answer_form.computed_field]


def _explained_words(
    leg: Leg, alternatives: LegAlternatives, planned: PlannedQuestion, lexicons: Mapping[BucketId, BucketLexicon]
) -> frozenset[str]:
    """Returns words of which the reply says elsewhere what became of them, and those that limit or order a list."""
    phrases = {*alternatives.unknown_words, *(term for clause in leg.search.clauses for term in clause.required_terms)}
    corrected = {assumption.written for assumption in planned.assumptions if isinstance(assumption, CorrectedSpelling)}
    words: set[str] = {word for phrase in phrases | corrected for word in phrase.casefold().split()}
    form = leg.answer_form
    if form.list_limit is not None:
        words |= SMALL_NUMBERS.keys() | AMOUNT_SUPERLATIVES
    if _orders_or_reads_price(leg, lexicons):
        words |= PRICE_VERBS
    if form.list_order is not None:
        words |= _ORDERING_WORDS | AMOUNT_SUPERLATIVES | DAY_ORDER_WORDS
    if _reads_margin(leg, lexicons):
        words |= MARGIN_WORDS
    if form.computes and form.computed_field is not None:
        words |= _words_for_measure(leg, lexicons)
    if AggregateFunction.DISTINCT in form.computed_functions:
        words |= DISTINCT_WORDS
    if form.grouping is not None and form.grouping.period is not None:
        words |= PERIOD_WORDS.keys()
    if _searches_words(leg):
        words |= MENTION_WORDS | _WORDS_FOR_WORDS
    if planned.is_followup:
        words |= _WORDS_FOR_LAST_SET
    return frozenset(words)


def _orders_or_reads_price(leg: Leg, lexicons: Mapping[BucketId, BucketLexicon]) -> bool:
    """ "The most expensive one *we sell*": whether the price is used that the verb tells."""
    form = leg.answer_form
    names = {name for _, name in form.requested_fields} | {form.list_order.field if form.list_order else None}
    schemas = (lexicons[bucket].schema for bucket in leg.search.buckets if bucket in lexicons)
    fields = (field for schema in schemas for field in schema.fields if field.name in names)
    return any(side_of_price_name(name_words_of(field)) is not None for field in fields)


def _reads_margin(leg: Leg, lexicons: Mapping[BucketId, BucketLexicon]) -> bool:
    """Whether two prices are read, of which the reply tells the difference."""
    fields = [
        lexicons[bucket].schema.by_name[name]
        for bucket, name in leg.answer_form.requested_fields
        if leg.answer_form.reads_values and bucket in lexicons and name in lexicons[bucket].schema.by_name
    ]
    return len(fields) == 2 and all(side_of_price_name(name_words_of(field)) is not None for field in fields)


def _words_for_type_read(leg: Leg, lexicons: Mapping[BucketId, BucketLexicon]) -> frozenset[str]:
    """ "On which *date* did she join", "what *time*": returns words that only say the type of the field read."""
    fields = leg.answer_form.requested_fields if leg.answer_form.reads_values else ()
    types = {
        lexicons[bucket].schema.by_name[name].type
        for bucket, name in fields
        if bucket in lexicons and name in lexicons[bucket].schema.by_name
    }
    are_times = bool(fields) and all(
        bucket in lexicons and name in lexicons[bucket].roles.clock_times for bucket, name in fields
    )
    if are_times:
        return _WORDS_FOR_DATES | {"time"}
    return _WORDS_FOR_DATES if types == {FieldType.DATE} else frozenset()


def _words_for_counted_unit(leg: Leg, tokens: Sequence[QuestionToken]) -> frozenset[str]:
    """ "How many *boxes* of the sutures are left": returns the word for what the number that is read counts in."""
    words = tuple(token.word for token in tokens[:4])
    is_of_unit = leg.answer_form.reads_values and words[:2] == ("how", "many") and words[3:] == ("of",)
    return frozenset(words[2:3]) if is_of_unit else frozenset()


def _words_for_all_kinds(
    leg: Leg, tokens: Sequence[QuestionToken], lexicons: Mapping[BucketId, BucketLexicon]
) -> frozenset[str]:
    """ "*All colours* together": returns names of fields by which a number is not divided."""
    if not leg.answer_form.computes or leg.answer_form.grouping is not None:
        return frozenset()
    named = {
        link.first
        for bucket in leg.search.buckets
        if bucket in lexicons
        for link in lexicons[bucket].find_links(tokens)
        if isinstance(link.meaning, FieldMention) and link.last - link.first == 1
    }
    pairs = enumerate(itertools.pairwise(tokens), 1)
    return frozenset(token.word for index, (before, token) in pairs if before.word == "all" and index in named)


def _units_of_amounts(
    leg: Leg, tokens: Sequence[QuestionToken], lexicons: Mapping[BucketId, BucketLexicon]
) -> frozenset[str]:
    """ "In *pounds*", "per *kilo*": returns the words for the currency or the unit of an amount that the leg uses."""
    fields = [lexicons[bucket].schema.by_name.get(name) for bucket, name in used_fields_of(leg) if bucket in lexicons]
    if not any(field is not None and field.type is FieldType.MONEY for field in fields):
        return frozenset()
    words = [token.word for token in tokens]
    return frozenset(
        word
        for before, word in itertools.pairwise(words)
        if currency_said(before, word) or is_unit_of_price(before, word)
    )


def _words_beside_identifiers(leg: Leg, tokens: Sequence[QuestionToken]) -> frozenset[str]:
    """ "How *long* is the notice period of *contract* C-1001?": what an identifier is of, and "how long", where the
    document with this id is asked for a value.
    """
    if not leg.answer_form.reads_values or not find_identifiers(leg.question):
        return frozenset()
    identifiers = {word.casefold() for name in find_identifiers(leg.question) for word in (name, *name.split("-"))}
    return frozenset(
        word.word if following.word in identifiers else following.word
        for word, following in itertools.pairwise(tokens)
        if following.word in identifiers or word.word == "how"
    )


def _find_dropped_clause(
    leg: Leg, tokens: Sequence[QuestionToken], alternatives: LegAlternatives, lexicons: Mapping[BucketId, BucketLexicon]
) -> Sequence[QuestionToken]:
    """Returns a clause that restricts the set, if the plan has nothing of it and no words to ask about."""
    if alternatives.unknown_words or not (leg.answer_form.computes or leg.answer_form.lists_documents):
        return ()
    set_leg = replace(leg, answer_form=ListDocuments())  # what is computed says nothing of the set
    if any(names_quantity_at_place(field.label) for field in _computed_fields(leg, lexicons)):
        set_leg = leg  # "at Harbury" tells which number is meant
    linked = list_words_linked_to_fields(set_leg, tokens, lexicons, with_nouns=False)
    price_verbs = PRICE_VERBS if _orders_or_reads_price(leg, lexicons) else frozenset[str]()
    return find_dropped_clause(
        leg.question,
        tokens,
        _words_of_all_conditions(leg, lexicons) | set(linked) | words_for_stock(leg, lexicons) | price_verbs,
        leg.answer_form,
    )


def _words_of_all_conditions(leg: Leg, lexicons: Mapping[BucketId, BucketLexicon]) -> frozenset[str]:
    return frozenset(
        token.word
        for clause in leg.search.clauses
        for phrase in (*words_of_conditions(clause), *clause.required_terms)
        for token in tokenize_question(phrase, lexicons[clause.bucket].analyser)
    )


def _misses_asked_word(tokens: Sequence[QuestionToken], unused: Sequence[str]) -> bool:
    """ "Which *shows* did we call off": whether the word that says what is asked for is unused."""
    return any(
        before.word in _WORDS_BEFORE_ASKED_WORD and token.word in unused for before, token in itertools.pairwise(tokens)
    )


def _misses_operation(
    leg: Leg, tokens: Sequence[QuestionToken], linked: Set[str], lexicons: Mapping[BucketId, BucketLexicon]
) -> bool:
    """Whether the question asks for an end of an order, a total or groups, and the form of the answer for none; or for
    a number of days or documents that the plan does not have.
    """
    form, words = leg.answer_form, [token.word for token in tokens]
    is_share = AggregateFunction.SHARE in form.computed_functions
    if is_share and _searches_words(leg) and MENTION_WORDS.isdisjoint(words):
        return True  # which documents hold a word is not a share of what the word says
    if _misses_span_of_time(leg) or _NO_DOCUMENTS.search(leg.question):
        return True
    condition_words = _words_of_all_conditions(leg, lexicons)
    stems = stems_covered_by(leg, lexicons)
    is_ordered = (
        form.list_order is not None
        or form.list_limit is not None
        or form.grouping is not None
        or any(function in _ENDS for function in form.computed_functions)
    )
    superlatives = (
        token.word
        for token in tokens
        if (token.word in _SUPERLATIVE_WORDS or scale_of_superlative((token.word,)) is not None)
        and token.word not in condition_words | linked
        and token.stem not in stems
    )
    if not is_ordered and any(superlatives):
        return True
    if not _reads_margin(leg, lexicons) and not _DIFFERENCE_WORDS.isdisjoint(set(words) - condition_words - linked):
        return True
    nouns = frozenset[str]().union(*(lexicons[b].noun_stems for b in leg.search.buckets if b in lexicons))
    counts_documents = form.is_document_count and any(token.stem in nouns for token in tokens)
    is_total = form.computes and (counts_documents or not form.is_document_count)
    if not is_total and not _TOTAL_WORDS.isdisjoint(set(words) - condition_words - linked):
        return True
    return form.grouping is None and any(
        before.word in _GROUPING_WORDS and token.stem not in nouns | stems and token.word not in condition_words
        for before, token in itertools.pairwise(tokens)
    )


def _misses_span_of_time(leg: Leg) -> bool:
    """ "The last -5 days", "1000000 weeks ago": whether no condition compares with a span that the question gives."""
    used = " ".join(
        getattr(condition, "words", "")
        for clause in leg.search.clauses
        for _, condition in walk_conditions(clause.condition, clause.bucket)
        if not isinstance(condition, MissingCondition)
    )
    is_limited = leg.answer_form.grouping is not None or leg.answer_form.list_limit is not None
    return any(
        match["sign"] or (match["number"] not in used and not is_limited)
        for match in _SPAN_OF_TIME.finditer(leg.question)
    )


def _guesses_condition(leg: Leg, lexicons: Mapping[BucketId, BucketLexicon]) -> bool:
    """Whether a condition rests on a word of a longer value, or on a word that says nothing of its field."""
    return any(
        _is_guessed(condition, lexicons[clause.bucket])
        for clause in leg.search.clauses
        if clause.bucket in lexicons
        for bucket, condition in walk_conditions(clause.condition, clause.bucket)
        if bucket == clause.bucket
    )


def _is_guessed(condition: Condition, lexicon: BucketLexicon) -> bool:
    """ "Please" for the value "quiet room please", "still" for a field without a value."""
    match condition:
        case ComparisonCondition(op=ComparisonOperator.EQ | ComparisonOperator.HAS, value=str(value), words=words):
            tokens = tokenize_question(value, lexicon.analyser)
            stems = {token.stem for token in tokenize_question(words, lexicon.analyser)}
            written = sum(token.stem in stems for token in tokens)
            return bool(words) and 0 < 2 * written < len(tokens)
        case MissingCondition(field=name, words=words):
            written = tokenize_question(words, lexicon.analyser)
            is_light = all(token.word in EVERYDAY_TALK or token.word in STOP_WORDS for token in written)
            names_field = not lexicon.label_stems_of(name).isdisjoint(token.stem for token in written)
            return bool(written) and is_light and not names_field
        case _:
            return False


def _searches_words(leg: Leg) -> bool:
    return any(
        isinstance(condition, RowCondition)
        or (isinstance(condition, ComparisonCondition) and condition.field == TEXT_FIELD)
        for clause in leg.search.clauses
        for _, condition in walk_conditions(clause.match_condition, clause.bucket)
    )
