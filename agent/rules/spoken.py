"""What a question speaks of: one document or a kind, which field is measured, computed, or asked for."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from agent.rules.amounts import CURRENCIES
from agent.rules.functions import Saying, top_of
from agent.rules.language import (
    DIMENSIONS,
    GROUP_BEFORE,
    HOW_MEASURED,
    MEASURES,
    OF_DAYS,
    OF_MONEY,
    ORDERED_IN,
)
from agent.rules.lexicon import Lexicon, Mention, Noun, Partly, Valued
from agent.rules.reading import Reading
from agent.rules.tokens import is_identifier
from agent.rules.units import converted
from storage.search.ids import FieldName
from storage.search.plan import Compute, ListDocuments, Wanted
from storage.search.schema import Field, FieldType
from storage.search.text import fold

NUMERIC = (FieldType.NUMBER, FieldType.MONEY)
MEASURED = (*NUMERIC, FieldType.DATE)
EARLY = 6  # tokens within which what is asked about stands
_ENDING = ("end date", "ends", "expires", "expiry date", "valid until", "due date", "deadline")
_BEGINNING = ("start date", "starts", "begins", "valid from", "effective date")
_ENDS = frozenset("end ends ending expire expires finish finishes lapse lapses over stop stops terminate".split())
_BEGINS = frozenset("start starts started begin begins began commence commences commenced".split())


def asked_day(words: Sequence[str], lexicon: Lexicon) -> tuple[FieldName, ...]:
    """ "Until when …", "since when …", "when does … end": the day of the end, or of the beginning, if there is one."""
    if words[:2] == ["until", "when"] or (words[:1] == ["when"] and set(words) & _ENDS):
        return lexicon.days_called(_ENDING)
    if words[:2] == ["since", "when"] or (words[:1] == ["when"] and set(words) & _BEGINS):
        return lexicon.days_called(_BEGINNING)
    return ()


def day_hinted(reading: Reading, lexicon: Lexicon) -> tuple[FieldName, ...]:
    """ "When does the *warranty* end": the day that a word left over speaks of."""
    left = {word for one in reading.leftovers for word in one.casefold().split()}
    hinted = [lexicon.hinted_field(one.stem) for one in reading.tokens if one.word in left]
    return tuple(name for name in hinted if name is not None and lexicon.field(name).type is FieldType.DATE)[:1]


def hinted_fields(reading: Reading, lexicon: Lexicon) -> tuple[FieldName, ...]:
    """The field that several of the words left over hint at."""
    words = {word for one in reading.leftovers for word in one.casefold().split()}
    return lexicon.hinted_by(one.stem for one in reading.tokens if one.word in words)


def of_dimension(reading: Reading, lexicon: Lexicon) -> tuple[FieldName, ...]:
    """ "What *current* …": all that is measured in amperes, where no field is called so; no document has them all."""
    left = {word for one in reading.leftovers for word in one.casefold().split()}
    units = [unit for word, unit in DIMENSIONS.items() if word in left]
    units += _asked_how(reading, lexicon)
    units += [word for word in left if len(word) > 1]
    measured = [field for field, row in lexicon.measured if row is None and field.unit]
    fits = (one.name for one in measured for unit in units if converted(Decimal(1), unit, one.unit) is not None)
    return tuple(dict.fromkeys(fits))


def _asked_how(reading: Reading, lexicon: Lexicon) -> tuple[str, ...]:
    """ "How long does REC-12 take": what measures it, where one document is named by its id."""
    words = [token.word for token in reading.tokens[:2]]
    if words[:1] != ["how"] or not any(map(is_identifier, reading.leftovers)):
        return ()
    units = HOW_MEASURED.get(words[-1], ())
    known = [unit for unit in units if any(converted(Decimal(1), unit, one) is not None for one in lexicon.units)]
    return tuple(known[:1])


def names_one(reading: Reading, lexicon: Lexicon) -> bool:
    """Whether one document is named: by a value that it alone has, or by two names at once."""
    named = [
        link.meaning
        for link in reading.links
        if isinstance(link.meaning, (Valued, Partly))
        and link.meaning.column is None
        and (isinstance(link.meaning, Valued) or link.meaning.whole)
        and (not lexicon.tells_kinds(link.meaning.field) or lexicon.tells_apart(link.meaning.field))
    ]
    alone = any(isinstance(one, Valued) and lexicon.documents_with(one.field, one.value) == 1 for one in named)
    lists = [one for one in named if lexicon.field(one.field).type is FieldType.LIST]
    return alone or len(lists) > 1


def is_about_one(words: Sequence[str], reading: Reading, lexicon: Lexicon) -> bool:
    """ "… of the supply agreement between …": one document is spoken of, by what it is or by a value of its own."""
    if reading.plural_noun or set(words) & {"all", "every", "each", "per"}:
        return False
    nouns = [link for link in reading.links if isinstance(link.meaning, Noun)]
    definite = "any" not in words and any(
        {"the", "this", "that", "our"} & set(words[max(link.first - 10, 0) : link.first]) for link in nouns
    )
    return definite or names_one(reading, lexicon)


def only_kinds(reading: Reading, lexicon: Lexicon) -> bool:
    """Whether all that was said sorts documents into kinds."""
    values = [link.meaning for link in reading.links if isinstance(link.meaning, (Valued, Partly))]
    return not reading.asked and all(lexicon.tells_kinds(one.field, one.column) for one in values)


def noun_before(said: Saying, reading: Reading) -> bool:
    return any(isinstance(link.meaning, Noun) and link.last <= said.first for link in reading.links)


def noun_at(at: int, reading: Reading) -> bool:
    return any(isinstance(link.meaning, Noun) and link.first == at for link in reading.links)


def measured_field(said: Saying, words: Sequence[str], reading: Reading, lexicon: Lexicon) -> Field | None:
    """The field a superlative measures: the one spoken of nearest, else the only one of its dimension."""
    mentions = [
        (abs(link.first - said.first), lexicon.field(link.meaning.field))
        for link in reading.links
        if isinstance(link.meaning, Mention) and link.meaning.column is None
    ]
    spoken = [field for _, field in sorted(mentions, key=lambda pair: pair[0]) if field.type in MEASURED]
    if spoken:
        return spoken[0]
    text = set(said.words)
    if text & OF_DAYS:
        natural = lexicon.schema.natural_order
        return lexicon.schema.by_name[natural.field] if natural else None
    if (hinted := _measured_by_leftovers(reading, lexicon)) is not None:
        return lexicon.field(hinted)
    if (measured := _of_its_dimension(said, lexicon)) is not None:
        return measured
    amounts = [one for one in lexicon.schema.fields if one.type is FieldType.MONEY]
    if amounts and (text & OF_MONEY or set(words) & OF_MONEY or not text & set(MEASURES)):
        return amounts[0]
    numbers = [one for one in lexicon.schema.fields if one.type is FieldType.NUMBER]
    return numbers[0] if len(numbers) == 1 and (not text & set(MEASURES) or numbers[0].unit) else None


def _of_its_dimension(said: Saying, lexicon: Lexicon) -> Field | None:
    """ "The *longest* flight": the only field that is measured in what the word orders."""
    measured = [field for field, row in lexicon.measured if row is None and field.unit]
    for unit in (unit for word in said.words for unit in ORDERED_IN.get(word, ())):
        fits = [one for one in measured if converted(Decimal(1), unit, one.unit) is not None]
        if fits:
            return fits[0] if len(fits) == 1 else None
    return None


def without_measure(reading: Reading, wanted: Wanted, lexicon: Lexicon) -> Reading:
    """The reading without the words left over that only say what is computed, or by what: "average *hours*"."""
    names = _spoken_of(wanted)
    if not names:
        return reading
    field, stems = lexicon.field(names[0]), frozenset[str]().union(*map(lexicon.stems_of, names))
    said = {one.word: one.stem for one in reading.tokens}
    left = tuple(one for one in reading.leftovers if not (said.get(fold(one)) in stems or _is_unit(fold(one), field)))
    return replace(reading, leftovers=left)


def _spoken_of(wanted: Wanted) -> list[FieldName]:
    """The field that is measured first, then what it is grouped by."""
    match wanted:
        case Compute(field=name, group=group):
            return [*([name] if name else []), *([group.field] if group else [])]
        case ListDocuments(order=order):
            return [order.field] if order else []
        case _:
            return []


def _is_unit(word: str, field: Field) -> bool:
    """ "How many *watts*": what the field is measured in, or by."""
    unit = DIMENSIONS.get(word, word)
    return bool(field.unit) and len(word) > 1 and converted(Decimal(1), unit, field.unit) is not None


def _measured_by_leftovers(reading: Reading, lexicon: Lexicon) -> FieldName | None:
    """The number that a word left over speaks of, by its name or by what it is measured in."""
    left = {word for one in reading.leftovers for word in one.casefold().split()}
    stems = [one.stem for one in reading.tokens if one.word in left]
    hinted = [name for stem in stems if (name := lexicon.hinted_field(stem)) is not None]
    numbers = [name for name in hinted if lexicon.field(name).type in NUMERIC]
    return next(iter((*numbers, *of_dimension(reading, lexicon))), None)


def number_field(reading: Reading, lexicon: Lexicon, words: Sequence[str], skip: FieldName | None) -> FieldName | None:
    """The field to compute over: the one spoken of, else one that a word hints at, the money field, the only number."""
    grouped = {link.meaning for link in reading.links if link.first and words[link.first - 1] in GROUP_BEFORE}
    for mention in reading.asked:
        if mention in grouped and not (top_of(words, reading) and lexicon.field(mention.field).type in NUMERIC):
            continue  # "by year"; but "top 3 airlines by passengers"
        if mention.column is None and mention.field != skip and lexicon.field(mention.field).type in NUMERIC:
            return mention.field
    spoken = (link.meaning for link in reading.links if isinstance(link.meaning, Mention))
    for mention in spoken:
        if (
            mention not in grouped
            and mention.column is None
            and lexicon.field(mention.field).type in NUMERIC
            and mention.field != skip
        ):
            return mention.field
    if (hinted := _measured_by_leftovers(reading, lexicon)) is not None and hinted != skip:
        return hinted
    amounts = [one.name for one in lexicon.schema.fields if one.type is FieldType.MONEY]
    numbers = [one.name for one in lexicon.schema.fields if one.type is FieldType.NUMBER]
    return amounts[0] if amounts else numbers[0] if len(numbers) == 1 else None


def speaks_of_money(at: int, words: Sequence[str], reading: Reading, lexicon: Lexicon) -> bool:
    """ "The most *euros*", "cost us the most"."""
    currencies = {one.currency_field for one in lexicon.schema.fields if one.currency_field}
    named = any(
        isinstance(link.meaning, (Valued, Partly)) and link.meaning.field in currencies and link.first > at
        for link in reading.links
    )
    return named or bool(set(words) & OF_MONEY) or any(word in CURRENCIES for word in words[at + 1 : at + 3])


def leading_category(words: Sequence[str], reading: Reading, lexicon: Lexicon) -> FieldName | None:
    """ "Which vendor …", "top 5 vendors", "who …": a category that the question is after, in place of documents."""
    for link in reading.links:
        if not isinstance(link.meaning, Mention) or link.meaning.column is not None:
            continue
        field = lexicon.field(link.meaning.field)
        before = words[max(link.first - 3, 0) : link.first]
        leads = bool(set(before) & {"which", "what", "who", "top", "biggest"}) and link.first <= 4
        if leads and field.type in (FieldType.CATEGORY, FieldType.LIST) and link.meaning in reading.asked:
            return field.name
    return lexicon.person_field if words[:1] == ["who"] and not noun_at(0, reading) else None


def asked_fields(words: Sequence[str], reading: Reading, lexicon: Lexicon) -> tuple[FieldName, ...]:
    """The fields whose values are asked for: those spoken of, else what "when" and "how much" must mean."""
    named = [*asked_day(words, lexicon)] or [one.field for one in reading.asked]
    if named:
        return tuple(dict.fromkeys(named))
    fields = lexicon.schema.fields
    if words and words[0] == "when":
        if hinted := day_hinted(reading, lexicon):
            return hinted
        natural = lexicon.schema.natural_order
        dates = [one.name for one in fields if one.type is FieldType.DATE]
        return ((natural.field,) if natural and natural.field in dates else tuple(dates[:1])) if dates else ()
    if words[:2] == ["how", "much"]:
        return tuple(one.name for one in fields if one.type is FieldType.MONEY)[:1]
    if words[:1] == ["how"] and _asked_how(reading, lexicon):
        return of_dimension(reading, lexicon)
    if words[:1] == ["who"] and lexicon.person_field is not None and any(map(is_identifier, reading.leftovers)):
        return (lexicon.person_field,)
    return ()
