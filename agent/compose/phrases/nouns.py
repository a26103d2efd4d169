"""Nouns for documents, and their counts."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from agent.compose.phrases.values import format_number
from agent.compose.phrases.words import singular_of
from agent.translation.languages import get_reply_language, is_reply_in_english
from agent.translation.local_wording import get_wording, load_wording
from agent.translation.message_catalogues import translate_plural
from storage.search.analyser import fold_text
from storage.search.conditions import ComparisonCondition, ComparisonOperator, Condition
from storage.search.schema import Schema

# Names of buckets that say no noun for one of their documents.
_ITEM_NOUNS: Final = {
    "staff": "employee",
    "personnel": "employee",
    "workforce": "employee",
    "people": "person",
    "furniture": "piece of furniture",
    "equipment": "piece of equipment",
    "machinery": "machine",
    "software": "program",
    "fleet": "vehicle",
    "inventory": "item",
    "stock": "item",
    "correspondence": "letter",
    "mail": "message",
    "feedback": "comment",
    "minutes": "set of minutes",
    "minute": "set of minutes",
    "post": "letter",
    "paperwork": "document",
    "documentation": "document",
    "literature": "publication",
    "press": "article",
    "merchandise": "item",
    "jewellery": "item",
    "luggage": "item",
    "evidence": "item",
    "history": "entry",
    "payroll": "entry",
}
# What a thing that holds others has many of: "46 entries of the calendar", "13 pages of the handbook".
_PARTS_OF_WHOLES: Final = {
    **dict.fromkeys(
        """calendar schedule timetable plan list register registry log logbook diary directory catalogue catalog roster
        rota ledger journal index agenda menu table overview sheet timesheet spreadsheet pricelist database""".split(),
        "entry",
    ),
    **dict.fromkeys("budget forecast".split(), "row"),
    **dict.fromkeys("handbook manual wiki intranet guidebook faq knowledgebase".split(), "page"),
}
_COMMON_LETTERS: Final = 4  # of the singular and of a label that is its plural
_MAX_NOUN_WORDS: Final = 4
_WORDS_BEFORE_NOUNS: Final = frozenset("a an the your our my his her their this that of to for in on from re".split())
_IRREGULAR_PLURALS: Final = {"person": "people", "child": "children", "man": "men", "woman": "women"}


class InflectedPhrase(str):
    """Words in their basic form, with the form that a language may need after a preposition.

    A translation uses it as an attribute of the placeholder: "{count} von {documents.dative}".
    """

    dative: str

    def __new__(cls, nominative: str, dative: str) -> "InflectedPhrase":
        phrase = super().__new__(cls, nominative)
        phrase.dative = dative
        return phrase


@dataclass(frozen=True, slots=True)
class NounForms:
    singular: str
    plural: str

    @property
    def inflected_plural(self) -> InflectedPhrase:
        return InflectedPhrase(self.plural, _dative_of(self.plural))


def noun_for_documents() -> NounForms:
    """The noun for documents of any bucket: "document"."""
    return NounForms(*(translate_plural("document", "documents", number) for number in (1, 2)))


def label_noun_of(label: str) -> NounForms:
    """The label of a field as a noun. Other languages than English take it as it is: it is data."""
    return NounForms(label, plural_of(label) if is_reply_in_english() else label)


def document_noun_of(schema: Schema, conditions: Iterable[Condition] = ()) -> NounForms:
    """The noun for a document of the bucket: what the schema calls an item, else what its name says.

    Where the conditions of a set allow one kind of documents only, it is the noun of this kind: "invoice".
    """
    kind = next((kind for condition in conditions if (kind := kind_required_by(condition, schema)) is not None), None)
    if kind is not None:
        return _noun_of_kind(kind, schema)
    noun = schema.synonyms[0] if schema.synonyms else schema.label.lower()
    if load_wording(schema.language).singular_endings:
        return _capitalize_forms(_noun_in_other_language(noun, schema), schema.language)
    singular = schema.item or _item_of(noun) or _part_of_whole(noun) or _singular_of_pair(noun)
    plural = plural_of(singular) if " or " not in singular else noun
    if is_reply_in_english():
        return NounForms(singular, plural)
    has_label_in_plural = fold_text(schema.label).startswith(fold_text(singular))
    forms = NounForms(singular, schema.label if has_label_in_plural and schema.label != singular else plural)
    return _capitalize_forms(forms, get_reply_language())


def kind_required_by(condition: Condition, schema: Schema) -> str | None:
    """Returns the kind that all documents of the condition have; None if it is about anything else."""
    if schema.kind_field is None or not isinstance(condition, ComparisonCondition):
        return None
    is_equality = condition.field == schema.kind_field.name and condition.op is ComparisonOperator.EQ
    return str(condition.value) if is_equality else None


def _noun_of_kind(kind: str, schema: Schema) -> NounForms:
    """The noun of a kind. Its first synonym is taken as the plural if it begins like the kind: `Protokolle`."""
    if not _is_plain_noun(kind):
        return noun_for_documents()
    synonyms = schema.kind_field.values.get(kind, ()) if schema.kind_field is not None else ()
    if not synonyms or fold_text(synonyms[0])[:_COMMON_LETTERS] != fold_text(kind)[:_COMMON_LETTERS]:
        singular = _ITEM_NOUNS.get(kind, kind)
        return _capitalize_forms(NounForms(singular, plural_of(singular)), get_reply_language())
    return _capitalize_forms(NounForms(kind, synonyms[0]), get_reply_language())


def _is_plain_noun(kind: str) -> bool:
    """Whether the name of a kind can appear after a number: not "a claims", "your letter", "form 27b"."""
    words = kind.casefold().split()
    is_short = 0 < len(words) <= _MAX_NOUN_WORDS
    return is_short and words[0] not in _WORDS_BEFORE_NOUNS and not any(map(str.isdigit, kind))


def _noun_in_other_language(noun: str, schema: Schema) -> NounForms:
    """The noun of a bucket whose names are in another language than English.

    The label is taken as the plural if it begins like the noun: `Rechnung`, `Rechnungen`; `Vertrag`, `Verträge`.
    """
    singular = schema.item or load_wording(schema.language).singular_of_plural(noun)
    if singular is None:
        is_plural = fold_text(noun) == fold_text(schema.label)
        return (
            NounForms(noun_for_documents().singular, noun) if is_plural else NounForms(noun, _plural_for(noun, schema))
        )
    return NounForms(singular, _plural_for(singular, schema))


def _plural_for(singular: str, schema: Schema) -> str:
    label = schema.label.lower()
    return label if fold_text(label)[:_COMMON_LETTERS] == fold_text(singular)[:_COMMON_LETTERS] else plural_of(singular)


def _capitalize_forms(forms: NounForms, language: str) -> NounForms:
    """German nouns have a capital, also foreign ones."""
    if not load_wording(language).capitalize_nouns:
        return forms
    return NounForms(*(f"{noun[:1].upper()}{noun[1:]}" for noun in (forms.singular, forms.plural)))


def _item_of(noun: str) -> str | None:
    """What there is one of in a bucket with such a name: "employee" of "staff"; None: the name says it itself."""
    if re.search(r"(?:^|[\s_-])(?:drive|folder|share|archive|files|docs|uploads)s?$|[a-z]share$", noun):
        return noun_for_documents().singular
    words = noun.split()
    if words[-1] not in _ITEM_NOUNS and singular_of(words[-1]) != words[-1]:
        return None  # "press releases" are counted themselves
    return next((_ITEM_NOUNS[word] for word in reversed(words) if word in _ITEM_NOUNS), None)


def _part_of_whole(noun: str) -> str | None:
    """ "entry of the calendar" of "calendar"; None for "calendars", which are counted themselves, and other names."""
    part = _PARTS_OF_WHOLES.get(noun.rpartition(" ")[2])
    return f"{part} of the {noun}" if part is not None else None


def _singular_of_pair(noun: str) -> str:
    """ "hill or lake" of "hills and lakes"; of another noun its singular."""
    first, conjunction, second = noun.partition(" and ")
    singulars = [singular_of(first), singular_of(second)]
    is_pair = conjunction and singulars[0] != first and singulars[1] != second
    return " or ".join(singulars) if is_pair else singular_of(noun)


def format_count(count: int, noun: NounForms | None = None) -> InflectedPhrase:
    """Returns the count with its noun: "1 document", "1,042 documents". None: documents in general."""
    noun, number = noun or noun_for_documents(), format_number(count)
    if count == 1:
        return InflectedPhrase(f"{number} {noun.singular}", f"{number} {noun.singular}")
    return InflectedPhrase(f"{number} {noun.plural}", f"{number} {_dative_of(noun.plural)}")


def plural_of(noun: str) -> str:
    """Returns the regular English plural; a noun that already looks plural stays as it is."""
    if noun in _IRREGULAR_PLURALS:
        return _IRREGULAR_PLURALS[noun]
    if " of " in noun:
        head, _, rest = noun.partition(" of ")
        return f"{plural_of(head)} of {rest}"
    if noun.endswith("s") and not noun.endswith("ss"):
        return noun
    if noun.endswith(("ss", "x", "ch", "sh")):
        return noun + "es"
    return noun[:-1] + "ies" if noun.endswith("y") and noun[-2:-1] not in "aeiou" else noun + "s"


def _dative_of(plural: str) -> str:
    return get_wording().dative_of_plural(plural)
