"""Plans a comparison: one leg for each side, with the same answer form."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from agent.decomposition import AlternativeReading, LegAlternatives, PlannedQuestion
from agent.english.function_words import (
    AGGREGATE_PHRASES,
    MEASURE_NOUNS,
    MONEY_WORDS,
    SPENDING_NOUNS,
    SUPERLATIVE_PHRASES,
)
from agent.english.gradable_adjectives import IRREGULAR_COMPARATIVES, adjective_of_comparative
from agent.rules.comparison.compared_sides import ComparedSides, find_sides
from agent.rules.comparison.cues import (
    AMOUNT_COMPARATIVES,
    MaskedQuestion,
    compares_tenure,
    date_last_after_this,
    mask_comparison,
    split_ranges,
)
from agent.rules.cues.asked_prices import find_asked_margin
from agent.rules.cues.grouping import group_of_reading
from agent.rules.cues.ranked_fields import find_joining_dates
from agent.rules.cues.scale_fields import fields_on_scale
from agent.rules.forms.recognisers import answer_form_of
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import FieldMention
from agent.rules.reading.bucket_reading import BucketReading
from agent.rules.reading.question_reader import QuestionReader
from agent.rules.words.tokens import tokenize_question
from storage.search.conditions import (
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    MissingCondition,
    NotCondition,
    Scalar,
    conjunction_of,
    conjuncts_of,
    fields_of,
    text_condition_for,
    title_condition_for,
)
from storage.search.ids import BucketId, FieldName, LegId
from storage.search.plan import (
    AggregateFunction,
    AnswerForm,
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
)
from storage.search.schema import FieldType

_JOINING_WORD = re.compile(r"\band\b|[/&].*:|:.*[/&]", re.IGNORECASE)
_COORDINATION = re.compile(r"\b(?:and|or)\b|[,/&]", re.IGNORECASE)
_NUMERIC_TYPES = (FieldType.NUMBER, FieldType.MONEY)
_RANGE_FUNCTIONS = (AggregateFunction.AVERAGE, AggregateFunction.MINIMUM, AggregateFunction.MAXIMUM)
_VALUE_OPERATORS = (ComparisonOperator.EQ, ComparisonOperator.IN)
_DATE_COMPARATIVES = frozenset({"older", "newer", "earlier", "later"})
_GROUPABLE_TYPES = (FieldType.CATEGORY, FieldType.LIST, FieldType.FLAG)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonPlan:
    """A plan with a leg for each side. If not `is_certain`, the sides may be words that are in no title."""

    planned: PlannedQuestion
    is_certain: bool


def plan_comparison(question: str, reader: QuestionReader) -> ComparisonPlan | None:
    """Returns the plan of a question that compares two to four things; None for any other question."""
    compared_sides = _find_compared_sides(question, reader)
    if compared_sides is None:
        return None
    masked_question, sides, whole_readings = compared_sides
    best = whole_readings[0]
    if _asks_for_margin(question, reader):
        return None
    answer_form = _answer_form_for(masked_question, sides, best, reader.lexicons[best.bucket])
    if answer_form.reads_text and not sides.is_known:
        return None  # a search of all text for both sides is one question
    side_readings = [
        _reading_in_bucket(reader.readings_of(text), best.bucket, answer_form) for text in sides.full_texts()
    ]
    frame = _ComparisonFrame(
        sides=sides,
        topic=_shared_topic(sides, best),
        answer_form=answer_form,
        lexicons=reader.lexicons,
        is_bucket_named=_is_bucket_named(side_readings),
    )
    legs = tuple(
        _leg_for_side(frame, LegId(chr(97 + index)), words, sides.sides[index], side_readings[index])
        for index, words in enumerate(sides.side_questions(for_fields=_asks_for_fields(answer_form)))
    )
    legs = _separate_values(legs, sides.sides)
    if len({leg.search for leg in legs}) < len(legs):
        return None  # the sides are the same set: nothing is compared
    alternatives = tuple(
        LegAlternatives(
            leg=leg.id,
            droppable_words=_doubtful_words(leg),
            fallback_readings=_text_alternatives(leg, reader.lexicons[best.bucket]),
        )
        for leg in legs
    )
    plan = Plan(question=question, legs=legs, combination=LegCombination.COMPARE)
    return ComparisonPlan(planned=PlannedQuestion(plan=plan, alternatives=alternatives), is_certain=sides.is_known)


def _asks_for_margin(question: str, reader: QuestionReader) -> bool:
    """ "The difference between what we pay for it and what we sell it for": whether two prices are asked."""
    reading = reader.readings_of(question)[0]
    words = [token.word for token in reading.tokens]
    return find_asked_margin(words, reading, reader.lexicons[reading.bucket]) is not None


def _separate_values(legs: tuple[Leg, ...], sides: Sequence[str]) -> tuple[Leg, ...]:
    """Leaves to each side the values that no other side has for itself: "via direct and via travel agencies" compares
    direct with agency, although "agencies" may belong to both. A side that names several values keeps them.
    """
    conditions = [list(conjuncts_of(leg.search.clauses[0].condition)) for leg in legs]
    separated: list[Leg] = []
    for leg, own, side in zip(legs, conditions, sides, strict=True):
        if _COORDINATION.search(side):
            separated.append(leg)
            continue
        others = [part for parts in conditions if parts is not own for part in parts]
        kept = conjunction_of(*(_without_values_of(part, others) for part in own))
        clause = replace(leg.search.clauses[0], condition=kept)
        separated.append(replace(leg, search=replace(leg.search, clauses=(clause, *leg.search.clauses[1:]))))
    return tuple(separated)


def _without_values_of(part: Condition, others: Sequence[Condition]) -> Condition:
    """Returns the condition without the values of others on the same field that it includes, if any is left."""
    if not isinstance(part, ComparisonCondition) or part.op is not ComparisonOperator.IN:
        return part
    own = part.value if isinstance(part.value, tuple) else (part.value,)
    included = {
        value
        for other in others
        if isinstance(other, ComparisonCondition) and other.field == part.field and other.op in _VALUE_OPERATORS
        for value in _included_values(other, own)
    }
    rest = tuple(value for value in own if value not in included)
    if not rest or len(rest) == len(own):
        return part
    if len(rest) == 1:
        return replace(part, op=ComparisonOperator.EQ, value=rest[0])
    return replace(part, value=rest)


def _included_values(other: ComparisonCondition, own: Sequence[Scalar]) -> Sequence[Scalar]:
    """Returns the values of the other condition if they are some of `own`, and not all."""
    values = other.value if isinstance(other.value, tuple) else (other.value,)
    return values if set(values) < set(own) else ()


def _is_bucket_named(side_readings: Sequence[BucketReading]) -> bool:
    """Whether the reading of some side identifies its bucket."""
    return any(
        reading.has_noun or (reading.is_credible and (reading.is_exact or reading.asked_mentions))
        for reading in side_readings
    )


def _find_compared_sides(
    question: str, reader: QuestionReader
) -> tuple[MaskedQuestion, ComparedSides, Sequence[BucketReading]] | None:
    """Returns the masked question, the sides, and the readings of the masked text."""
    question = date_last_after_this(question)
    masked_question = mask_comparison(question, reader.literals_in(question))
    if not masked_question.cue_spans and not _may_name_sides(question, reader):
        return None  # most questions compare nothing
    attempts = [masked_question]
    if masked_question.is_explicit:
        attempts.append(split_ranges(masked_question))
    for attempt in attempts:
        readings = reader.readings_of(attempt.text)
        sides = _sides_in(attempt, readings, reader)
        if sides is not None:
            return attempt, sides, readings
    return None


def _may_name_sides(question: str, reader: QuestionReader) -> bool:
    """Whether the question may name sides without comparing words: things joined by "and", or a field and a colon."""
    return _JOINING_WORD.search(question) is not None and (":" in question or not _asks_for_list(question, reader))


def _asks_for_list(question: str, reader: QuestionReader) -> bool:
    best = reader.readings_of(question)[0]
    return answer_form_of(best, reader.lexicons[best.bucket]).lists_documents


def _sides_in(
    masked_question: MaskedQuestion, readings: Sequence[BucketReading], reader: QuestionReader
) -> ComparedSides | None:
    return find_sides(masked_question, readings, reader.literals_in(masked_question.text), reader.lexicons)


def _reading_in_bucket(readings: Sequence[BucketReading], bucket: BucketId, answer_form: AnswerForm) -> BucketReading:
    """Returns the reading for the bucket, unless the side is only counted and names documents of another bucket."""
    shared = next(reading for reading in readings if reading.bucket == bucket)
    counts = answer_form.is_document_count
    return readings[0] if counts and readings[0].has_noun and not shared.has_noun else shared


# -- what is asked of each side


def _answer_form_for(
    masked_question: MaskedQuestion, sides: ComparedSides, whole_reading: BucketReading, lexicon: BucketLexicon
) -> AnswerForm:
    """Returns the form for all sides: numbers or field values if they are asked for, passages if other words are."""
    answer_form = answer_form_of(whole_reading, lexicon)
    group = group_of_reading(whole_reading, lexicon)
    if group is not None and not answer_form.computes:
        return _compute_by_group(group, lexicon)
    names = _fields_asked_of_sides(masked_question, sides, whole_reading, lexicon)
    if answer_form.list_limit is not None and _asks_same_extreme(whole_reading):
        return answer_form  # "the cheapest panel of A with the cheapest of B"
    if answer_form.computes and not (sides.names_fields and not _asks_for_number(answer_form)):
        return answer_form
    names = names or _money_fields(sides, whole_reading, lexicon)
    is_of_amount = bool(AMOUNT_COMPARATIVES & set(masked_question.comparatives))
    if is_of_amount and sides.is_grouped and _counts_events(whole_reading, names, lexicon):
        return ComputeNumbers(functions=(AggregateFunction.COUNT,))
    if names:
        return _form_for_fields(names, sides, lexicon, is_of_amount=is_of_amount)
    if _shared_topic(sides, whole_reading):
        return FindPassages()
    if _counts_documents(masked_question, whole_reading):
        return ComputeNumbers(functions=(AggregateFunction.COUNT,))
    if sides.is_plural or sides.is_grouped:
        return ListDocuments()
    return ReadFields(fields=tuple((lexicon.bucket, name) for name in comparable_fields(lexicon)))


def _fields_asked_of_sides(
    masked_question: MaskedQuestion, sides: ComparedSides, whole_reading: BucketReading, lexicon: BucketLexicon
) -> tuple[FieldName, ...]:
    """Returns the fields that the question names, else those of its comparatives.

    "Which *boat* is longer, Tern or Gull": a field whose values name the sides is not what is compared.
    """
    naming = {
        name
        for condition in whole_reading.conditions
        if isinstance(condition, ComparisonCondition)
        for name in fields_of(condition)
    }
    is_graded = bool(masked_question.comparatives)
    asked = tuple(name for name in sides.asked_fields if not (is_graded and name in naming))
    if is_graded and not asked:
        asked = tuple(_numbers_that_are_known(whole_reading, lexicon))  # "which *has* more *protein*"
    if asked:
        return asked
    words = [token.word for token in whole_reading.tokens]
    if compares_tenure((*words, *masked_question.comparatives)):
        return find_joining_dates(lexicon)
    return fields_of_comparatives(masked_question.comparatives, lexicon)


def _numbers_that_are_known(whole_reading: BucketReading, lexicon: BucketLexicon) -> Iterator[FieldName]:
    """Yields the numeric fields of which the reading only says that there is a value."""
    for condition in whole_reading.conditions:
        match condition:
            case NotCondition(MissingCondition(field=name)) if lexicon.get_field(name).type in _NUMERIC_TYPES:
                yield name
            case _:
                continue


def _counts_documents(masked_question: MaskedQuestion, whole_reading: BucketReading) -> bool:
    """ "Did A send *more parcels* than B": whether numbers of documents are compared."""
    return whole_reading.has_plural_noun and bool(AMOUNT_COMPARATIVES & set(masked_question.comparatives))


def _counts_events(whole_reading: BucketReading, names: Sequence[FieldName], lexicon: BucketLexicon) -> bool:
    """ "Did Ben brew *more often* in A or in B", "where were more arrivals cancelled": whether the documents count.

    Names of dates are what happened.
    """
    is_frequency = any(token.word == "often" for token in whole_reading.tokens)
    return is_frequency or all(lexicon.get_field(name).type is FieldType.DATE for name in names)


def _asks_same_extreme(whole_reading: BucketReading) -> bool:
    """Whether the question has several superlatives of one direction, one for each side."""
    words = [token.word for token in whole_reading.tokens]
    phrases = [*zip(words), *pairwise(words)]
    ends = [AGGREGATE_PHRASES[phrase] for phrase in phrases if phrase in SUPERLATIVE_PHRASES]
    return len(ends) > 1 and len(set(ends)) == 1


def _compute_by_group(group: GroupBy, lexicon: BucketLexicon) -> ComputeNumbers:
    """ "A and B by year": returns the sum of the first money field by group, or a count if there is none."""
    amounts = [field.name for field in lexicon.schema.fields if field.type is FieldType.MONEY]
    if not amounts:
        return ComputeNumbers(functions=(AggregateFunction.COUNT,), group=group)
    return ComputeNumbers(functions=(AggregateFunction.SUM,), field=amounts[0], group=group)


def _money_fields(sides: ComparedSides, whole_reading: BucketReading, lexicon: BucketLexicon) -> tuple[FieldName, ...]:
    """ "Spending at one shop and another": returns the first money field if the question has a word for money."""
    money_words = {token.word for token in whole_reading.tokens} & (MONEY_WORDS | SPENDING_NOUNS)
    amounts = tuple(field.name for field in lexicon.schema.fields if field.type is FieldType.MONEY)
    return amounts[:1] if money_words and (sides.is_grouped or sides.is_plural) else ()


def _asks_for_number(answer_form: AnswerForm) -> bool:
    """Whether a number is asked for; a superlative ("which has the longest …") asks for each side's value."""
    return not set(answer_form.computed_functions) <= {AggregateFunction.MINIMUM, AggregateFunction.MAXIMUM}


def _asks_for_fields(answer_form: AnswerForm) -> bool:
    """Whether the form asks for field values, or for the range or counts that replace them for groups."""
    if not answer_form.computes:
        return answer_form.reads_values
    return answer_form.computed_functions == _RANGE_FUNCTIONS or (
        answer_form.grouping is not None and answer_form.computed_functions == (AggregateFunction.COUNT,)
    )


def fields_of_comparatives(words: Sequence[str], lexicon: BucketLexicon) -> tuple[FieldName, ...]:
    """Returns the field that the comparatives refer to: weight for "heavier", a date for "older"."""
    for word in words:
        measure = MEASURE_NOUNS.get(word)
        tokens = tokenize_question(measure, lexicon.analyser) if measure else ()
        mentions = [link.meaning for link in lexicon.find_links(tokens) if isinstance(link.meaning, FieldMention)]
        if mentions:
            return (mentions[0].field,)
        dates = [field.name for field in lexicon.schema.fields if field.type is FieldType.DATE]
        if word in _DATE_COMPARATIVES and dates:
            natural = lexicon.schema.natural_order
            return (natural.field if natural is not None and natural.field in dates else dates[0],)
        adjective = adjective_of_comparative(word) or IRREGULAR_COMPARATIVES.get(word)
        if adjective is not None and (measured := fields_on_scale(adjective, lexicon)):
            return measured
    return ()


def _form_for_fields(
    names: Sequence[FieldName], sides: ComparedSides, lexicon: BucketLexicon, *, is_of_amount: bool
) -> AnswerForm:
    """Returns the form for fields: for groups a sum, a range or counts of values; for documents the values.

    "Does Ada have *more boats* than Ben": how many values the sides have is compared, not which.
    """
    field = lexicon.get_field(names[0])
    if is_of_amount and len(names) == 1 and sides.is_grouped and field.type is FieldType.CATEGORY:
        return ComputeNumbers(functions=(AggregateFunction.DISTINCT,), field=field.name)
    if sides.is_grouped and len(names) == 1 and field.type is FieldType.MONEY:
        return ComputeNumbers(functions=(AggregateFunction.SUM,), field=field.name)
    has_groups = sides.is_plural or sides.is_grouped
    if has_groups and len(names) == 1 and field.type in _NUMERIC_TYPES:
        return ComputeNumbers(functions=_RANGE_FUNCTIONS, field=field.name)
    if has_groups and len(names) == 1 and field.type in _GROUPABLE_TYPES:
        return ComputeNumbers(functions=(AggregateFunction.COUNT,), group=GroupBy(field=field.name))
    return ReadFields(fields=tuple((lexicon.bucket, name) for name in names))


def _shared_topic(sides: ComparedSides, whole_reading: BucketReading) -> tuple[str, ...]:
    """Returns the unlinked words outside the sides; all sides share them."""
    side_text = " ".join(sides.sides)
    return tuple(
        words for words in (*whole_reading.unlinked_words, *whole_reading.unlinked_quotations) if words not in side_text
    )


# -- the set of each side


@dataclass(frozen=True, slots=True, kw_only=True)
class _ComparisonFrame:
    """The data that all legs share."""

    sides: ComparedSides
    topic: tuple[str, ...]
    answer_form: AnswerForm
    lexicons: Mapping[BucketId, BucketLexicon]
    is_bucket_named: bool  # the bucket is known


def _leg_for_side(frame: _ComparisonFrame, leg_id: LegId, question: str, side: str, reading: BucketReading) -> Leg:
    own_words = tuple(words for words in reading.unlinked_words if words in side)
    if frame.answer_form.reads_text:
        return _text_leg(frame, leg_id, question, reading, own_words)
    if frame.answer_form.reads_values:
        return _document_leg(frame, leg_id, question, reading, own_words)
    clause = Clause(
        bucket=reading.bucket, condition=reading.condition, required_terms=(*own_words, *reading.unlinked_quotations)
    )
    search = Search(clauses=(clause,), ranking_text=frame.sides.topic or question)
    return Leg(id=leg_id, question=question, search=search, answer_form=frame.answer_form)


def _text_leg(
    frame: _ComparisonFrame, leg_id: LegId, question: str, reading: BucketReading, own_words: Sequence[str]
) -> Leg:
    """Returns a leg for the text of the side's documents; for all text if no known value names them."""
    if reading.is_exact and reading.conditions:
        condition = conjunction_of(reading.condition, *_title_conditions(own_words, identifiers_only=True))
        clauses = (Clause(bucket=reading.bucket, condition=condition, required_terms=reading.unlinked_quotations),)
        search = Search(clauses=clauses, ranking_text=" ".join(frame.topic) or question)
    else:
        clauses = tuple(Clause(bucket=bucket, required_terms=reading.unlinked_quotations) for bucket in frame.lexicons)
        search = Search(clauses=clauses, ranking_text=question)
    return Leg(id=leg_id, question=question, search=search, answer_form=FindPassages())


def _document_leg(
    frame: _ComparisonFrame, leg_id: LegId, question: str, reading: BucketReading, own_words: Sequence[str]
) -> Leg:
    """Returns a leg for the values of a document named by conditions or title words; in all buckets if unclear."""
    asked_names = {name for _, name in frame.answer_form.requested_fields}
    side_conditions = reading.conditions if frame.is_bucket_named else ()
    conditions = [
        condition
        for condition in side_conditions
        if not _is_asked_for(condition, asked_names, frame.lexicons[reading.bucket])
    ]
    titles = _title_conditions(own_words, identifiers_only=reading.is_exact and bool(conditions))
    buckets = [reading.bucket] if frame.is_bucket_named else sorted(frame.lexicons)
    clauses = tuple(
        Clause(
            bucket=bucket, condition=conjunction_of(*conditions, *titles), required_terms=reading.unlinked_quotations
        )
        for bucket in buckets
    )
    fields = frame.answer_form.requested_fields
    if not frame.is_bucket_named:
        fields = tuple((bucket, name) for bucket in buckets for name in comparable_fields(frame.lexicons[bucket]))
    search = Search(clauses=clauses, ranking_text=frame.sides.topic or question)
    return Leg(id=leg_id, question=question, search=search, answer_form=ReadFields(fields=fields))


def _title_conditions(words: Sequence[str], *, identifiers_only: bool) -> list[Condition]:
    """Returns a title condition for each word; with `identifiers_only`, only for words with a digit."""
    return [title_condition_for(word) for word in words if not identifiers_only or any(c.isdigit() for c in word)]


def comparable_fields(lexicon: BucketLexicon) -> tuple[FieldName, ...]:
    """Returns the fields that are compared if the question names none."""
    return tuple(field.name for field in lexicon.schema.fields if field.type is not FieldType.ROWS)


def _is_asked_for(condition: Condition, asked_names: set[FieldName], lexicon: BucketLexicon) -> bool:
    """Whether the condition only repeats what is asked: "do they differ in outdoor use", "have the same law"."""
    names = fields_of(condition)
    by_name = lexicon.schema.by_name
    are_flags = all(name in by_name and by_name[name].type is FieldType.FLAG for name in names)
    is_presence = isinstance(condition, NotCondition) and isinstance(condition.condition, MissingCondition)
    return bool(names & asked_names) and (are_flags or is_presence)


def _text_alternatives(leg: Leg, lexicon: BucketLexicon) -> tuple[AlternativeReading, ...]:
    """Returns a fallback that searches the text for the words of a kind, if list values name the document."""
    if not leg.answer_form.reads_values or leg.search.buckets != (lexicon.bucket,):
        return ()
    clause = leg.search.clauses[0]
    all_conditions = [*conjuncts_of(clause.condition)]
    list_conditions = [
        condition
        for condition in all_conditions
        if isinstance(condition, ComparisonCondition) and condition.op is ComparisonOperator.HAS
    ]
    kind_conditions = [
        condition
        for condition in all_conditions
        if isinstance(condition, ComparisonCondition)
        and condition.op in (ComparisonOperator.EQ, ComparisonOperator.IN)
        and condition.words
        and condition.field in lexicon.schema.by_name
    ]
    if len(list_conditions) < 2 or not kind_conditions:
        return ()
    text_conditions = [text_condition_for(kind.words) for kind in kind_conditions]
    condition = conjunction_of(
        *(condition for condition in all_conditions if condition not in kind_conditions), *text_conditions
    )
    search = leg.search.with_clauses(replace(clause, condition=condition))
    return (AlternativeReading(bucket=clause.bucket, conditions=tuple(text_conditions), search=search),)


def _doubtful_words(leg: Leg) -> tuple[str, ...]:
    """Returns the required words that may be dropped: no names, no identifiers."""
    words = {word for clause in leg.search.clauses for word in clause.required_terms}
    return tuple(sorted(word for word in words if word.islower() and not any(c.isdigit() for c in word)))
