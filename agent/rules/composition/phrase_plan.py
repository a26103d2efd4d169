"""Plans a question that relates several sets of documents, by reading it as one phrase.

"The population of the capital of the largest state" is composed of phrases: each names a set, a field of it, or how
two sets are related (`combinations`). A reading is taken only if it explains every word of the question and relates at
least two sets; all other questions are read as one set with conditions. The method is that of semantic grammars over
the types of a schema; see Liang, Jordan and Klein, "Learning Dependency-Based Compositional Semantics" (2011), whose
trees join predicates by the schema in the same way.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from agent.assumptions import Assumption, TakenInnerSet
from agent.decomposition import AlternativeForm, AlternativeReading, LegAlternatives
from agent.english.function_words import (
    AGGREGATE_WORDS,
    COMPARATORS,
    DISJUNCTIONS,
    GROUPING_WORDS,
    LIST_VERBS,
    NEGATIONS,
    ORDERING_WORDS,
    PREPOSITIONS,
    YES_NO_VERBS,
)
from agent.rules.composition.chart import Chart, parse_spans
from agent.rules.composition.combinations import PhraseCombiner
from agent.rules.composition.phrases import (
    FieldValues,
    LiteralPhrase,
    Phrase,
    RankedByNumber,
    SetPhrase,
    SpanPhrase,
    SuperlativePhrase,
    ThanWord,
)
from agent.rules.composition.relations import BucketRelations
from agent.rules.composition.word_phrases import find_word_phrases
from agent.rules.cues.question_subject import NUMERIC_TYPES
from agent.rules.linking.link_filter import is_content_word
from agent.rules.nested.joins import find_joins
from agent.rules.reading.bucket_reading import BucketReading
from agent.rules.reading.question_reader import QuestionReader
from agent.rules.words.tokens import QuestionToken
from storage.search.conditions import (
    DOC_ID_FIELD,
    MATCH_ALL,
    MAX_SEMI_JOIN_DEPTH,
    Condition,
    SemiJoinCondition,
    conjuncts_of,
    semi_join_depth,
)
from storage.search.ids import BucketId, FieldName, LegId
from storage.search.plan import (
    AggregateFunction,
    AnswerForm,
    Clause,
    ComputeNumbers,
    GroupBy,
    Leg,
    ListDocuments,
    ReadFields,
    Search,
)
from storage.search.schema import SchemaOrder

_MAX_TOKENS = 22  # of a question that is read so
_MAX_COST = 1.5  # of a reading that is believed
_SAME_COST = 0.05  # difference up to which two readings are equally likely
_FUNCTIONS_BY_WORD: Mapping[str, AggregateFunction] = {
    "total": AggregateFunction.SUM,
    "sum": AggregateFunction.SUM,
    "combined": AggregateFunction.SUM,
    "altogether": AggregateFunction.SUM,
    "average": AggregateFunction.AVERAGE,
    "mean": AggregateFunction.AVERAGE,
    "avg": AggregateFunction.AVERAGE,
}
# Function words that say more than that something is asked for.
_TELLING_WORDS = (
    NEGATIONS
    | ORDERING_WORDS
    | DISJUNCTIONS
    | (COMPARATORS - PREPOSITIONS)
    | (GROUPING_WORDS - {"by"})
    | (AGGREGATE_WORDS - {"how", "many", "much", "of", "number", "count"})
    | frozenset("why nor neither both only".split())
)
_NUMBER_WORDS = frozenset({"number", "count"})


@dataclass(frozen=True, slots=True, kw_only=True)
class PhrasePlan:
    """A leg that was read as one phrase, with what else it may mean."""

    leg: Leg
    alternatives: LegAlternatives
    assumptions: tuple[Assumption, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _AskedForm:
    """What the words before a phrase ask of it."""

    counts: bool
    is_how_much: bool
    function: AggregateFunction | None


def plan_phrase(
    leg_id: LegId, question: str, plain: Leg, readings: Sequence[BucketReading], reader: QuestionReader
) -> PhrasePlan | None:
    """Returns the leg of a question that relates several sets; None for all other questions.

    A question for a field of one set is left to the `plain` reading if that reads or computes values.
    """
    joins = find_joins(reader.lexicons)
    if any(reading.stated_tokens for reading in readings[:1]):
        return None  # "current staff": what lasts and what is over is read in one set
    found = find_word_phrases(question, reader, joins)
    if found is None or not 1 < len(found.tokens) <= _MAX_TOKENS:
        return None
    if _is_explained(plain.answer_form, readings[0], found.phrases):
        return None
    sets = (word.phrase for word in found.phrases if isinstance(word.phrase, SetPhrase) and not word.phrase.is_named)
    named_buckets = {phrase.bucket for phrase in sets}
    combiner = PhraseCombiner(question, found.tokens, reader, BucketRelations(reader.lexicons, joins), named_buckets)
    chart = parse_spans(len(found.tokens), found.phrases, combiner.combine)
    phrases = [pair for pair in _readings_of(found.tokens, chart) if pair[0].cost <= _MAX_COST]
    phrases.sort(key=lambda pair: (pair[0].cost, _depth_of(pair[0].phrase)))
    if not phrases or not _needs_composition(phrases[0][0].phrase, plain.answer_form):
        return None
    planned = [
        (reading.cost, reading.phrase, _search_and_form(reading.phrase, asked, question, reader))
        for reading, asked in phrases
    ]
    if any(found_leg is None for cost, _, found_leg in planned if cost - planned[0][0] <= _SAME_COST):
        return None  # what is likeliest has no form of answer: what is less likely is not an answer
    legs = [(cost, phrase, found_leg) for cost, phrase, found_leg in planned if found_leg is not None]
    _, _, (search, answer_form) = legs[0]
    leg = Leg(id=leg_id, question=question, search=search, answer_form=answer_form)
    return PhrasePlan(leg=leg, alternatives=_alternatives_of(leg_id, legs), assumptions=tuple(_assumptions_of(leg)))


def _alternatives_of(leg_id: LegId, legs: Sequence[tuple[float, Phrase, tuple[Search, AnswerForm]]]) -> LegAlternatives:
    """Returns the readings that are as likely as the first: by other measures, or of other sets of the same bucket."""
    best_cost, best_phrase, (search, answer_form) = legs[0]
    chosen = _measures_of(best_phrase)
    equal = [
        (phrase, other_search, other_form)
        for cost, phrase, (other_search, other_form) in legs
        if cost - best_cost <= _SAME_COST and other_search.buckets == search.buckets
    ]
    by_measure = {
        measure: (other_search, other_form)
        for phrase, other_search, other_form in equal
        if len(_measures_of(phrase)) == len(chosen) == 1
        for measure in _measures_of(phrase)
    }
    forms = tuple(
        AlternativeForm(bucket=bucket, field=name, answer_form=other_form, search=other_search)
        for (bucket, name), (other_search, other_form) in by_measure.items()
    )
    others = dict.fromkeys(
        other_search
        for _, other_search, other_form in equal
        if type(other_form) is type(answer_form) and other_search != search and not chosen
    )
    return LegAlternatives(
        leg=leg_id,
        equal_forms=forms if len(forms) > 1 else (),
        equal_readings=tuple(map(_alternative_reading, others)),
        is_understood=True,
    )


def _is_explained(plain_form: AnswerForm, reading: BucketReading, phrases: Sequence[SpanPhrase]) -> bool:
    """Whether the plain reading explains every word of a question for documents of one kind, compared with nothing."""
    if reading.unlinked_words or reading.unlinked_quotations or not reading.has_noun:
        return False
    asks_for_set = plain_form.is_document_count or (plain_form.lists_documents and plain_form.list_order is None)
    names_others = any(
        isinstance(phrase.phrase, SetPhrase) and phrase.phrase.bucket != reading.bucket and not phrase.phrase.is_named
        for phrase in phrases
    )
    literals = [phrase for phrase in phrases if isinstance(phrase.phrase, LiteralPhrase)]
    compares = any(
        isinstance(phrase.phrase, (SuperlativePhrase, ThanWord))
        and not any(literal.first <= phrase.first < literal.last for literal in literals)  # "more than 5"
        for phrase in phrases
    )
    return asks_for_set and not (names_others or compares or reading.asked_mentions)


def _alternative_reading(search: Search) -> AlternativeReading:
    clause = search.clauses[0]
    return AlternativeReading(bucket=clause.bucket, conditions=conjuncts_of(clause.condition), search=search)


def _readings_of(tokens: Sequence[QuestionToken], chart: Chart) -> Iterator[tuple[SpanPhrase, _AskedForm]]:
    """Yields the phrases between words that only ask: "*show me* …", "*what is* …", "… *are there*"."""
    if tokens[0].word in YES_NO_VERBS:
        return
    count = len(tokens)
    for first in range(count):
        for last in range(count, first, -1):
            asked = _asked_by([token.word for token in (*tokens[:first], *tokens[last:])])
            for reading in chart[first, last]:
                if isinstance(reading.phrase, (SetPhrase, FieldValues, RankedByNumber)):
                    yield reading, asked
            if not _only_asks(tokens[last - 1]) and tokens[last - 1].word not in _FUNCTIONS_BY_WORD:
                break
        if not _may_open_question(tokens[first]):
            return


def _depth_of(phrase: Phrase) -> int:
    match phrase:
        case SetPhrase(depth=depth) | FieldValues(documents=SetPhrase(depth=depth)):
            return depth
        case _:
            return 0


def _needs_composition(phrase: Phrase, plain_form: AnswerForm) -> bool:
    """Whether the phrase is more than a set with conditions, or asks for a field that the plain reading passes over."""
    match phrase:
        case SetPhrase(depth=depth):
            return bool(depth)
        case FieldValues(documents=documents, field=field, asks_amount=asks_amount):
            passes_over_field = plain_form.lists_documents or plain_form.reads_text
            sums_up = asks_amount and not documents.is_single
            is_of_first = documents.order is not None and documents.order.field != field
            return bool(documents.depth) or is_of_first or passes_over_field or sums_up
        case _:
            return True


def _may_open_question(token: QuestionToken) -> bool:
    is_asking = _only_asks(token) or token.word in LIST_VERBS
    return is_asking or token.word in _FUNCTIONS_BY_WORD or token.word in _NUMBER_WORDS


def _only_asks(token: QuestionToken) -> bool:
    return not is_content_word(token) and token.word not in _TELLING_WORDS and not token.is_quoted


def _asked_by(words: Sequence[str]) -> _AskedForm:
    functions = [_FUNCTIONS_BY_WORD[word] for word in words if word in _FUNCTIONS_BY_WORD]
    pairs = set(pairwise(words))
    return _AskedForm(
        counts=("how", "many") in pairs or bool(_NUMBER_WORDS & set(words)),
        is_how_much=bool({("how", "many"), ("how", "much")} & pairs),
        function=functions[0] if functions else None,
    )


def _search_and_form(
    phrase: Phrase, asked: _AskedForm, question: str, reader: QuestionReader
) -> tuple[Search, AnswerForm] | None:
    match phrase:
        case SetPhrase() if asked.function is None and not phrase.is_named:
            answer_form = _form_of_set(phrase, asked)
            return (
                None if answer_form is None else (_search_for(phrase.bucket, phrase.condition, question), answer_form)
            )
        case FieldValues():
            return _read_values(phrase, asked, question, reader)
        case RankedByNumber() if not (asked.counts or asked.function):
            return _rank_groups(phrase, question)
        case _:
            return None


def _form_of_set(documents: SetPhrase, asked: _AskedForm) -> AnswerForm | None:
    if asked.counts:
        return None if documents.order is not None else ComputeNumbers(functions=(AggregateFunction.COUNT,))
    if documents.order is None:
        return ListDocuments()
    order = SchemaOrder(field=documents.order.field, descending=documents.order.descending)
    return ListDocuments(order=order, limit=documents.limit)


def _read_values(
    values: FieldValues, asked: _AskedForm, question: str, reader: QuestionReader
) -> tuple[Search, AnswerForm] | None:
    documents = values.documents
    field = reader.lexicons[documents.bucket].get_field(values.field)
    condition = _condition_of_first(documents)
    if condition is None:
        return None
    search = _search_for(documents.bucket, condition, question)
    is_number = field.type in NUMERIC_TYPES
    if asked.function is not None:
        return (search, ComputeNumbers(functions=(asked.function,), field=field.name)) if is_number else None
    if documents.is_single:
        return search, ReadFields(fields=((documents.bucket, field.name),))
    if (asked.is_how_much or asked.counts or values.asks_amount) and is_number:
        return search, ComputeNumbers(functions=(AggregateFunction.SUM,), field=field.name)
    if asked.counts:
        return search, ComputeNumbers(functions=(AggregateFunction.DISTINCT,), field=field.name)
    return search, ReadFields(fields=((documents.bucket, field.name),), of_each=True)


def _condition_of_first(documents: SetPhrase) -> Condition | None:
    """Returns the condition for the first documents of an ordered set; None if it would be nested too deep."""
    if documents.order is None:
        return documents.condition
    if semi_join_depth(documents.condition) >= MAX_SEMI_JOIN_DEPTH:
        return None
    return SemiJoinCondition(
        field=DOC_ID_FIELD,
        bucket=documents.bucket,
        key=DOC_ID_FIELD,
        condition=documents.condition,
        order_by=documents.order.field,
        is_descending=documents.order.descending,
        limit=documents.limit,
        words=documents.words,
    )


def _rank_groups(ranked: RankedByNumber, question: str) -> tuple[Search, AnswerForm] | None:
    documents, counted = ranked.documents, ranked.counted
    if counted.order is not None or documents.condition != MATCH_ALL or not ranked.descending:
        return None  # "the fewest": those with none are in no group
    answer_form = ComputeNumbers(
        functions=(AggregateFunction.COUNT,),
        group=GroupBy(field=ranked.field),
        limit=1,
        descending=ranked.descending,
    )
    return _search_for(counted.bucket, counted.condition, question), answer_form


def _search_for(bucket: BucketId, condition: Condition, question: str) -> Search:
    return Search(clauses=(Clause(bucket=bucket, condition=condition),), ranking_text=question)


def _measures_of(phrase: Phrase) -> frozenset[tuple[BucketId, FieldName]]:
    match phrase:
        case SetPhrase(chosen_measures=measures):
            return measures
        case FieldValues(documents=documents):
            return documents.chosen_measures
        case _:
            return frozenset()


def _assumptions_of(leg: Leg) -> Iterator[Assumption]:
    """Yields what was taken, for answers that do not describe their set."""
    if leg.answer_form.reads_values:
        clause = leg.search.clauses[0]
        yield TakenInnerSet(bucket=clause.bucket, conditions=conjuncts_of(clause.condition))
