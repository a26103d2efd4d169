"""Recognises questions for numbers over a set: functions, counted measures and groups."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from agent.english.function_words import (
    BREAKDOWN_WORDS,
    FILLER_WORDS,
    GROUPING_WORDS,
    MONEY_WORDS,
    OWING_WORDS,
    REFERRING_WORDS,
    SPENDING_NOUNS,
    SUMMING_PHRASES,
)
from agent.english.stock_words import names_quantity_at_place
from agent.rules.cues.asked_fields import AskedKind, asked_kind
from agent.rules.cues.computed_fields import computed_fields, counts_measure
from agent.rules.cues.function_phrases import FunctionPhrase, asks_for_sum, requested_limit
from agent.rules.cues.grouping import counts_by_group, distinct_values_form, group_with_more, group_with_most
from agent.rules.cues.question_cues import QuestionCues
from agent.rules.cues.question_subject import (
    NUMERIC_TYPES,
    counted_unit_fields,
    is_rate_field,
    leading_persons,
    names_documents,
    names_one_document,
)
from agent.rules.cues.ranked_fields import measures_anything
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import BucketNoun, FieldMention, PartialMatch, SpanLink, ValueMatch
from agent.rules.reading.bucket_reading import BucketReading
from agent.rules.words.tokens import looks_plural
from storage.search.conditions import fields_of
from storage.search.ids import FieldName
from storage.search.plan import AggregateFunction, ComputeNumbers, GroupBy
from storage.search.schema import FieldType, SchemaField

_JOINING_PHRASES = SUMMING_PHRASES | {("altogether",)}

_OPENINGS_OF_PRICES = frozenset(
    (*opening, article)
    for opening in (("how", "much", "is"), ("how", "much", "does"), ("how", "much", "for"), ("what", "does"))
    for article in ("a", "an")
)


def recognise_most_of_group(cues: QuestionCues) -> ComputeNumbers | None:
    """ "Which vendor do we buy the most tires from?"."""
    if cues.superlative is not None or cues.group is not None:
        return None
    compared = group_with_more(cues.words, cues.reading, cues.lexicon)
    return compared or group_with_most(cues.words, cues.reading, cues.lexicon)


def recognise_debtors(cues: QuestionCues) -> ComputeNumbers | None:
    """ "Who owes us money": what is not paid by each person or firm, where "owes" is read as a condition."""
    owing = {index for index, word in enumerate(cues.words) if word in OWING_WORDS}
    read = cues.reading.stated_tokens.union(
        *(
            range(link.first, link.last)
            for link in cues.reading.links
            if isinstance(link.meaning, (ValueMatch, PartialMatch))
        )
    )
    party = next(iter(leading_persons(cues.words, cues.reading, cues.lexicon)), None)
    amount = next(iter(cues.lexicon.roles.sums_of_money), None)
    if owing.isdisjoint(read) or party is None or amount is None or cues.superlative is not None:
        return None
    return ComputeNumbers(functions=(AggregateFunction.SUM,), field=amount, group=GroupBy(field=party))


def recognise_distinct_values(cues: QuestionCues) -> ComputeNumbers | None:
    """ "How many different vendors", "list all vendors"."""
    return distinct_values_form(cues.words, cues.reading, cues.lexicon)


def recognise_counted_measure(cues: QuestionCues) -> ComputeNumbers | None:
    """ "How many *hours* were spent on tickets …"."""
    answer_form = _sum_of_pieces(cues) or _sum_of_counted_measure(
        cues.words, cues.functions, cues.reading, cues.lexicon
    )
    if answer_form is None or cues.group is None or cues.group.field == answer_form.field:
        return answer_form
    return _with_second_group(replace(answer_form, group=cues.group), cues)


def _sum_of_pieces(cues: QuestionCues) -> ComputeNumbers | None:
    """ "How many have we got *at Harbury*": a sum of the quantity at the place, without a condition on it."""
    if tuple(cues.words[:2]) not in (("how", "many"), ("how", "much")):
        return None
    names = {
        mention.field
        for mention in cues.reading.asked_mentions
        if mention.column is None and not (mention.is_hint or mention.is_question)
    }
    names -= fields_of(cues.reading.condition)
    found = [name for name in names if names_quantity_at_place(cues.lexicon.get_field(name).label)]
    return ComputeNumbers(functions=(AggregateFunction.SUM,), field=found[0]) if len(found) == 1 else None


def recognise_functions(cues: QuestionCues) -> ComputeNumbers | None:
    """ "The average price", "how many receipts", unless the question asks for a value of one document."""
    words, reading, lexicon = cues.words, cues.reading, cues.lexicon
    if not cues.functions and _asks_for_cost_of_several(words, reading, lexicon):
        return _compute_form((), reading, lexicon, cues.group, words)
    if not cues.functions or _asks_for_one_value(cues.functions[0], words, reading, lexicon):
        return None
    if _asks_usual_price(words, reading):
        return None
    if cues.superlative is not None and not measures_anything(cues.superlative, words, reading, lexicon):
        return None  # nothing here is old or new
    return _with_second_group(_compute_form(cues.functions, reading, lexicon, cues.group, words), cues)


def _asks_usual_price(words: Sequence[str], reading: BucketReading) -> bool:
    """ "How much is *a* full service": whether the price of something is asked, which no sum of documents tells."""
    is_of_any = not _OPENINGS_OF_PRICES.isdisjoint((tuple(words[:4]), tuple(words[:3])))
    return is_of_any and not reading.literal_tokens and {"average", "avg", "total"}.isdisjoint(words)


def _asks_for_cost_of_several(words: Sequence[str], reading: BucketReading, lexicon: BucketLexicon) -> bool:
    """ "What did the repairs at A cost us": whether a price is asked of documents in the plural."""
    asks = words[:1] == ["what"] and asked_kind(words) is AskedKind.MONEY and bool(lexicon.roles.amounts)
    return asks and reading.has_plural_noun and not names_one_document(reading, lexicon)


def recognise_measure_by_group(cues: QuestionCues) -> ComputeNumbers | None:
    """ "Price per city"."""
    if cues.group is None or (measure := _opening_measure(cues.words, cues.reading, cues.lexicon)) is None:
        return None
    function = AggregateFunction.AVERAGE if is_rate_field(measure) else AggregateFunction.SUM
    return _with_second_group(ComputeNumbers(functions=(function,), field=measure.name, group=cues.group), cues)


def recognise_count_by_group(cues: QuestionCues) -> ComputeNumbers | None:
    """ "Receipts by category"."""
    if cues.group is None or not counts_by_group(cues.words, cues.reading):
        return None
    return _with_second_group(ComputeNumbers(functions=(AggregateFunction.COUNT,), group=cues.group), cues)


def recognise_breakdown(cues: QuestionCues) -> ComputeNumbers | None:
    """ "Top 5 vendors", "break down by month": the question does not say what to compute."""
    breaks_down = requested_limit(cues.words, cues.reading) is not None or set(cues.words) & BREAKDOWN_WORDS
    if cues.group is None or not breaks_down:
        return None
    if requested_limit(cues.words, cues.reading) is None and not _names_measure(cues):
        counts = ComputeNumbers(functions=(AggregateFunction.COUNT,), group=cues.group)
        return _with_second_group(counts, cues)
    return _with_second_group(_compute_form([], cues.reading, cues.lexicon, cues.group, cues.words), cues)


def _names_measure(cues: QuestionCues) -> bool:
    """Whether the question names a number or money; "break the incidents down by place" counts the incidents."""
    grouped = cues.group.field if cues.group is not None else None
    mentions = (link.meaning for link in cues.reading.links if isinstance(link.meaning, FieldMention))
    return (
        not cues.reading.has_noun
        or bool(set(cues.words) & (MONEY_WORDS | SPENDING_NOUNS))
        or any(
            mention.column is None
            and mention.field != grouped
            and cues.lexicon.get_field(mention.field).type in NUMERIC_TYPES
            for mention in mentions
        )
    )


def _with_second_group(answer_form: ComputeNumbers | None, cues: QuestionCues) -> ComputeNumbers | None:
    """ "Sales per branch *and month*": returns the form divided once more; a limit or several functions forbid it."""
    second = cues.second_group
    if answer_form is None or answer_form.group is None or second is None or second.field == answer_form.field:
        return answer_form
    if answer_form.limit is not None or len(answer_form.functions) != 1:
        return answer_form
    return replace(answer_form, second_group=second)


def _opening_measure(words: Sequence[str], reading: BucketReading, lexicon: BucketLexicon) -> SchemaField | None:
    """ "*Price* per city": returns the numeric field at the start of a question without a function."""
    first = next((index for index, word in enumerate(words) if word not in ("the", "a", "an")), 0)
    for link in reading.links:
        if isinstance(link.meaning, FieldMention) and link.first == first and link.meaning.column is None:
            field = lexicon.get_field(link.meaning.field)
            return field if field.type in NUMERIC_TYPES else None
    hinted = lexicon.field_hinted_by(reading.tokens[first].stem)
    field = lexicon.get_field(hinted) if hinted is not None and words[first] in reading.unlinked_words else None
    return field if field is not None and field.type in NUMERIC_TYPES else None


def _sum_of_counted_measure(
    words: Sequence[str], phrases: Sequence[FunctionPhrase], reading: BucketReading, lexicon: BucketLexicon
) -> ComputeNumbers | None:
    """ "How many *hours* were spent on tickets …": returns a sum of the measure that the question counts."""
    if (name := _counted_field(phrases, words, reading, lexicon)) is not None:
        return ComputeNumbers(functions=(AggregateFunction.SUM,), field=name)
    fields = counted_unit_fields(phrases, words, lexicon) if _measures_several(phrases, words, reading) else ()
    spoken = [mention.field for mention in reading.asked_mentions if mention.field in fields]
    name = spoken[0] if spoken else fields[0] if len(fields) == 1 else None
    return ComputeNumbers(functions=(AggregateFunction.SUM,), field=name) if name is not None else None


def _measures_several(phrases: Sequence[FunctionPhrase], words: Sequence[str], reading: BucketReading) -> bool:
    """Whether a measure of several documents is asked for: "how many hours on the jobs …", "how many tons of A …"."""
    if reading.has_noun and reading.has_plural_noun:
        return True
    after = words[phrases[0].last + 1 :][:1] if phrases else ()
    return (bool(reading.conditions) and after == ["of"]) or after == ["per"]


def _counted_field(
    phrases: Sequence[FunctionPhrase], words: Sequence[str], reading: BucketReading, lexicon: BucketLexicon
) -> FieldName | None:
    """ "How many *passengers* flew …": returns the field that holds this count."""
    is_of_set = bool(reading.conditions) or bool(GROUPING_WORDS & set(words))
    if not phrases or phrases[0].words != ("how", "many") or not is_of_set:
        return None
    index = phrases[0].last
    for link in reading.links:
        if link.first == index and isinstance(link.meaning, FieldMention) and link.meaning.column is None:
            is_measure = link.meaning in reading.asked_mentions and _is_count_field(link.meaning.field, lexicon)
            return link.meaning.field if is_measure and not _describes_noun(link, reading, lexicon) else None
    token = reading.tokens[index] if index < len(reading.tokens) else None
    hinted = lexicon.field_hinted_by(token.stem) if token is not None and token.word in reading.unlinked_words else None
    return (
        hinted
        if hinted is not None and looks_plural(reading.tokens[index]) and _is_count_field(hinted, lexicon)
        else None
    )


def _describes_noun(described: SpanLink, reading: BucketReading, lexicon: BucketLexicon) -> bool:
    """ "How many *stock* items": whether a noun for the documents, or for what names them, follows at once."""
    for link in reading.links:
        if link.first == described.last and looks_plural(reading.tokens[link.last - 1]):
            meaning = link.meaning
            if isinstance(meaning, BucketNoun):
                return True
            if isinstance(meaning, FieldMention):
                return lexicon.get_field(meaning.field, meaning.column).type not in NUMERIC_TYPES
    return False


def _is_count_field(name: FieldName, lexicon: BucketLexicon) -> bool:
    """Whether the field holds a count: a number without a unit that is neither a rate nor a code."""
    field = lexicon.get_field(name)
    is_plain = field.type is FieldType.NUMBER and not field.unit
    return is_plain and not is_rate_field(field) and name not in lexicon.roles.codes


def _asks_for_one_value(
    phrase: FunctionPhrase, words: Sequence[str], reading: BucketReading, lexicon: BucketLexicon
) -> bool:
    """ "What was the total on the receipt of 28 May": a value of one document, not a sum over a set."""
    if phrase.words == ("how", "many"):
        if list(words[phrase.last : phrase.last + 2]) == ["of", "each"]:
            return False
        links = [link for link in reading.links if phrase.last <= link.first <= phrase.last + 3]
        following = [link.meaning for link in links]
        counts = (
            any(names_documents(link, lexicon) for link in links)
            or any(isinstance(meaning, (BucketNoun, ValueMatch, PartialMatch)) for meaning in following)
            or any(
                isinstance(meaning, FieldMention)
                and lexicon.get_field(meaning.field, meaning.column).type is FieldType.FLAG
                for meaning in following
            )
        )
        return not counts and not set(words[phrase.last : phrase.last + 2]) & (FILLER_WORDS | REFERRING_WORDS)
    if phrase.function is not AggregateFunction.SUM:
        return False
    if (reading.has_noun and reading.has_plural_noun) or set(words) & {"all", "every", "altogether", "sum", "overall"}:
        return False
    on_the = any(pair in pairwise(words) for pair in (("on", "the"), ("of", "the"), ("for", "the")))
    return reading.has_noun and on_the and phrase.words != ("sum",)


def _compute_form(
    phrases: Sequence[FunctionPhrase],
    reading: BucketReading,
    lexicon: BucketLexicon,
    group: GroupBy | None,
    words: Sequence[str],
) -> ComputeNumbers | None:
    """Returns the numbers to compute; None if a function needs a number and there is no numeric field."""
    functions = tuple(dict.fromkeys(phrase.function for phrase in phrases)) or (AggregateFunction.SUM,)
    fields = computed_fields(reading, lexicon, words, phrases, group.field if group else None)
    if AggregateFunction.COUNT in functions and any(phrase.words in _JOINING_PHRASES for phrase in phrases):
        measured = counts_measure(reading, lexicon)  # "how many people live on A and B put together"
        functions = (AggregateFunction.SUM,) if measured else (AggregateFunction.COUNT,)
    field = next(iter(fields), None) if phrases or len(fields) == 1 or lexicon.roles.amounts else None
    if not phrases and field is None:
        functions = (AggregateFunction.COUNT,)
    if field is None and AggregateFunction.COUNT not in functions:
        return None
    if field is None or functions == (AggregateFunction.COUNT,):
        return ComputeNumbers(functions=(AggregateFunction.COUNT,), group=group, limit=requested_limit(words, reading))
    if AggregateFunction.SUM in functions and len(functions) > 1:
        functions = tuple(
            function for function in functions if function is not AggregateFunction.SUM or asks_for_sum(phrases, words)
        )
    return ComputeNumbers(functions=functions, field=field, group=group, limit=requested_limit(words, reading))
