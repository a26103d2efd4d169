"""Finds the field that a question asks for by its question word: who, where, when, how much, how long, how old."""

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from enum import StrEnum

from agent.english.date_roles import END_DATE_NAMES, END_VERBS, START_DATE_NAMES, START_VERBS
from agent.english.function_words import (
    ACQUIRING_VERBS,
    FILLER_WORDS,
    KEEPING_VERBS,
    MONEY_WORDS,
    STOP_WORDS,
    YES_NO_VERBS,
)
from agent.rules.cues.question_subject import (
    asked_date_fields,
    find_day_of_payment,
    is_convertible,
    main_clause_of,
    units_named_in,
)
from agent.rules.cues.scale_fields import fields_on_scale, numbers_named_by
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import BucketNoun, FieldMention, PartialMatch, ValueMatch
from agent.rules.reading.bucket_reading import BucketReading
from storage.search.analyser import fold_text
from storage.search.conditions import fields_of
from storage.search.ids import FieldName
from storage.search.schema import FieldType
from storage.text.noun_classes import PARTY_NOUNS, SELLER_NOUNS

_NAMING_TYPES = (FieldType.CATEGORY, FieldType.TEXT, FieldType.LIST)
_PAYING_VERBS = frozenset("cost costs pay paid charge charged owe owes".split())
_EMPTY_WORDS = STOP_WORDS | FILLER_WORDS - frozenset("signed issued made paid bought provided assigned".split())
_ENDS_OF_TIME = 2
_MIN_COUNTED_SIMILARITY = 0.35  # any number may be counted, so little is said by the question word
_DAY_NOUNS = frozenset("day date month year time".split())
_LEADING_PREPOSITIONS = frozenset("by for to since until from on at in".split())  # "on what day"
_AUXILIARIES = YES_NO_VERBS | frozenset("i we you they he she it to".split())


class AskedKind(StrEnum):
    """What a question word asks for."""

    PERSON = "person"
    PLACE = "place"
    DAY = "day"
    MONEY = "money"
    DURATION = "duration"
    AGE = "age"
    DEGREE = "degree"  # "how tall", "how toxic"


_PLACE_PREPOSITIONS = frozenset({"at", "in"})


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedFields:
    """The fields that may answer. `is_named`: words of the question name or hint at them, not only their type."""

    fields: tuple[FieldName, ...] = ()
    is_named: bool = False
    are_joint: bool = False  # only together they answer: the first and the last day of "how long"


_VERBS_OF_USE = frozenset("use uses used".split())
_NAMES_OF_USERS = frozenset("user users used".split())


def asked_kind(words: Sequence[str]) -> AskedKind | None:
    """Returns what the question word asks for; None for "what" and "which", which may ask for anything."""
    words = main_clause_of(words)
    lead = words[1] if words[:1] and words[0] in _LEADING_PREPOSITIONS and words[1:] else ""
    lead = lead or (words[0] if words else "")
    if lead in ("who", "whom", "whose"):
        return AskedKind.PERSON
    if lead in ("where", "when"):
        return AskedKind.PLACE if lead == "where" else AskedKind.DAY
    if lead in ("what", "which"):
        return _kind_asked_by_what(words)
    return _kind_of_how_question(words) if lead == "how" else None


def _kind_asked_by_what(words: Sequence[str]) -> AskedKind | None:
    start = words.index("what") if "what" in words[:2] else words.index("which")
    if words[start + 1 : start + 2] and words[start + 1] in _DAY_NOUNS:
        return AskedKind.DAY
    idiom = "the" in words and bool({"damage", "bill", "tab"} & set(words[-4:]))
    sets_back = "set" in words and "back" in words[words.index("set") :][1:4]
    pays = bool(set(words[1:3]) & YES_NO_VERBS) and (sets_back or bool(set(words) & _PAYING_VERBS))
    return AskedKind.MONEY if idiom or pays else None


def _kind_of_how_question(words: Sequence[str]) -> AskedKind | None:
    second, third = (words[1] if len(words) > 1 else ""), (words[2] if len(words) > 2 else "")
    if second == "much":
        return AskedKind.MONEY if third in _AUXILIARIES or third in MONEY_WORDS | {"money"} else None
    if second == "old":
        return AskedKind.AGE
    if second == "long" or (second, third) == ("much", "time"):
        return AskedKind.DURATION
    is_degree = bool(second) and second not in _AUXILIARIES and second != "many" and second not in STOP_WORDS
    return AskedKind.DEGREE if is_degree else None


def find_asked_fields(words: Sequence[str], reading: BucketReading, lexicon: BucketLexicon) -> AskedFields:
    """Returns the fields that may answer the question word: those named, else those hinted at, else all of the type.

    Empty for a question without such a word, and where no field of the bucket could answer.
    """
    kind = asked_kind(words)
    if kind is None:
        return AskedFields()
    if kind is AskedKind.DAY and "time" in words[:3] and (times := _clock_fields(words, lexicon)):
        return AskedFields(fields=times, is_named=True)
    if kind is AskedKind.DEGREE:
        fields = _fields_in_named_unit(words, fields_on_scale(words[1], lexicon), lexicon)
        return AskedFields(fields=fields, is_named=bool(fields))
    candidates = _fields_of_kind(kind, lexicon)
    wider = _naming_fields(lexicon) if kind in (AskedKind.PERSON, AskedKind.PLACE) else candidates
    if kind is AskedKind.DAY:
        wider = (*lexicon.roles.dates, *lexicon.roles.years)
    if kind is AskedKind.DAY and (due := find_day_of_payment(words, lexicon)):
        return AskedFields(fields=due, is_named=True)
    if kind is AskedKind.DAY and (ends := asked_date_fields(words, lexicon)):
        opposite = {*lexicon.find_date_fields(START_DATE_NAMES), *lexicon.find_date_fields(END_DATE_NAMES)} - {*ends}
        mentioned = _mentioned_fields(words, reading, {*lexicon.roles.dates} - opposite)
        return AskedFields(fields=mentioned or ends, is_named=True)  # "when does the *insurance* end"
    if kind is AskedKind.PLACE and set(words) & KEEPING_VERBS:
        wider = _without_parties(wider, lexicon)
        candidates = tuple(dict.fromkeys((*_keeping_fields(lexicon), *_without_parties(candidates, lexicon))))
    elif kind is AskedKind.PLACE and set(words) & ACQUIRING_VERBS and (sellers := _fields_of_sellers(lexicon)):
        return AskedFields(fields=sellers, is_named=True)  # "where did we *get* it": of whom
    named = _mentioned_fields(words, reading, wider) or _family_fields(reading, lexicon, wider)
    if kind is AskedKind.PLACE and set(named).isdisjoint(lexicon.roles.places) and (kept := _keeping_fields(lexicon)):
        return AskedFields(fields=kept, is_named=True)
    if kind is AskedKind.DURATION and not (named or candidates) and len(lexicon.roles.dates) == _ENDS_OF_TIME:
        return AskedFields(fields=lexicon.roles.dates, are_joint=True)
    given = fields_of(reading.condition)
    if kind is AskedKind.PERSON and given.issuperset(named):
        named = ()  # "who has a *first-aid certificate*" tells the certificate
    open_candidates = tuple(name for name in candidates if name not in given)  # "who repaired the bus *of Acme*"
    nearest = None if named else reading.similarities.find_nearest_field(asking_words_of(reading), open_candidates)
    named = named or (() if nearest is None else (nearest,))
    return AskedFields(fields=named or open_candidates, is_named=bool(named))


def _clock_fields(words: Sequence[str], lexicon: BucketLexicon) -> tuple[FieldName, ...]:
    """ "What time does it *end*": returns the fields with times of day, of two the one that a verb tells."""
    times = lexicon.roles.clock_times
    if len(times) != _ENDS_OF_TIME:
        return times
    if set(words) & END_VERBS:
        return times[1:]
    return times[:1] if set(words) & START_VERBS else times


def asking_words_of(reading: BucketReading) -> tuple[str, ...]:
    """Returns the content words that name no documents: they say what is asked of them."""
    covered = value_tokens_of(reading)
    return tuple(
        token.word
        for index, token in enumerate(reading.tokens)
        if index not in covered and token.word not in _EMPTY_WORDS
    )


def find_counted_field(reading: BucketReading, lexicon: BucketLexicon) -> FieldName | None:
    """ "How many people were *injured*": returns the number that a word of the question names or is nearest to."""
    words = asking_words_of(reading)
    numbers = tuple(
        field.name
        for field in lexicon.schema.fields
        if field.type is FieldType.NUMBER and lexicon.vocabulary_of(field.name) is not None
    )
    for word in words:
        family = lexicon.roles.fields_of_family(word, numbers)
        if len(family) == 1:
            return family[0]
    return reading.similarities.find_nearest_field(words, numbers, _MIN_COUNTED_SIMILARITY)


def _fields_in_named_unit(
    words: Sequence[str], fields: tuple[FieldName, ...], lexicon: BucketLexicon
) -> tuple[FieldName, ...]:
    """ "How big is it *in square metres*": returns the fields that are measured so, if the question names a unit."""
    for unit in units_named_in(words):
        fitting = tuple(name for name in fields if (own := lexicon.get_field(name).unit) and is_convertible(unit, own))
        if fitting:
            return fitting
    return fields


def _fields_of_kind(kind: AskedKind, lexicon: BucketLexicon) -> tuple[FieldName, ...]:
    roles = lexicon.roles
    match kind:
        case AskedKind.PERSON:
            return roles.persons or roles.parties
        case AskedKind.PLACE:
            return roles.places
        case AskedKind.DAY:
            return roles.dates or roles.years
        case AskedKind.MONEY:
            return roles.amounts
        case AskedKind.DURATION:
            return roles.durations or roles.fields_in_units(("meter",))
        case _:
            return numbers_named_by(("age",), lexicon) or roles.births or roles.dates


def _naming_fields(lexicon: BucketLexicon) -> tuple[FieldName, ...]:
    return tuple(field.name for field in lexicon.schema.fields if field.type in _NAMING_TYPES)


def _keeping_fields(lexicon: BucketLexicon) -> tuple[FieldName, ...]:
    """ "Held at", "kept in": returns the fields that say where a thing is."""
    return tuple(
        name
        for name in _naming_fields(lexicon)
        if len(words := lexicon.get_field(name).label.casefold().split()) > 1 and words[-1] in _PLACE_PREPOSITIONS
    )


def _without_parties(names: Iterable[FieldName], lexicon: BucketLexicon) -> tuple[FieldName, ...]:
    """Returns the fields that are not named after a party: nothing is kept in a supplier or in its town."""
    return tuple(name for name in names if PARTY_NOUNS.isdisjoint(fold_text(lexicon.get_field(name).label).split()))


def _fields_of_sellers(lexicon: BucketLexicon) -> tuple[FieldName, ...]:
    return tuple(
        name
        for name in _naming_fields(lexicon)
        if (fold_text(lexicon.get_field(name).label).split() or [""])[-1] in SELLER_NOUNS
    )


def _mentioned_fields(
    words: Sequence[str], reading: BucketReading, candidates: Iterable[FieldName]
) -> tuple[FieldName, ...]:
    """Returns the candidates that the question names; not the noun after "whose", which is what somebody has."""
    allowed, given = set(candidates), fields_of(reading.condition)
    owned = {link.meaning for link in reading.links if words[:1] == ["whose"] and link.first == 1}
    asked = [mention for mention in reading.asked_mentions if mention not in owned and mention.column is None]
    return tuple(
        dict.fromkeys(mention.field for mention in asked if mention.field in allowed and mention.field not in given)
    )


def _family_fields(
    reading: BucketReading, lexicon: BucketLexicon, candidates: Iterable[FieldName]
) -> tuple[FieldName, ...]:
    """ "Who *inspected* …": returns the candidates named by a word of the same family, by the first such word."""
    allowed, covered = set(candidates), value_tokens_of(reading)
    for link in reading.links:
        if isinstance(link.meaning, BucketNoun):
            covered |= set(range(link.first, link.last))
    for index, token in enumerate(reading.tokens):
        is_owned = index == 1 and reading.tokens[0].word == "whose"
        if index == 1 and token.word in _VERBS_OF_USE and (users := _fields_of_users(lexicon, allowed)):
            return users
        if index == 0 or is_owned or index in covered or token.word in _EMPTY_WORDS:
            continue
        found = lexicon.roles.fields_of_family(token.word, allowed)
        if found:
            return found
    return ()


def _fields_of_users(lexicon: BucketLexicon, allowed: Set[FieldName]) -> tuple[FieldName, ...]:
    """ "Who *uses* M-2", of a field "used by": returns the fields for a user. The verb is too short for a family."""
    words_of = {name: set(fold_text(lexicon.get_field(name).label).split()) for name in allowed}
    return tuple(name for name, words in words_of.items() if not _NAMES_OF_USERS.isdisjoint(words))


def value_tokens_of(reading: BucketReading) -> set[int]:
    """Returns the tokens inside values and literals, which name documents and not what is asked of them."""
    covered = set(reading.literal_tokens)
    for link in reading.links:
        if isinstance(link.meaning, (ValueMatch, PartialMatch)):
            covered |= set(range(link.first, link.last))
        elif isinstance(link.meaning, FieldMention):
            covered -= set(range(link.first, link.last))
    return covered
