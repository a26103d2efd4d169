"""The English sentence pattern of a field: "starts in {value}", given by the schema or inferred from type and name."""

import re
from dataclasses import dataclass
from typing import Final

from agent.compose.phrases.words import format_label
from storage.search.schema import VALUE_PLACEHOLDER, FieldType, Schema, SchemaField

_PRESENT_VERBS: Final = {
    "start": "starts",
    "begin": "begins",
    "end": "ends",
    "expiry": "expires",
    "expiration": "expires",
    "due": "is due",
}
_VERBS_AS_LABELS: Final = frozenset("starts begins ends expires closes opens leaves arrives".split())
_EVENT_LABEL: Final = re.compile(r"^(?P<event>[a-z]+) (?:date|day)$")
_VERB_LABEL: Final = re.compile(r"^(?P<verb>[a-z]+)(?: on| at| in)?$")
_ROLE_PREPOSITIONS: Final = {
    "with": frozenset(["counterparty", "counterparties", "contracting party", "contracting parties"]),
    "from": frozenset("vendor supplier seller merchant sender".split()),
    "by": frozenset("author authors writer writers composer artist painter photographer".split()),
    "to": frozenset("recipient recipients addressee addressees".split()),
}
_LIST_ROLE_PREPOSITIONS: Final = {"with": frozenset(["parties"])}  # a single "party" may be a political one
_NAMED_TYPES: Final = frozenset({FieldType.CATEGORY, FieldType.LIST, FieldType.TEXT})
_PREPOSITIONS: Final = frozenset("with from by to at in on for of about under without within".split())
_FORMS_OF_BE: Final = frozenset("is was are were".split())
_TIME_PREPOSITION: Final = re.compile(r" (?:in|on|at|during)$")
_DOUBLING_VERBS: Final = frozenset("begin refer occur admit permit submit commit omit prefer transfer".split())
_SHORT_VERB: Final = re.compile(r"^[^aeiou]*[aeiou][^aeiouwxy]$")


@dataclass(frozen=True, slots=True)
class SentencePattern:
    """How a sentence says the value of a field, once with a finite verb, once after the noun of the documents."""

    predicate: str  # "starts in {value}"; empty: it makes no good sentence by itself
    qualifier: str  # "starting in {value}"

    @property
    def is_relation(self) -> bool:
        """Whether the qualifier begins with a preposition and so appears right after the noun."""
        return self.qualifier.partition(" ")[0] in _PREPOSITIONS

    def fill_predicate(self, value: str) -> str:
        return self.predicate.replace(VALUE_PLACEHOLDER, value)

    def fill_qualifier(self, value: str) -> str:
        return self.qualifier.replace(VALUE_PLACEHOLDER, value)


def sentence_pattern_of(field: SchemaField, schema: Schema) -> SentencePattern | None:
    """Returns the pattern that the schema gives, else one inferred from the role; None: there is none.

    The `{value}` of a date has its preposition: "in 2031", "before 3 May 2031".
    """
    if field.says and schema.language in ("en", ""):
        return _parse_pattern(field.says, is_date=field.type is FieldType.DATE)
    label = format_label(field.label)
    if field.type is FieldType.DATE:
        verb = _verb_of_date(label)
        return _parse_pattern(f"{verb} {VALUE_PLACEHOLDER}", is_date=True) if verb else None
    preposition = _preposition_of(field)
    if preposition is None or _is_shared(preposition, field, schema):
        return None
    return SentencePattern("", f"{preposition} {VALUE_PLACEHOLDER}")


def present_verb_of(field: SchemaField) -> str | None:
    """Returns "starts" for "start date", "expires" for "expires on"; None: the label of a date names no such event."""
    return _verb_of_date(format_label(field.label)) if field.type is FieldType.DATE else None


def _parse_pattern(text: str, *, is_date: bool) -> SentencePattern:
    before, _, after = text.partition(VALUE_PLACEHOLDER)
    before = before.rstrip()
    if is_date:
        before = _TIME_PREPOSITION.sub("", before)
    predicate = f"{before} {VALUE_PLACEHOLDER}{after}"
    first, _, rest = predicate.partition(" ")
    if first in _PREPOSITIONS:
        return SentencePattern(f"is {predicate}", predicate)
    if first in _FORMS_OF_BE:
        return SentencePattern(predicate, rest)
    if first == "has":
        return SentencePattern(predicate, f"with {rest}")
    return SentencePattern(predicate, f"{_participle_of(first)} {rest}")


def _verb_of_date(label: str) -> str | None:
    """ "starts" of "start date", "expires" of "expires on"; None: the label names no present event."""
    if (event := _EVENT_LABEL.match(label)) is not None:
        return _PRESENT_VERBS.get(event["event"])
    verb_label = _VERB_LABEL.match(label)
    return verb_label["verb"] if verb_label is not None and verb_label["verb"] in _VERBS_AS_LABELS else None


def _preposition_of(field: SchemaField) -> str | None:
    if field.type not in _NAMED_TYPES:
        return None
    label = format_label(field.label)
    roles = [_ROLE_PREPOSITIONS, *([_LIST_ROLE_PREPOSITIONS] if field.type is FieldType.LIST else [])]
    pairs = (pair for prepositions in roles for pair in prepositions.items())
    return next((preposition for preposition, labels in pairs if label in labels), None)


def _is_shared(preposition: str, field: SchemaField, schema: Schema) -> bool:
    """Whether the words could mean another field of the schema as well."""
    return any(_preposition_of(other) == preposition for other in schema.fields if other.name != field.name)


def _participle_of(verb: str) -> str:
    """ "starting" of "starts", "carrying" of "carries"."""
    if verb.endswith("ies") and len(verb) > 4:
        base = f"{verb[:-3]}y"
    elif verb.endswith(("sses", "shes", "ches", "xes", "zzes", "oes")):
        base = verb[:-2]
    else:
        base = verb.removesuffix("s")
    if base.endswith("ie"):
        return f"{base[:-2]}ying"
    if base.endswith("e") and not base.endswith(("ee", "oe", "ye")):
        return f"{base[:-1]}ing"
    return f"{base}{base[-1]}ing" if base in _DOUBLING_VERBS or _SHORT_VERB.match(base) else f"{base}ing"
