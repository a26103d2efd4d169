"""Finds the subject of a question: one document or a kind, and the fields to measure, compute or return."""

from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise

from agent.english.date_roles import END_DATE_NAMES, END_VERBS, PAYMENT_DAY_NAMES, START_DATE_NAMES, START_VERBS
from agent.english.function_words import (
    DESTINATION_FIELD_WORDS,
    DIMENSION_UNITS,
    HOW_QUESTION_UNITS,
    MONEY_WORDS,
    ORIGIN_FIELD_WORDS,
    OWING_WORDS,
    RATE_NOUNS,
    YES_NO_VERBS,
)
from agent.rules.cues.function_phrases import FunctionPhrase
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import BucketNoun, FieldMention, LinkMeaning, PartialMatch, SpanLink, ValueMatch
from agent.rules.reading.bucket_reading import BucketReading
from storage.quantities.money import CURRENCIES_BY_NAME
from storage.quantities.units import UNITS_BY_SPELLING, convert_unit
from storage.search.analyser import fold_text
from storage.search.ids import FieldName
from storage.search.schema import FieldType, SchemaField
from storage.text.identifiers import is_identifier
from storage.text.noun_classes import BUYER_NOUNS

NUMERIC_TYPES = (FieldType.NUMBER, FieldType.MONEY)
MEASURABLE_TYPES = (*NUMERIC_TYPES, FieldType.DATE)
EARLY_TOKENS = 6  # the number of tokens that may contain the subject
SIZE_NOUNS = frozenset({"size", "sizes"})
EARNING_VERBS = frozenset("earn earns earned earning make makes made charge charges charged owe owes owed".split())
_VERBS_AFTER_QUESTION_WORD = YES_NO_VERBS | {"s", "re", "d", "ll"}
_MAIN_QUESTION_WORDS = frozenset("what which who whom whose how where when".split())
_POWER_WORDS = frozenset("square sq cubic".split())  # before a unit: "square metres"
_MIN_UNIT_LETTERS = 3  # letters of a counted unit; "how many mm" has too few
_END_IDIOMS = {("run", "out"), ("runs", "out"), ("ran", "out"), ("be", "up"), ("is", "up"), ("wind", "up")}
_PAYING_WORDS = frozenset("pay paid settle settled".split())
_DUTIES = {("have", "to"), ("has", "to"), ("need", "to"), ("needs", "to"), ("got", "to")}
_START_IDIOMS = {
    ("kick", "in"), ("kicks", "in"), ("kicked", "in"), ("take", "effect"), ("takes", "effect"), ("took", "effect"),
    ("into", "force"), ("into", "effect"), ("go", "live"), ("went", "live"),
}  # fmt: skip


def asked_date_fields(words: Sequence[str], lexicon: BucketLexicon) -> tuple[FieldName, ...]:
    """ "Until when …", "since when …", "when does … end": returns the date fields for the end or the beginning."""
    pairs = set(pairwise(words))
    is_up = words[1:2] in (["is"], ["are"]) and words[-1:] == ["up"]  # "when is the lease up"
    ends = bool(set(words) & END_VERBS or pairs & _END_IDIOMS or is_up)
    if words[:2] == ["until", "when"] or (words[:1] == ["when"] and ends):
        return lexicon.find_date_fields(END_DATE_NAMES)
    if words[:2] == ["since", "when"] or (
        words[:1] == ["when"] and (set(words) & START_VERBS or pairs & _START_IDIOMS)
    ):
        return lexicon.find_date_fields(START_DATE_NAMES)
    return ()


def find_day_of_payment(words: Sequence[str], lexicon: BucketLexicon) -> tuple[FieldName, ...]:
    """ "When do we have to pay …", "by when must it be paid": returns the date on which a payment is due."""
    is_duty = "must" in words or bool(set(pairwise(words)) & _DUTIES)
    if "when" not in words[:2] or not is_duty or _PAYING_WORDS.isdisjoint(words):
        return ()
    return lexicon.find_date_fields(PAYMENT_DAY_NAMES)


def hinted_date_fields(reading: BucketReading, lexicon: BucketLexicon) -> tuple[FieldName, ...]:
    """ "When does the *warranty* end": returns the date field that an unlinked word hints at."""
    left = {word for phrase in reading.unlinked_words for word in phrase.casefold().split()}
    hinted = [lexicon.field_hinted_by(token.stem) for token in reading.tokens if token.word in left]
    return tuple(name for name in hinted if name is not None and lexicon.get_field(name).type is FieldType.DATE)[:1]


def hinted_fields(reading: BucketReading, lexicon: BucketLexicon) -> tuple[FieldName, ...]:
    """Returns the field that most unlinked words hint at; nothing if fewer than two do or there is a tie."""
    words = {word for phrase in reading.unlinked_words for word in phrase.casefold().split()}
    return lexicon.most_hinted_fields(token.stem for token in reading.tokens if token.word in words)


def fields_of_dimension(reading: BucketReading, lexicon: BucketLexicon) -> tuple[FieldName, ...]:
    """ "What *current* …": returns all fields measured in amperes, for a word that is not a field's name."""
    left = {word for phrase in reading.unlinked_words for word in phrase.casefold().split()}
    units = [unit for word, unit in DIMENSION_UNITS.items() if word in left]
    units += _units_of_how_question(reading, lexicon)
    units += [word for word in left if len(word) > 1]
    measured = [field for field, row in lexicon.measurable_fields if row is None and field.unit]
    fits = (
        field.name for field in measured for unit in units if convert_unit(Decimal(1), unit, field.unit) is not None
    )
    return tuple(dict.fromkeys(fits))


def _units_of_how_question(reading: BucketReading, lexicon: BucketLexicon) -> tuple[str, ...]:
    """ "How long does REC-12 take": returns the unit of the answer if an identifier names the document."""
    words = [token.word for token in reading.tokens[:2]]
    if words[:1] != ["how"] or not any(map(is_identifier, reading.unlinked_words)):
        return ()
    units = HOW_QUESTION_UNITS.get(words[-1], ())
    known = [
        unit
        for unit in units
        if any(convert_unit(Decimal(1), unit, field_unit) is not None for field_unit in lexicon.field_units)
    ]
    return tuple(known[:1])


def names_one_document(reading: BucketReading, lexicon: BucketLexicon) -> bool:
    """Whether the question names one document: by a value that only it has, or by two names at once."""
    name_matches = [
        link.meaning
        for link in reading.links
        if isinstance(link.meaning, (ValueMatch, PartialMatch))
        and link.meaning.column is None
        and (isinstance(link.meaning, ValueMatch) or link.meaning.is_single_name)
        and (not lexicon.is_categorical(link.meaning.field) or lexicon.is_identifying(link.meaning.field))
    ]
    alone = any(
        isinstance(value, ValueMatch) and lexicon.count_documents_with(value.field, value.value) == 1
        for value in name_matches
    )
    alone = alone or any(_is_part_of_own_name(link.meaning, reading, lexicon) for link in reading.links)
    lists = [value for value in name_matches if lexicon.get_field(value.field).type is FieldType.LIST]
    return alone or len(lists) > 1 or _names_route(reading, lexicon)


def _is_part_of_own_name(meaning: LinkMeaning, reading: BucketReading, lexicon: BucketLexicon) -> bool:
    """ "Account manager of *Talvora*": whether a field is asked of the only document whose name has these words."""
    if not isinstance(meaning, PartialMatch) or meaning.column is not None or len(meaning.values) != 1:
        return False
    if lexicon.analyser.language != "en":
        return False  # a capital does not tell a name
    asks_field = any(not mention.is_hint for mention in reading.asked_mentions)
    return asks_field and lexicon.count_documents_with(meaning.field, meaning.values[0]) == 1


def _names_route(reading: BucketReading, lexicon: BucketLexicon) -> bool:
    """ "From Arvo to Belk": whether one value says from where, and another one where to."""
    words = [
        {*fold_text(lexicon.get_field(link.meaning.field).label).split()}
        for link in reading.links
        if isinstance(link.meaning, ValueMatch) and link.meaning.column is None
    ]
    return any(label & ORIGIN_FIELD_WORDS for label in words) and any(
        label & DESTINATION_FIELD_WORDS for label in words
    )


def is_about_one_document(words: Sequence[str], reading: BucketReading, lexicon: BucketLexicon) -> bool:
    """ "… of the supply agreement between …": whether one document is meant: a definite noun or a unique name."""
    if reading.has_plural_noun or set(words) & {"all", "every", "each", "per"}:
        return False
    nouns = [link for link in reading.links if isinstance(link.meaning, BucketNoun)]
    definite = "any" not in words and any(
        {"the", "this", "that", "our"} & set(words[max(link.first - 10, 0) : link.first]) for link in nouns
    )
    return definite or names_one_document(reading, lexicon)


def names_only_kinds(reading: BucketReading, lexicon: BucketLexicon) -> bool:
    """Whether the question names only categorical values, which sort documents into kinds."""
    values = [link.meaning for link in reading.links if isinstance(link.meaning, (ValueMatch, PartialMatch))]
    return not reading.asked_mentions and all(lexicon.is_categorical(value.field, value.column) for value in values)


def names_documents(link: SpanLink, lexicon: BucketLexicon) -> bool:
    """Whether the link is a noun of the bucket, or the name of what identifies its documents: "which *jobs* …"."""
    meaning = link.meaning
    if isinstance(meaning, FieldMention):
        return meaning.column is None and not meaning.is_hint and lexicon.is_identifying(meaning.field)
    return isinstance(meaning, BucketNoun)


def has_noun_before(phrase: FunctionPhrase, reading: BucketReading) -> bool:
    return any(isinstance(link.meaning, BucketNoun) and link.last <= phrase.first for link in reading.links)


def has_noun_at(index: int, reading: BucketReading) -> bool:
    return any(isinstance(link.meaning, BucketNoun) and link.first == index for link in reading.links)


def field_of_unlinked_words(reading: BucketReading, lexicon: BucketLexicon) -> FieldName | None:
    """Returns the numeric field that an unlinked word refers to, by its name or its unit."""
    left = {word for phrase in reading.unlinked_words for word in phrase.casefold().split()}
    stems = [token.stem for token in reading.tokens if token.word in left]
    hinted = [name for stem in stems if (name := lexicon.field_hinted_by(stem)) is not None]
    numbers = [name for name in hinted if lexicon.get_field(name).type in NUMERIC_TYPES]
    return next(iter((*numbers, *fields_of_dimension(reading, lexicon))), None)


_BILLING_VERBS = frozenset("billed invoiced charged earned".split())


def is_about_money(index: int, words: Sequence[str], reading: BucketReading, lexicon: BucketLexicon) -> bool:
    """ "The most *euros*", "cost us the most": whether the question is about money."""
    currencies = {field.currency_field for field in lexicon.schema.fields if field.currency_field}
    names_currency = any(
        isinstance(link.meaning, (ValueMatch, PartialMatch)) and link.meaning.field in currencies and link.first > index
        for link in reading.links
    )
    return (
        names_currency
        or bool(set(words) & (MONEY_WORDS | _BILLING_VERBS))
        or any(word in CURRENCIES_BY_NAME for word in words[index + 1 : index + 3])
    )


def leading_category(words: Sequence[str], reading: BucketReading, lexicon: BucketLexicon) -> FieldName | None:
    """ "Which vendor …", "top 5 vendors", "who …": returns the category asked for instead of documents."""
    for link in reading.links:
        if not isinstance(link.meaning, FieldMention) or link.meaning.column is not None:
            continue
        field = lexicon.get_field(link.meaning.field)
        before = words[max(link.first - 3, 0) : link.first]
        leads = bool(set(before) & {"which", "what", "who", "top", "biggest"}) and link.first <= 4
        sorts = field.type in (FieldType.CATEGORY, FieldType.LIST) and not lexicon.is_identifying(field.name)
        if leads and sorts and link.meaning in reading.asked_mentions:
            return field.name
    return next(iter(leading_persons(words, reading, lexicon)), None)


def leading_persons(words: Sequence[str], reading: BucketReading, lexicon: BucketLexicon) -> tuple[FieldName, ...]:
    """ "Who *inspected* most": returns the fields for persons that the verb names, else all, the likeliest first."""
    if words[:1] != ["who"] or has_noun_at(0, reading) or lexicon.roles.holds_people:
        return ()
    if set(words) & OWING_WORDS and (debtors := _find_debtors(lexicon)) is not None:
        return debtors
    persons = lexicon.roles.persons
    named = [mention.field for mention in reading.asked_mentions if mention.field in persons]
    named += [name for token in reading.tokens for name in lexicon.roles.fields_of_family(token.word, persons)]
    likeliest = [lexicon.person_field] if lexicon.person_field in persons and lexicon.person_field else []
    return tuple(dict.fromkeys(named[:1] or [*likeliest, *persons]))


def main_clause_of(words: Sequence[str]) -> Sequence[str]:
    """ "When the river is high, *who* closes the gate": returns the words without a clause that appears before them."""
    if words[:1] not in (["when"], ["where"]) or words[1:2] == [] or words[1] in _VERBS_AFTER_QUESTION_WORD:
        return words
    main = next((index for index in range(2, len(words)) if words[index] in _MAIN_QUESTION_WORDS), 0)
    return words[main:]


def requested_fields(words: Sequence[str], reading: BucketReading, lexicon: BucketLexicon) -> tuple[FieldName, ...]:
    """Returns the fields that the question asks for: those it names, else those that "when" or "how much" imply."""
    words = main_clause_of(words)
    asked = [mention for mention in reading.asked_mentions if mention.is_question]
    named_fields = [mention.field for mention in asked] or [*asked_date_fields(words, lexicon)]
    named_fields = named_fields or [mention.field for mention in reading.asked_mentions]
    if named_fields:
        return tuple(dict.fromkeys(named_fields))
    fields = lexicon.schema.fields
    if words and words[0] == "when":
        if hinted := hinted_date_fields(reading, lexicon):
            return hinted
        natural = lexicon.schema.natural_order
        dates = [field.name for field in fields if field.type is FieldType.DATE]
        return ((natural.field,) if natural and natural.field in dates else tuple(dates[:1])) if dates else ()
    if words[:2] == ["how", "much"]:
        return tuple(field.name for field in fields if field.type is FieldType.MONEY)[:1]
    if words[:1] == ["how"] and _units_of_how_question(reading, lexicon):
        return fields_of_dimension(reading, lexicon)
    person_field = lexicon.sole_person_field
    if words[:1] == ["who"] and person_field is not None and any(map(is_identifier, reading.unlinked_words)):
        return (person_field,)
    return ()


def counted_unit_fields(
    phrases: Sequence[FunctionPhrase], words: Sequence[str], lexicon: BucketLexicon
) -> tuple[FieldName, ...]:
    """ "How many watts …": returns the fields measured in the counted unit."""
    counted = next((phrase for phrase in phrases if phrase.words in (("how", "many"), ("how", "much"))), None)
    if counted is None or counted.last >= len(words):
        return ()
    for name in units_named_in(words[counted.last : counted.last + 2]):
        unit = UNITS_BY_SPELLING.get(name, name)  # pint takes "kilos" for seconds
        found = tuple(
            field.name
            for field, row in lexicon.measurable_fields
            if row is None and field.unit and is_convertible(unit, field.unit)
        )
        if found:
            return found
    return ()


def units_named_in(words: Sequence[str]) -> tuple[str, ...]:
    """Returns what may be units in the words: "square km" before "km"."""
    pairs = (" ".join(pair) for pair in pairwise(words) if pair[0] in _POWER_WORDS)
    return (*pairs, *(word for word in words if len(word) >= _MIN_UNIT_LETTERS))


def is_convertible(unit: str, field_unit: str) -> bool:
    return convert_unit(Decimal(1), unit, field_unit) is not None


def is_rate_field(field: SchemaField) -> bool:
    """Whether a sum of the field's values is meaningless."""
    label_words = {word.casefold() for word in (*field.label.split(), *field.name.split("_"))}
    return bool(label_words & (RATE_NOUNS | {"%"})) or field.unit in ("degC", "degF", "K", "percent")


def _find_debtors(lexicon: BucketLexicon) -> tuple[FieldName, ...] | None:
    """ "Who *owes* us the most": the customer of an invoice; nobody beside an account that bears its own name, since
    the contact of a firm owes nothing. None if the bucket tells neither.
    """
    naming = [field for field in lexicon.schema.fields if field.type in (FieldType.CATEGORY, FieldType.TEXT)]
    buyers = [field for field in naming if BUYER_NOUNS & set(fold_text(field.label).split())]
    grouped = tuple(field.name for field in buyers if not lexicon.is_identifying(field.name))
    if grouped:
        return grouped
    names = (field for field in naming if lexicon.is_identifying(field.name))
    return () if any(field in buyers or not lexicon.roles.has_codes(field) for field in names) else None
