"""The part of speech of an English label, on which the sentences about its values depend.

"Cost" is a noun: "with a cost of EUR 5.00". "Held on" and "led by" say what the documents are: "held in 2025", "led by
Ada Finch". "From" appears before its value. "Runs for", "For the parents" and "What to bring" fit into no sentence, so
they are quoted as they are written: "where “Runs for” is 12 months".
"""

import re
from dataclasses import dataclass
from enum import Enum
from typing import Final

from agent.compose.phrases.words import format_label
from storage.search.schema import FieldType, SchemaField

LABEL_PREPOSITIONS: Final = frozenset("by in at to from for of with".split())
PREPOSITIONS: Final = LABEL_PREPOSITIONS | frozenset(
    "on since until till via per about under over within without before after during through as".split()
)
PLACE_LABELS: Final = frozenset(
    "town city country region county village province district island location municipality".split()
)
_RELATING_PREPOSITIONS: Final = frozenset("from to by via".split())  # a value after them needs no noun
_TIME_PREPOSITIONS: Final = frozenset(("on", "at"))
_TARGET_PREPOSITIONS: Final = frozenset(("for",))  # "promised for": the value is a time that was aimed at
_PARTICLES: Final = frozenset("in out off up over back down away".split())  # "handed in", "signed off"
_OPEN_ENDS: Final = frozenset("from since until till to".split())  # "valid from"
_ADJECTIVES_WITH_TIME: Final = frozenset("valid effective available due open".split())
_QUESTION_WORDS: Final = frozenset("who whom whose what when where which why how".split())
_PRONOUNS: Final = frozenset("i we you he she they it my our ours your yours his her hers their theirs its".split())
_AUXILIARIES: Final = frozenset(
    "is are was were be been has have had does do did can could may might must shall should will would".split()
)
_NEGATIONS: Final = frozenset("not never none".split())
_VERBS: Final = frozenset(
    """runs lasts takes lives works teaches speaks covers includes needs requires meets reports applies belongs contains
    replaces stays goes comes gives gets knows wants apply ask bring call see send hand take give book pay register
    return""".split()
)
_WORDS_BEFORE_NO_NOUN: Final = _QUESTION_WORDS | _PRONOUNS | _AUXILIARIES | _NEGATIONS | _VERBS
_ADVERBS: Final = frozenset("weekly monthly yearly quarterly hourly annually here there now then".split())
_STATES: Final = frozenset("present absent excused alone".split())  # adjectives that hold people, not a quality
_ADVERBS_BEFORE_PARTICIPLES: Final = frozenset(
    "last first next newly never not also already since originally previously recently partly fully".split()
)
_IRREGULAR_PARTICIPLES: Final = frozenset(
    """built sold held paid sent made bought written given taken known met led taught begun born borne brought caught
    chosen done drawn driven eaten flown found frozen grown heard hidden kept laid left lent lost oversold overseen read
    ridden said seen shown shut spent spoken stolen told thrown understood withdrawn won woven""".split()
)
_NO_PARTICIPLES: Final = frozenset("bed seed feed speed shed need breed weed greed deed hundred id red used".split())
_PRESENT_PARTICIPLES: Final = {
    "starts": "starting",
    "begins": "beginning",
    "ends": "ending",
    "expires": "expiring",
    "closes": "closing",
    "opens": "opening",
    "leaves": "leaving",
    "arrives": "arriving",
}
_INTRANSITIVE_VERBS: Final = frozenset(
    "occurred happened ended joined left arrived departed expired began died retired resigned".split()
)
_EVENT_PARTICIPLES: Final = {
    "start": "starting",
    "begin": "beginning",
    "end": "ending",
    "expiry": "expiring",
    "expiration": "expiring",
    "effective": "effective",
    "due": "due",
}
_DATE_LABEL: Final = re.compile(r"^(?P<event>[a-z]+) date$")
_BRACKETED_TIME_UNIT: Final = re.compile(r" \((?:minutes|hours|days|weeks|months|years)\)$")
_VOWELS: Final = frozenset("aeiou")


class LabelKind(Enum):
    """How a label and its value make a phrase."""

    NOUN = "noun"  # "with a cost of EUR 5.00"
    STATE = "state"  # of a date: "held in 2025"; of a year: "founded in 1900"
    ROLE = "role"  # "led by Ada Finch", "from Porto"
    OPEN_END = "open end"  # of a date: "valid from 2025-01-01"
    QUOTED = "quoted"  # "where “Runs for” is 12 months"


@dataclass(frozen=True, slots=True)
class LabelGrammar:
    """`words` are those before the value: the noun, "held", "led by". They are for use within a sentence."""

    kind: LabelKind
    words: str


def parse_label(field: SchemaField) -> LabelGrammar:
    """Finds out how the label of the field appears in an English sentence."""
    label = format_label(field.label).strip(" :")
    if field.unit:
        label = _BRACKETED_TIME_UNIT.sub("", label)  # the value says its unit: "terms of at most 14 days"
    if not label.replace("(", " ").replace(")", " ").split():
        return LabelGrammar(LabelKind.QUOTED, quote_label(field))
    grammar = _parse_date_label(label) if field.type is FieldType.DATE else _parse_value_label(label, field)
    return grammar if grammar.kind is not LabelKind.QUOTED else LabelGrammar(LabelKind.QUOTED, quote_label(field))


def quote_label(field: SchemaField) -> str:
    """The label in quotation marks, as the documents write it: "“Runs for”"."""
    label = field.label.strip(" :")
    return f"“{label[:1].upper()}{label[1:]}”"


def is_participle(word: str) -> bool:
    is_regular = word.endswith("ed") and len(word) > 3 and word not in _NO_PARTICIPLES
    return is_regular or word in _IRREGULAR_PARTICIPLES


def with_article(noun: str) -> str:
    """ "a cost", "an area"."""
    return f"an {noun}" if noun[:1].lower() in _VOWELS else f"a {noun}"


def _parse_date_label(label: str) -> LabelGrammar:
    if label in ("date", "day"):
        return LabelGrammar(LabelKind.STATE, "dated")
    if (event := _DATE_LABEL.match(label)) is not None:
        participle = _EVENT_PARTICIPLES.get(event["event"])
        return LabelGrammar(LabelKind.STATE, participle) if participle else LabelGrammar(LabelKind.NOUN, label)
    head, _, last = label.rpartition(" ")
    words = label.split()
    if head and last in _OPEN_ENDS and (is_participle(words[0]) or words[0] in _ADJECTIVES_WITH_TIME):
        return LabelGrammar(LabelKind.OPEN_END, label)
    if head and last in _TARGET_PREPOSITIONS and is_participle(words[-2]):
        return LabelGrammar(LabelKind.OPEN_END, label)
    if head and last in _PARTICLES and is_participle(words[0]) and len(words) == 2:
        return LabelGrammar(LabelKind.STATE, label)
    stem = head if head and last in _TIME_PREPOSITIONS else label
    if (state := _state_of(stem)) is not None:
        return LabelGrammar(LabelKind.STATE, state)
    if _is_noun_phrase(stem):
        return LabelGrammar(LabelKind.NOUN, stem)
    return LabelGrammar(LabelKind.QUOTED, label)


def _state_of(stem: str) -> str | None:
    """What the documents are at the time: "held", "expiring", "that joined"; None: the stem is something else."""
    words = stem.split()
    if len(words) > 2 or (len(words) == 2 and words[0] not in _ADVERBS_BEFORE_PARTICIPLES):
        return None
    verb = words[-1]
    if verb in _INTRANSITIVE_VERBS:
        return f"that {stem}"
    if verb in _PRESENT_PARTICIPLES and len(words) == 1:
        return _PRESENT_PARTICIPLES[verb]
    return stem if is_participle(verb) or verb in _ADJECTIVES_WITH_TIME else None


def _parse_value_label(label: str, field: SchemaField) -> LabelGrammar:
    words = label.split()
    if field.type is FieldType.NUMBER and not field.unit and len(words) <= 2 and is_participle(words[-1]):
        return LabelGrammar(LabelKind.STATE, label)  # a year
    if field.type in (FieldType.CATEGORY, FieldType.TEXT, FieldType.LIST):
        if words[0] in LABEL_PREPOSITIONS and " ".join(words[1:]) in PLACE_LABELS:
            return LabelGrammar(LabelKind.ROLE, words[0])
        if label in PLACE_LABELS:
            return LabelGrammar(LabelKind.ROLE, "in")
        if label in _RELATING_PREPOSITIONS:
            return LabelGrammar(LabelKind.ROLE, label)
        if _is_participle_with_preposition(words):
            return LabelGrammar(LabelKind.ROLE, label)
    if field.type is FieldType.FLAG or _is_noun_phrase(label):
        return LabelGrammar(LabelKind.NOUN, label)
    return LabelGrammar(LabelKind.QUOTED, label)


def _is_participle_with_preposition(words: list[str]) -> bool:
    """Whether the label is such as "led by", "last seen at"."""
    if len(words) < 2 or words[-1] not in LABEL_PREPOSITIONS or not is_participle(words[-2]):
        return False
    return all(word in _ADVERBS_BEFORE_PARTICIPLES for word in words[:-2])


def _is_noun_phrase(label: str) -> bool:
    words = label.replace("(", " ").replace(")", " ").split()
    first, last = words[0], words[-1]
    if label.endswith(("?", "!")) or last in PREPOSITIONS or first in PREPOSITIONS:
        return False
    if first in _WORDS_BEFORE_NO_NOUN:
        return False
    if len(words) == 1:
        return first not in _ADVERBS | _STATES and not is_participle(first)
    return not (is_participle(last) or (is_participle(first) and words[1] in PREPOSITIONS))
