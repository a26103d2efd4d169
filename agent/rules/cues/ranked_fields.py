"""Finds the fields that a superlative may order: those it names, those its adjective measures, or any number."""

from collections.abc import Sequence
from decimal import Decimal

from agent.english.amount_names import rank_amount_name
from agent.english.function_words import LASTING_VERBS, MONEY_WORDS
from agent.english.gradable_adjectives import AdjectiveScale, ScaleKind, scale_of_superlative
from agent.rules.binding.implied_kind import select_fields_of_kind
from agent.rules.cues.asked_prices import select_fields_of_side
from agent.rules.cues.function_phrases import FunctionPhrase
from agent.rules.cues.question_subject import (
    EARNING_VERBS,
    MEASURABLE_TYPES,
    NUMERIC_TYPES,
    field_of_unlinked_words,
)
from agent.rules.cues.scale_fields import fields_on_scale, is_any_extent, is_speed, is_year_of_origin
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import BucketNoun, FieldMention, SpanLink
from agent.rules.reading.bucket_reading import BucketReading
from storage.quantities.units import convert_unit
from storage.search.ids import FieldName
from storage.search.plan import AggregateFunction
from storage.search.schema import FieldType, SchemaField

_QUANTITY_WORDS = frozenset("quantity qty pieces pcs units".split())
_SERVICE_NOUNS = frozenset("service office post employment use".split())
_JOINING_DATE_NAMES = (
    *(
        "join date",
        "joined",
        "hire date",
        "hired",
        "start date",
        "entry date",
        "date of entry",
        "starts",
        "in service from",
        "in svc from",
        "in service",
    ),
    *("member since", "customer since", "since", "acquired", "bought", "purchased", "valid from"),
)
_ENDS_OF_DAYS = (("latest",), ("earliest",), ("newest",))
_ENDS_OF_PHRASES = frozenset("in for with at on from of by last this during per since and".split())
_OPENINGS_OF_MEASURES = (
    ("going", "by"), ("judging", "by"), ("judged", "by"), ("measured", "by"), ("counted", "by"), ("in", "terms", "of"),
    ("based", "on"),
)  # fmt: skip
_SCALES_OF_DAYS = (ScaleKind.DATE, ScaleKind.AGE)


def ordering_fields(
    phrase: FunctionPhrase, words: Sequence[str], reading: BucketReading, lexicon: BucketLexicon
) -> tuple[FieldName, ...]:
    """Returns the fields that the superlative may order, the equally likely ones together.

    Empty if no field of the bucket can be compared.
    """
    if (measured := _fields_of_measure_phrase(words, reading, lexicon)) is not None:
        return (measured,)
    if (called := fields_called(phrase.words, lexicon)) and not _mentions_measure(phrase, reading, lexicon):
        return called
    mentioned = _mentioned_fields(phrase, reading, lexicon)
    if mentioned:
        return mentioned[:1]
    adjective, scale = scale_of_superlative(phrase.words) or ("", None)
    if scale is None or is_any_extent(adjective):
        hinted = field_of_unlinked_words(reading, lexicon)
        if hinted is not None:
            return (hinted,)
    fields = _fields_of_superlative(adjective, phrase, words, lexicon) if scale is not None else ()
    if is_any_extent(adjective):
        fields = _without_rates(_with_amounts_of_quantities(fields, lexicon), lexicon)
    if fields := select_fields_of_kind(fields, reading.conditions, lexicon.schema, words):
        return select_fields_of_side(_without_parts(fields, lexicon), words, lexicon)
    if (hinted := field_of_unlinked_words(reading, lexicon)) is not None:
        return (hinted,)
    if scale is not None and scale.kind in _SCALES_OF_DAYS:
        return ()  # nothing is "youngest" by its size
    if scale is not None and scale.kind is ScaleKind.MONEY:
        return ()  # nor "dearest" by its hours
    if lexicon.roles.amounts and (set(phrase.words) | set(words)) & MONEY_WORDS:
        return select_fields_of_kind(lexicon.roles.amounts, reading.conditions, lexicon.schema, words)
    numbers = lexicon.roles.numbers
    if scale is not None and scale.kind is ScaleKind.MEASURE:  # nothing is "longest" by its price or its kilograms
        numbers = tuple(name for name in numbers if _may_be_any_measure(lexicon.get_field(name)))
    if is_any_extent(adjective):
        numbers = _without_rates(numbers, lexicon)
    return select_fields_of_kind(numbers, reading.conditions, lexicon.schema)


def _without_rates(fields: tuple[FieldName, ...], lexicon: BucketLexicon) -> tuple[FieldName, ...]:
    """Nobody is the "biggest customer" by a discount in percent."""
    return tuple(name for name in fields if not _is_percentage(lexicon.get_field(name)))


def _is_percentage(field: SchemaField) -> bool:
    return field.unit == "percent" or "%" in field.label


def _with_amounts_of_quantities(fields: tuple[FieldName, ...], lexicon: BucketLexicon) -> tuple[FieldName, ...]:
    """ "The biggest order" may be the one of most pieces or of most money."""
    are_quantities = any(_QUANTITY_WORDS & set(lexicon.get_field(name).label.casefold().split()) for name in fields)
    added = lexicon.roles.amounts if are_quantities else ()
    return tuple(dict.fromkeys((*fields, *added)))


def _without_parts(fields: tuple[FieldName, ...], lexicon: BucketLexicon) -> tuple[FieldName, ...]:
    """ "The biggest bill" has the largest gross amount, not the largest tax: drops parts of amounts beside these."""
    ranks = {name: rank_amount_name(set(lexicon.get_field(name).label.casefold().split())) for name in fields}
    return tuple(name for name in fields if ranks[name] >= 0) or fields


def _may_be_any_measure(field: SchemaField) -> bool:
    """Whether nothing says what the number measures; a share may be one of anything."""
    is_share = convert_unit(Decimal(1), field.unit, "percent") is not None
    return field.type is FieldType.NUMBER and (not field.unit or is_share)


def fields_called(superlative: Sequence[str], lexicon: BucketLexicon) -> tuple[FieldName, ...]:
    """ "The *lowest* point" of places with a `lowest elevation`: returns the numbers that are called by the word."""
    if len(superlative) != 1:
        return ()
    return tuple(
        field.name
        for field in lexicon.schema.fields
        if field.type in NUMERIC_TYPES and superlative[0] in field.label.casefold().split()
    )


def _mentions_measure(phrase: FunctionPhrase, reading: BucketReading, lexicon: BucketLexicon) -> bool:
    """ "The *lowest rent*": whether the name of a number follows the superlative."""
    return any(
        isinstance(link.meaning, FieldMention)
        and not link.meaning.is_hint
        and link.first == phrase.last
        and lexicon.get_field(link.meaning.field, link.meaning.column).type in MEASURABLE_TYPES
        for link in reading.links
    )


def measures_anything(
    phrase: FunctionPhrase, words: Sequence[str], reading: BucketReading, lexicon: BucketLexicon
) -> bool:
    """Whether the documents can be old or new, if the superlative says so; true for all other superlatives."""
    found = scale_of_superlative(phrase.words)
    is_of_days = found is not None and found[1].kind in _SCALES_OF_DAYS
    return not is_of_days or bool(ordering_fields(phrase, words, reading, lexicon))


def first_of_measure_phrase(words: Sequence[str]) -> int | None:
    """ "The largest, *going by* …": returns the first token of words that say what is measured."""
    return next(
        (
            index
            for index in range(len(words) - 2)
            for opening in _OPENINGS_OF_MEASURES
            if tuple(words[index : index + len(opening)]) == opening
        ),
        None,
    )


def _fields_of_measure_phrase(words: Sequence[str], reading: BucketReading, lexicon: BucketLexicon) -> FieldName | None:
    """ "Going by *how much ground they cover*": returns the number that these words name, or mean."""
    start = first_of_measure_phrase(words)
    if start is None:
        return None
    for link in reading.links:
        meaning = link.meaning
        if (
            isinstance(meaning, FieldMention)
            and link.first >= start
            and meaning.column is None
            and not meaning.is_hint
            and lexicon.get_field(meaning.field).type in MEASURABLE_TYPES
        ):
            return meaning.field
    numbers = lexicon.roles.numbers
    nearest = (reading.similarities.nearest_of(word, numbers) for word in words[start + 2 :])
    return next((name for name in nearest if name is not None), None)


def _mentioned_fields(phrase: FunctionPhrase, reading: BucketReading, lexicon: BucketLexicon) -> tuple[FieldName, ...]:
    """Returns the fields that the question names beside the superlative, the nearest first; not those of conditions."""
    found = scale_of_superlative(phrase.words)
    is_price = found is not None and found[1].kind is ScaleKind.MONEY  # "cheapest" itself names no amount
    mentions = [
        (abs(link.first - phrase.first), lexicon.get_field(link.meaning.field))
        for link in reading.links
        if isinstance(link.meaning, FieldMention)
        and link.meaning.column is None
        and not reading.literal_tokens & set(range(link.first, link.last))
        and not (is_price and phrase.first <= link.first < phrase.last)
        and not _modifies_measure(link, reading, lexicon)
    ]
    fields = [field for _, field in sorted(mentions, key=lambda pair: pair[0]) if field.type in MEASURABLE_TYPES]
    words = [token.word for token in reading.tokens]
    if found is not None and not is_any_extent(found[0]) and not asks_for_length_of_service(phrase, words):
        fields = [field for field in fields if may_measure(field, found[1])]
    if phrase.words in _ENDS_OF_DAYS:  # "what does the latest invoice come to" puts no amounts in order
        fields = [field for field in fields if field.type is FieldType.DATE]
    return tuple(dict.fromkeys(field.name for field in fields))


def _modifies_measure(link: SpanLink, reading: BucketReading, lexicon: BucketLexicon) -> bool:
    """ "The highest *population* density": whether the name of another measure follows, which is what is compared."""
    return any(
        isinstance(other.meaning, FieldMention)
        and not other.meaning.is_hint
        and other.first == link.last
        and lexicon.get_field(other.meaning.field, other.meaning.column).type in MEASURABLE_TYPES
        for other in reading.links
    )


def may_measure(field: SchemaField, scale: AdjectiveScale) -> bool:
    """Whether the adjective may be about the field: nothing is "cheapest" by its date."""
    if scale.kind is ScaleKind.MONEY:
        return field.type is FieldType.MONEY or (field.type is FieldType.NUMBER and not field.unit)
    if scale.kind in _SCALES_OF_DAYS:
        return field.type is not FieldType.MONEY
    return scale.kind is not ScaleKind.MEASURE or field.type is not FieldType.DATE


def _fields_of_superlative(
    adjective: str, phrase: FunctionPhrase, words: Sequence[str], lexicon: BucketLexicon
) -> tuple[FieldName, ...]:
    if asks_for_length_of_service(phrase, words):
        joining = lexicon.find_date_fields(_JOINING_DATE_NAMES)
        is_served = bool({"serving", "served"} & set(words[phrase.last : phrase.last + 1]))
        if is_served or lexicon.roles.holds_people:
            return joining
        is_of_members = bool(_OWNERS & set(words[: phrase.first]))  # "has been with us": no term of anything else
        durations = () if is_of_members else lexicon.roles.durations
        return durations or _joining_dates(lexicon)
    fields = fields_on_scale(adjective, lexicon)
    return tuple(name for name in fields if lexicon.get_field(name).type in MEASURABLE_TYPES)


def asks_for_length_of_service(phrase: FunctionPhrase, words: Sequence[str]) -> bool:
    """ "Longest-serving", "oldest in service", "who has been with us longest"."""
    if phrase.words not in (("longest",), ("oldest",), ("shortest",)):
        return False
    follows = words[phrase.last : phrase.last + 1]
    in_service = words[phrase.last : phrase.last + 1] == ["in"] and bool(set(words[phrase.last :]) & _SERVICE_NOUNS)
    before = set(words[: phrase.first])
    with_us = bool(before & {"with", "been"}) or {"worked", "here"} <= before or {"working", "here"} <= before
    return bool(set(follows) & LASTING_VERBS) or in_service or with_us


def find_joining_dates(lexicon: BucketLexicon) -> tuple[FieldName, ...]:
    """Returns the date on which somebody or something began, by its name; empty if no name tells it."""
    return lexicon.find_date_fields(_JOINING_DATE_NAMES)


def _joining_dates(lexicon: BucketLexicon) -> tuple[FieldName, ...]:
    """Returns the date on which somebody or something began; all dates but births if no name tells it."""
    named = find_joining_dates(lexicon)
    return named or tuple(name for name in lexicon.roles.dates if name not in lexicon.roles.births)


def is_descending(phrase: FunctionPhrase, words: Sequence[str], field: SchemaField) -> bool:
    """Whether the highest value comes first. An age is high where its date is early; a long service began early."""
    found = scale_of_superlative(phrase.words)
    is_high_end = found[1].is_high_end if found is not None else phrase.function is AggregateFunction.MAXIMUM
    if asks_for_length_of_service(phrase, words):
        is_long = phrase.words[0] in ("longest", "oldest")
        return is_long is not (field.type is FieldType.DATE)
    if found is not None and is_speed(found[1]) and convert_unit(Decimal(1), field.unit, "day") is not None:
        return not is_high_end  # the fastest takes the least time
    if found is None or found[1].kind is not ScaleKind.AGE:
        return is_high_end
    is_age = field.type is FieldType.NUMBER and "year" not in field.name and not is_year_of_origin(field)
    return is_high_end is not is_age


def fields_of_most(
    index: int, words: Sequence[str], reading: BucketReading, lexicon: BucketLexicon
) -> tuple[FieldName, ...]:
    """ "The most *visitors*", "*earns* the most": returns the numbers that "most" at the token is about.

    Empty if it is about documents, or about nothing that the bucket knows.
    """
    after = [
        link.meaning.field
        for link in reading.links
        if isinstance(link.meaning, FieldMention) and link.meaning.column is None and link.first > index
    ]
    numbering = None if lexicon.running_number is None else lexicon.running_number.name  # it measures nothing
    named = tuple(name for name in after if lexicon.get_field(name).type in NUMERIC_TYPES and name != numbering)
    if named and not _counts_documents(index, named[0], reading):
        return named[:1]
    family = lexicon.roles.fields_of_family(words[index + 1], lexicon.roles.numbers) if index + 1 < len(words) else ()
    family = tuple(name for name in family if name != numbering)
    if family or (index + 1 < len(words) and words[index + 1] not in _ENDS_OF_PHRASES):
        return family
    verb_index = index - 1 - (words[index - 1 : index] == ["the"])
    if words[index + 1 : index + 2] == ["of"] and words[max(verb_index, 0)] in _VERBS_OF_OWNING:
        return lexicon.roles.fields_of_words(_OWNED_AMOUNT_WORDS)
    return _fields_of_verb(verb_index, reading, lexicon)


def _counts_documents(index: int, field: FieldName, reading: BucketReading) -> bool:
    """ "Most *accidents* happen, which run": whether the documents themselves are counted, and not the number named.

    A number right behind their noun is what is compared: "the most job hours".
    """
    for link in reading.links:
        if isinstance(link.meaning, BucketNoun) and index < link.first <= index + _MAX_WORDS_TO_NOUN:
            return not any(
                isinstance(other.meaning, FieldMention) and other.meaning.field == field and other.first == link.last
                for other in reading.links
            )
    return False


def _fields_of_verb(index: int, reading: BucketReading, lexicon: BucketLexicon) -> tuple[FieldName, ...]:
    """ "Who *earns* the most", "which branch *costs* us the most": returns the numbers that the verb is about."""
    while index > 0 and reading.tokens[index].word in ("us", "me", "them", "out", "up"):
        index -= 1
    if index < 0:
        return ()
    mentioned = tuple(
        link.meaning.field
        for link in reading.links
        if isinstance(link.meaning, FieldMention)
        and link.first <= index < link.last
        and lexicon.get_field(link.meaning.field, link.meaning.column).type in NUMERIC_TYPES
    )
    word = reading.tokens[index].word
    family = mentioned or lexicon.roles.fields_of_family(word, lexicon.roles.numbers)
    return family or (lexicon.roles.amounts if word in MONEY_WORDS | EARNING_VERBS else ())


_MAX_WORDS_TO_NOUN = 2  # from "most" to what is counted
_VERBS_OF_OWNING = frozenset("have has own owns hold holds stock stocks keep keeps got".split())  # "have the most of"
_OWNED_AMOUNT_WORDS = frozenset("owned qty quantity stock hand held units count pieces pcs".split())
_OWNERS = frozenset("us me our".split())
