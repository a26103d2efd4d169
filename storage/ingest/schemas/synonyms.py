"""Synonyms of fields, values and documents: ordinary words from a thesaurus, looked up by field and bucket names.

They become part of the schema, where people can read and edit them. No lookup happens when a question is asked.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import yaml

from storage.ingest.schemas.actions import participles_like, phrases_for_action
from storage.ingest.schemas.foreign_names import nouns_like, translate_name
from storage.ingest.schemas.names import singular_and_plural_of, singular_of, words_in_name
from storage.quantities.days import ENGLISH_MONTH_NUMBERS
from storage.quantities.money import CURRENCY_CODES
from storage.search.schema import QUESTION_GAP, FieldType, Schema, SchemaField
from storage.text.irregular_verbs import PAST_PARTICIPLES

_THESAURUS_FILE = Path(__file__).with_name("thesaurus.yaml")
_MAX_SYNONYMS = 24  # names of one field
_MAX_QUESTION_PHRASES = 90  # for one field
# Scores of a synonym of: the whole name, the name without an empty last word, the last words of the name, the unit
_WHOLE_NAME_SCORE, _REDUCED_NAME_SCORE, _NAME_HEAD_SCORE, _UNIT_SCORE = 16, 12, 8, 4
_ACTION_SCORE, _INEXACT_ACTION_SCORE = 13, 3  # of a phrase for the action that the field is named after
_MIN_SHARING_SCORE = 5  # up to this score a question phrase goes to the best field only
_MAX_SCORE_GAP = 8  # a question phrase also goes to fields with so much less than the best score
_RELATED_WORD_PENALTY = 2  # subtracted for a related word, which is not a name of the field
_MEASURED_TYPES = frozenset({FieldType.NUMBER, FieldType.MONEY, FieldType.DATE})  # score 1 more: they can be compared
_NAMED_TYPES = frozenset({FieldType.CATEGORY, FieldType.TEXT, FieldType.LIST})
_MAX_SHARING_FIELDS = 4  # fields that may share a word
_MAX_COMPOSED = 4  # synonyms that replace the last words of a name
_DIMENSION_BY_UNIT = {
    "V": "voltage", "A": "current", "W": "power", "ohm": "resistance", "degC": "temperature", "degF": "temperature",
    "Hz": "frequency", "MHz": "frequency", "GHz": "frequency", "kg": "weight", "g": "weight", "F": "capacitance",
    "uF": "capacitance", "nF": "capacitance", "Pa": "pressure", "bar": "pressure", "percent": "percentage",
    "m**2": "area", "ft**2": "area", "hectare": "area",
    "mohm": "resistance", "kohm": "resistance", "mA": "current",
    "mV": "voltage", "kW": "power", "l": "volume", "m**3": "volume", "km": "distance", "km/h": "speed",
}  # fmt: skip
_MIN_PART_LETTERS = 3  # shorter parts are ignored, so that "N/A" has none
_EMPTY_LAST_WORDS = frozenset({"name", "date", "at", "on", "value", "amount", "text", "field", "full", "time", "day"})
_EMPTY_DATE_WORDS = frozenset({"date", "day", "time", "of", "on", "at", "the", "when"})  # at both ends of a date's name
_CONTAINER_WORDS = frozenset(
    "table tables data dataset list lists sheet sheets docs documents file files records export catalog catalogue "
    "database db csv collection archive all master main current new latest final version copy".split()
)
_DATED_WORD = re.compile(r"(?:[a-z]{3,9})?\d{2,4}|[qh][1-4]|[qh][1-4]\d{2,4}")  # "2031", "nov31", "q3"
# A table of this name has rows of what the word before says, as an "incident log" does; a rota of people has shifts.
_HOLDING_WORDS = frozenset("log logbook register record book ledger tracker index diary history overview".split())
_ACCOUNT_HOLDERS = frozenset(
    "customer client supplier vendor member user tenant".split()
)  # each row of accounts is one
_STOCK_NAMES = frozenset({"stock", "inventory"})  # "frames stock" has frames, but "shop stock" has no shops
_ROTA_WORDS = frozenset("rota roster".split())
_PERIOD_WORDS = frozenset(ENGLISH_MONTH_NUMBERS) | frozenset("spring summer autumn winter ytd fy".split())
_MAX_TABLE_NOUN_WORDS = 3
_EMPTY_FIRST_WORDS = frozenset({"is", "has", "the", "metadata"})
_PERSON_AND_PLACE_QUESTIONS = (f"who {QUESTION_GAP}", f"whose {QUESTION_GAP}", f"where {QUESTION_GAP}")
_REMAINDER_WORDS = frozenset({"left", "remaining"})
_IDENTIFIER_WORDS = frozenset({"number", "code", "id"})
_OWNED_WORDS = frozenset({"price", "cost"})  # a phrase with one is of the column that is named so, if one is
_OPPOSITE_QUALIFIERS = {"sales": ("purchase", "purchases"), "sale": ("purchase", "purchases")}
_TAX_INCLUDED_WORDS = frozenset("incl including inclusive with after plus".split())
_TAX_EXCLUDED_WORDS = frozenset("excl excluding exclusive ex without before".split())
_TAX_WORDS = frozenset("vat tax taxes gst".split())
_KIND_WORDS = frozenset({"type", "kind", "category", "class", "sort"})
_ANY_TYPE = frozenset(FieldType)

Phrase = tuple[str, ...]  # words in the singular, with expanded abbreviations
HasValue = Callable[[str], bool]  # whether a document has the word as a value; then the word means that value


@dataclass(frozen=True, slots=True, kw_only=True)
class _SynonymGroup:
    """Words with the same meaning."""

    names: tuple[str, ...]  # field names that are also offered as synonyms
    silent_names: tuple[str, ...]  # field names that are not offered as synonyms
    related_words: tuple[str, ...]
    question_phrases: tuple[str, ...]
    german_words: tuple[str, ...]
    types: frozenset[FieldType]
    is_generic: bool  # too vague to be a synonym of a longer name that ends with it


@dataclass(frozen=True, slots=True, kw_only=True)
class _SynonymThesaurus:
    abbreviations: Mapping[str, str]
    document_nouns: Mapping[str, Sequence[str]]
    groups_by_name: Mapping[Phrase, Sequence[_SynonymGroup]]
    value_groups: Mapping[Phrase, Sequence[Sequence[str]]]
    opposites: Mapping[Phrase, Sequence[str]]


def add_synonyms(schema: Schema, has_value: HasValue, table_names: Iterable[str] = ()) -> Schema:
    """Returns the schema with synonyms for its fields, their columns, and its documents.

    A word becomes a synonym of the field for which it has the highest score. It is dropped if two fields share that
    score, and if it is the name of another field, a noun of the bucket, or a value.

    `table_names`: of the file whose rows are all documents of the bucket, and of their sheet. A noun in them names the
    documents as well, and replies call them by it.
    """
    field_names = [field.name for field in schema.fields]
    nouns = nouns_for_bucket(schema.bucket, schema.language, reserved_names=field_names, has_value=has_value)
    of_table = next(filter(None, (_nouns_for_table(name, schema, has_value) for name in table_names)), ())
    item = singular_and_plural_of(of_table[0])[0] if of_table and of_table[0] not in nouns else schema.item
    nouns = tuple(dict.fromkeys([*nouns, *of_table]))
    own_fields = _assign_synonyms(schema.fields, schema.language, has_value, nouns)
    outer_names = {
        _phrase_of(name)
        for field in own_fields
        if field.type in (FieldType.MONEY, FieldType.DATE)
        for name in (field.name, field.label, *field.synonyms)
    }
    fields = tuple(
        replace(field, columns=_assign_synonyms(field.columns, schema.language, has_value, (), outer_names))
        if field.columns
        else field
        for field in own_fields
    )
    return replace(schema, fields=fields, synonyms=nouns, item=item)


def _nouns_for_table(name: str, schema: Schema, has_value: HasValue) -> tuple[str, ...]:
    """ "works orders 2026.xlsx": returns the nouns that the name of a table gives its rows; nothing without a plural.

    A month, a season, a number and a word for a file at its end are not a part of the noun. A name in singular may be
    that of the person or the place that the table is for.
    """
    words = words_in_name(name)
    while words and (words[-1] in _CONTAINER_WORDS | _PERIOD_WORDS or not words[-1].isalpha()):
        is_list = words.pop() in _CONTAINER_WORDS
        if words and is_list and words[-1].isalpha():
            words[-1] = singular_and_plural_of(words[-1])[1]  # "berth list"
    if not words or not all(map(str.isalpha, words)) or len(words) > _MAX_TABLE_NOUN_WORDS:
        return ()
    if singular_and_plural_of(words[-1])[1] != words[-1]:
        return ()
    field_names = [field.name for field in schema.fields]
    nouns = nouns_for_bucket(" ".join(words), schema.language, reserved_names=field_names, has_value=has_value)
    return tuple(noun for noun in nouns if not has_value(noun))


def nouns_for_bucket(
    bucket: str,
    language: str = "en",
    reserved_names: Iterable[str] = (),
    has_value: HasValue = lambda _: False,
) -> tuple[str, ...]:
    """Returns the nouns for the documents of a bucket.

    First the singular and plural of the bucket name and of its last word, then their synonyms, with German ones for a
    German bucket. The documents of `parts_table`, `parts_2031` and `parts_sold` are parts. `reserved_names` are field
    names, which are left out, like words that are a value.
    """
    words = words_in_name(bucket)
    while len(words) > 1 and (
        words[-1] in _CONTAINER_WORDS | _PERIOD_WORDS or _is_dated(words[-1]) or _is_participle_of_plural(words)
    ):
        words.pop()
    if not words or not words[-1].isalpha():
        return ()
    foreign = nouns_like(words[-1], language)
    singular, plural = foreign.forms if foreign is not None else singular_and_plural_of(words[-1])
    full_names = [" ".join([*words[:-1], noun]) for noun in (singular, plural)] if len(words) > 1 else []
    reserved = {_phrase_of(name) for name in reserved_names}
    document_nouns = _load_thesaurus().document_nouns
    english = () if foreign is None else foreign.english
    others = [form for noun in english for form in singular_and_plural_of(noun)]
    others += [noun for name in (*full_names[:1], singular, *english) for noun in document_nouns.get(name, ())]
    others += [noun for name in _names_of_held(words) for noun in (name, *document_nouns.get(name, ()))]
    if language == "de":
        others += [
            word for group in _load_thesaurus().groups_by_name.get((singular,), ()) for word in group.german_words
        ]
    if len(words) > 1:  # a "sales order" is an order, but no purchase order
        others = [noun for noun in others if noun.split()[-1] != singular or noun == singular]
        others = [noun for noun in others if noun not in _OPPOSITE_QUALIFIERS.get(words[0], ())]
    free_words = (word for word in others if _phrase_of(word) not in reserved and not has_value(word))
    return tuple(dict.fromkeys([*full_names, singular, plural, *free_words]))


def _is_dated(word: str) -> bool:
    """ "2031", "nov31", "q3": a year or a part of one; not "aisle12"."""
    return word.isdigit() or (
        _DATED_WORD.fullmatch(word) is not None and (word[0] in "qh" or word.rstrip("0123456789") in _PERIOD_WORDS)
    )


def _names_of_held(words: Sequence[str]) -> Iterator[str]:
    """ "incident log": yields the singular and plural of what a log or a register holds; "shift" of a rota."""
    *before, last = words
    if last in _ROTA_WORDS:
        yield from ("shift", "shifts")
    elif before and last in _STOCK_NAMES:
        yield from _forms_of_name(before) if _is_plural(before[-1]) else ()
    elif before and last == "accounts" and singular_and_plural_of(before[-1])[0] in _ACCOUNT_HOLDERS:
        yield from _forms_of_name(before)
    elif before and singular_and_plural_of(last)[0] in _HOLDING_WORDS:
        yield from _forms_of_name(before)
        expanded = expand_abbreviations(before[-1])
        yield from _forms_of_name([*before[:-1], *expanded]) if expanded != before[-1:] else ()


def _is_plural(word: str) -> bool:
    singular, plural = singular_and_plural_of(word)
    return word == plural != singular


def _forms_of_name(words: Sequence[str]) -> Iterator[str]:
    for noun in singular_and_plural_of(words[-1]):
        yield from dict.fromkeys((" ".join([*words[:-1], noun]), noun))


def _is_participle_of_plural(words: Sequence[str]) -> bool:
    """ "courses held": whether the last word says what was done with the things that the word before names."""
    before, last = words[-2], words[-1]
    return singular_and_plural_of(before)[1] == before and _is_participle(last)


def _is_participle(word: str) -> bool:
    return word in PAST_PARTICIPLES.values() or word.endswith("ed")


def synonyms_by_value(values: Iterable[str], reserved_names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Returns the synonyms of each value of a field; values without synonyms are left out.

    The synonyms are the words of the value's group in the thesaurus, the parts of a combined value such as
    "Profit/loss sharing", and the synonyms of these parts. `reserved_names` are names of fields and documents, which
    are left out.
    """
    value_by_phrase = {_phrase_of(value): value for value in values}
    reserved = {_phrase_of(name) for name in reserved_names} | value_by_phrase.keys()
    synonyms: dict[str, tuple[str, ...]] = {}
    for value in value_by_phrase.values():
        parts = [part for part in _parts_of_value(value) if len(part) >= _MIN_PART_LETTERS]
        words = [*parts, *(word for text in (value, *parts) for word in _equivalents_of(text))]
        word_by_phrase = {_phrase_of(word): word for word in reversed(words) if _phrase_of(word) not in reserved}
        if word_by_phrase:
            synonyms[value] = tuple(reversed(word_by_phrase.values()))
    claims = Counter(_phrase_of(word) for words in synonyms.values() for word in words)
    parts = {word for value in synonyms if ", " in value for word in _parts_of_value(value)}
    unambiguous = {
        value: tuple(word for word in words if word not in parts or claims[_phrase_of(word)] == 1)
        for value, words in synonyms.items()
    }
    return {value: words for value, words in unambiguous.items() if words}


def synonyms_for_flag(name: str, has_value: HasValue) -> dict[str, tuple[str, ...]]:
    """Returns synonyms for the values `true` and `false` of a flag: for `resolved`, "closed" and "open".

    Words that are a value of another field are left out.
    """
    words = " ".join(expand_abbreviations(name))
    opposite = next(iter(_load_thesaurus().opposites.get(_phrase_of(words), ())), "")
    candidates = {"true": _equivalents_of(words), "false": [opposite, *_equivalents_of(opposite)] if opposite else []}
    synonyms = {
        value: tuple(synonym for synonym in equivalents if not has_value(synonym))
        for value, equivalents in candidates.items()
    }
    return {value: equivalents for value, equivalents in synonyms.items() if equivalents}


def _equivalents_of(value: str) -> Sequence[str]:
    phrase = _phrase_of(value)
    words = [word for group in _load_thesaurus().value_groups.get(phrase, ()) for word in group]
    return [word for word in (*words, *participles_like(value.casefold())) if _phrase_of(word) != phrase]


def _parts_of_value(value: str) -> list[str]:
    """Returns the parts of a combined value; empty if it is not combined.

    "Revenue/profit sharing" has "Revenue sharing" and "profit sharing"; "Active, not recruiting" has "Active" and "not
    recruiting". "A, B or C" and "Paris, France" have no parts.
    """
    if "://" in value:
        return []
    state, comma, qualifier = value.partition(", ")
    words = qualifier.split()
    if (
        comma
        and qualifier.islower()
        and "," not in qualifier
        and all(word.isalpha() and word not in ("or", "and") for word in words)
    ):
        return [state, qualifier]
    before, slash, after = value.partition("/")
    words = re.split(r"\s+or\s+", value, flags=re.IGNORECASE)
    if slash:
        alternatives = [*before.split()[-1:], *after.split()[0].split("/")] if before.strip() and after.strip() else []
        tail = after.split()[1:]
        return (
            [" ".join([*before.split()[:-1], alternative, *tail]) for alternative in alternatives]
            if len(alternatives) > 1
            else []
        )
    if len(words) != 2 or not all(words) or "," in value:
        return []
    head, tail = words[0].split(), words[1].split()
    return [" ".join([*head, *tail[1:]]), " ".join([*head[:-1], *tail])] if len(tail) > 1 else words


def _assign_synonyms(
    fields: Sequence[SchemaField],
    language: str,
    has_value: HasValue,
    nouns: Iterable[str],
    outer_names: Iterable[Phrase] = (),
) -> tuple[SchemaField, ...]:
    """`outer_names` are names of amounts and days of the whole document, which name nothing of a row."""
    assignment = _SynonymAssignment(fields, {field.name: _scored_synonyms(field, language) for field in fields})
    reserved = {_phrase_of(noun) for noun in nouns} | set(outer_names)

    def synonyms_for(field: SchemaField) -> tuple[str, ...]:
        word_by_phrase = {
            _phrase_of(word): word
            for word, score in reversed(assignment.candidates[field.name].items())
            if QUESTION_GAP not in word
            and assignment.is_unambiguous(word, score, field)
            and _phrase_of(word) not in reserved
            # "paid in July" is a day, "paid" a state
            and (not has_value(word) or field.type is FieldType.DATE)
        }
        names = tuple(reversed(word_by_phrase.values()))[:_MAX_SYNONYMS]
        shared = (
            f"{word} {QUESTION_GAP}"
            for word, score in assignment.candidates[field.name].items()
            if assignment.is_shared(word, score, field) and _phrase_of(word) not in reserved and not has_value(word)
        )
        phrases = dict.fromkeys([*shared, *assignment.question_phrases_for(field)])
        return (*names, *[*phrases][:_MAX_QUESTION_PHRASES])

    return tuple(replace(field, synonyms=synonyms_for(field)) for field in fields)


class _SynonymAssignment:
    """The candidate synonyms of the fields of one schema, with their scores, and which field gets them."""

    def __init__(self, fields: Sequence[SchemaField], candidates: Mapping[str, dict[str, int]]) -> None:
        self.candidates = candidates
        self._fields_by_phrase = defaultdict[Phrase, set[str]](set)  # the fields that are called so
        self._fields_by_first_word = defaultdict[str, set[str]](set)  # of names with more than one word
        for field in fields:
            for name in (field.name, field.label):
                self._fields_by_phrase[_phrase_of(name)].add(field.name)
            if len(words := words_in_name(field.name)) > 1:
                self._fields_by_first_word[words[0]].add(field.name)
        self._best_scores = defaultdict[Phrase, int](int)
        for scores in candidates.values():
            for word, score in scores.items():
                self._best_scores[_phrase_of(word)] = max(self._best_scores[_phrase_of(word)], score)
        self._claims = defaultdict[Phrase, set[str]](set)  # the fields that each phrase fits best
        for name, scores in candidates.items():
            for word, score in scores.items():
                if score == self._best_scores[_phrase_of(word)]:
                    self._claims[_phrase_of(word)].add(name)

    def question_phrases_for(self, field: SchemaField) -> tuple[str, ...]:
        """Returns the question phrases of a field; it may share them with other fields, and the question decides."""
        return tuple(
            word
            for word, score in self.candidates[field.name].items()
            if QUESTION_GAP in word
            and score >= self._best_scores[_phrase_of(word)] - (_MAX_SCORE_GAP if score > _MIN_SHARING_SCORE else 0)
        )

    def is_unambiguous(self, word: str, score: int, field: SchemaField) -> bool:
        """Whether the word fits no other field as well as this one, and is the name of none."""
        return len(self._claimants_of(word)) == 1 and self._is_best_name(word, score, field)

    def is_shared(self, word: str, score: int, field: SchemaField) -> bool:
        """Whether a few fields fit the word equally well: "phone" in a schema with two telephone numbers."""
        is_noun = QUESTION_GAP not in word and 1 < len(self._claimants_of(word)) <= _MAX_SHARING_FIELDS
        return is_noun and self._is_best_name(word, score, field)

    def _claimants_of(self, word: str) -> frozenset[str]:
        """The fields that the word fits best. A list price is no cost, where one column has the one and another the
        other.
        """
        phrase = _phrase_of(word)
        claimants = frozenset(self._claims[phrase])
        owned = _OWNED_WORDS.intersection(phrase)
        owners = frozenset(name for name in claimants if owned.intersection(_phrase_of(name)))
        return owners or claimants

    def _is_best_name(self, word: str, score: int, field: SchemaField) -> bool:
        phrase = _phrase_of(word)
        names_other_field = bool(self._fields_by_phrase.get(phrase, set()) - {field.name})
        names_other_field = names_other_field or self._begins_other_name(word, field)
        names_this_field = _singular_phrase(words_in_name(word)) in (
            _singular_phrase(words_in_name(field.name)),
            _singular_phrase(words_in_name(field.label)),
        )
        is_claimant = field.name in self._claimants_of(word)
        return score == self._best_scores[phrase] and is_claimant and not names_this_field and not names_other_field

    def _begins_other_name(self, word: str, field: SchemaField) -> bool:
        """Whether a word begins the name of another field: "team" then means `team_size` rather than a department."""
        others = self._fields_by_first_word.get(word, set()) - {field.name}
        return bool(others) and words_in_name(field.name)[:1] != [word]


def _scored_synonyms(field: SchemaField, language: str) -> dict[str, int]:
    """Returns the candidate synonyms of a field with their scores, the highest first."""
    scores, is_measured = dict[str, int](), field.type in _MEASURED_TYPES
    for score, word in sorted(_synonym_candidates(field, language), key=lambda pair: -pair[0]):
        if not (is_measured and word.startswith(_PERSON_AND_PLACE_QUESTIONS)):
            scores.setdefault(word, score + is_measured)
    return scores


def _synonym_candidates(field: SchemaField, language: str) -> Iterator[tuple[int, str]]:
    words = expand_abbreviations(field.label if field.unit or field.currency else field.name)
    if field.type is FieldType.MONEY and len(words) > 1 and words[-1].upper() in CURRENCY_CODES:
        words.pop()
    if words != words_in_name(field.name):
        yield _WHOLE_NAME_SCORE, " ".join(words)
    if field.type is FieldType.DATE and len(words) > 1 and words[-1] in _EMPTY_LAST_WORDS:
        yield _WHOLE_NAME_SCORE, " ".join(words[:-1])  # `paid_on`: paid
    if field.type is FieldType.DATE and {"since", "first"} & set(words):
        yield from ((_WHOLE_NAME_SCORE, f"{phrase} {QUESTION_GAP}") for phrase in ("since when", "how long"))
        yield from ((_WHOLE_NAME_SCORE, f"{phrase} {QUESTION_GAP} be") for phrase in ("since when", "how long"))
    if field.type is FieldType.NUMBER and _REMAINDER_WORDS & set(words[-1:]):
        phrases = ("how many", "how much")
        endings = ("left", "still have", "have left", "still there", "remain")
        yield from (
            (_WHOLE_NAME_SCORE, f"{phrase} {QUESTION_GAP} {ending}") for phrase in phrases for ending in endings
        )
    if field.type is FieldType.CATEGORY and len(words) > 1 and words[-1] in _IDENTIFIER_WORDS:
        yield _UNIT_SCORE, " ".join(words[:-1])  # "which locker" asks for `locker_no`
    if "per" in words[1:]:
        words = words[: words.index("per")]  # "price per kWh" is a price
    if field.type is FieldType.MONEY and (tax_start := _start_of_tax(words)):
        includes_tax = words[tax_start] in _TAX_INCLUDED_WORDS  # what is paid
        words = words[:tax_start]  # "total excl VAT" is a total and no tax
        yield _WHOLE_NAME_SCORE + includes_tax, " ".join(words)
    yield from _candidates_by_name(words, field.type, language)
    yield from _candidates_by_translation(words_in_name(field.label), field.type, language)
    if len(words) > 1 and words[-1] in _KIND_WORDS:
        kinds = [f"{word} of {' '.join(words[:-1])}" for word in ("kind", "sort", "type")]
        yield from (
            (_WHOLE_NAME_SCORE, f"{asking} {kind} {QUESTION_GAP}") for asking in ("what", "which") for kind in kinds
        )
    for phrase, is_exact in phrases_for_action(words, field.type):
        yield _ACTION_SCORE if is_exact else _INEXACT_ACTION_SCORE, phrase
    for group in _groups_for((_DIMENSION_BY_UNIT.get(field.unit, ""),), field.type):
        yield from ((_UNIT_SCORE, word) for word in _nouns_of_group(group, (), language))


def _start_of_tax(words: Sequence[str]) -> int:
    """ "Total *excl VAT*": returns where words begin that only say whether taxes are included; 0 without such words."""
    starts = (index for index, word in enumerate(words) if index and word in _TAX_INCLUDED_WORDS | _TAX_EXCLUDED_WORDS)
    return next((index for index in starts if _TAX_WORDS & set(words[index + 1 :])), 0)


def _candidates_by_translation(words: Sequence[str], kind: FieldType, language: str) -> Iterator[tuple[int, str]]:
    """Yields the English for a name in another language, and the candidates of a field of that English name."""
    for rank, english in enumerate(translate_name(words, language)):
        yield _WHOLE_NAME_SCORE - rank, english
        for score, word in _candidates_by_name(words_in_name(english), kind, "en"):
            yield score - rank, word
        for phrase, is_exact in phrases_for_action(words_in_name(english), kind):
            yield (_ACTION_SCORE if is_exact else _INEXACT_ACTION_SCORE) - rank, phrase


def _candidates_by_name(words: Sequence[str], kind: FieldType, language: str) -> Iterator[tuple[int, str]]:
    phrase = _singular_phrase(words)
    if exact_groups := _groups_for(phrase, kind):
        for group in exact_groups:
            yield from _scored_words_of(group, phrase, language, _WHOLE_NAME_SCORE)
        return
    reduced = _reduce_name(phrase, kind)
    if reduced != phrase and (reduced_groups := _groups_for(reduced, kind)):
        for group in reduced_groups:
            yield from _scored_words_of(group, reduced, language, _REDUCED_NAME_SCORE)
        return
    for first in range(1, len(phrase)):
        if head_groups := _groups_for(phrase[first:], kind):
            for group in head_groups:
                yield from _candidates_by_head(group, words, first, language)
            return
    yield from _candidates_by_noun(phrase, kind, language)


def _candidates_by_noun(phrase: Phrase, kind: FieldType, language: str) -> Iterator[tuple[int, str]]:
    """Yields the candidates for a name without a group: "seats bought" has those of seats, "ship" means a vessel."""
    if kind in _NAMED_TYPES:
        for noun in _load_thesaurus().document_nouns.get(" ".join(phrase), ()):
            yield _WHOLE_NAME_SCORE - _RELATED_WORD_PENALTY, noun
    if len(phrase) > 1 and _is_participle(phrase[-1]):
        for group in _groups_for(phrase[:-1], kind):
            yield from _scored_words_of(group, phrase[:-1], language, _NAME_HEAD_SCORE)


def _reduce_name(phrase: Phrase, kind: FieldType) -> Phrase:
    """Returns the name without empty words: `supplier name` is a supplier, `date completed` says completed."""
    if kind is not FieldType.DATE:
        return phrase[:-1] if len(phrase) > 1 and phrase[-1] in _EMPTY_LAST_WORDS else phrase
    first, last = 0, len(phrase)
    while last - first > 1 and phrase[last - 1] in _EMPTY_DATE_WORDS:
        last -= 1
    while last - first > 1 and phrase[first] in _EMPTY_DATE_WORDS:
        first += 1
    return phrase[first:last]


def _candidates_by_head(
    group: _SynonymGroup, words: Sequence[str], head_start: int, language: str
) -> Iterator[tuple[int, str]]:
    """Yields the candidates for a name whose words from `head_start` on are a name of the group."""
    phrase = _singular_phrase(words[head_start:])
    for word in [noun for noun in _nouns_of_group(group, phrase, language) if _phrase_of(noun) != phrase][
        :_MAX_COMPOSED
    ]:
        yield _WHOLE_NAME_SCORE, " ".join([*words[:head_start], word])
    if group.is_generic:
        yield from ((_NAME_HEAD_SCORE - _RELATED_WORD_PENALTY, asked) for asked in group.question_phrases)
    else:
        yield from _scored_words_of(group, phrase, language, _NAME_HEAD_SCORE)


def _groups_for(phrase: Phrase, kind: FieldType) -> list[_SynonymGroup]:
    return [group for group in _load_thesaurus().groups_by_name.get(phrase, ()) if kind in group.types]


def _nouns_of_group(group: _SynonymGroup, phrase: Phrase, language: str) -> Iterator[str]:
    """Yields the nouns of a group, with German ones if the bucket or the name is German.

    `phrase` is the name of the group that matched.
    """
    is_english = not phrase or any(_phrase_of(word) == phrase for word in (*group.names, *group.silent_names))
    is_german = language == "de" or not is_english
    yield from (*(group.german_words if is_german else ()), *group.names)


def _scored_words_of(group: _SynonymGroup, phrase: Phrase, language: str, score: int) -> Iterator[tuple[int, str]]:
    yield from ((score, word) for word in _nouns_of_group(group, phrase, language))
    related = (*group.related_words, *group.question_phrases)
    yield from ((score - _RELATED_WORD_PENALTY, word) for word in related)


@lru_cache(maxsize=10_000)
def _phrase_of(name: str) -> Phrase:
    if QUESTION_GAP in name:
        return (name,)
    return _singular_phrase(expand_abbreviations(name))


def _singular_phrase(words: Iterable[str]) -> Phrase:
    return tuple(map(singular_of, words))


def expand_abbreviations(name: str) -> list[str]:
    """Returns the words of a name with expanded abbreviations, without empty words at its start."""
    abbreviations, words = _load_thesaurus().abbreviations, words_in_name(name)
    while len(words) > 1 and words[0] in _EMPTY_FIRST_WORDS:
        words = words[1:]
    return [part for word in words for part in abbreviations.get(word, word).split()]


@lru_cache(maxsize=1)
def _load_thesaurus() -> _SynonymThesaurus:
    data = cast(dict[str, Any], yaml.load(_THESAURUS_FILE.read_text(encoding="utf-8"), Loader=_yaml_loader()))  # noqa: S506 - safe
    abbreviations = cast(Mapping[str, str], data["abbreviations"])
    groups = [_parse_group(entry) for entry in data["groups"]]
    by_name = defaultdict[Phrase, list[_SynonymGroup]](list)
    for group in groups:
        for name in (*group.names, *group.silent_names, *group.german_words):
            phrase = _expanded_phrase(name, abbreviations)
            if group not in by_name[phrase]:
                by_name[phrase].append(group)
    documents = defaultdict[str, list[str]](list)
    for name, *nouns in (*data["documents"], *data["kinds"]):
        documents[str(name)] += [noun for noun in map(str, nouns) if noun not in documents[str(name)]]
    values = defaultdict[Phrase, list[Sequence[str]]](list)
    for words in data["values"]:
        for word in words:
            values[_expanded_phrase(word, abbreviations)].append(words)
    return _SynonymThesaurus(
        abbreviations=abbreviations,
        document_nouns=documents,
        groups_by_name=by_name,
        value_groups=values,
        opposites=_index_opposites(data["opposites"], values, abbreviations),
    )


def _index_opposites(
    pairs: Sequence[Sequence[str]], values: Mapping[Phrase, Sequence[Sequence[str]]], abbreviations: Mapping[str, str]
) -> Mapping[Phrase, Sequence[str]]:
    """Returns the opposites of each word of a group of values, each as the first word of its group."""
    opposites = defaultdict[Phrase, list[str]](list)
    for pair in pairs:
        for name, opposite in (tuple(pair), tuple(reversed(pair))):
            for group in values.get(_expanded_phrase(name, abbreviations), ()):
                for word in group:
                    opposites[_expanded_phrase(word, abbreviations)].append(opposite)
    return opposites


def _expanded_phrase(name: str, abbreviations: Mapping[str, str]) -> Phrase:
    return _singular_phrase(part for word in words_in_name(name) for part in abbreviations.get(word, word).split())


def _parse_group(entry: Mapping[str, Sequence[str]]) -> _SynonymGroup:
    types = frozenset(map(FieldType, entry["types"])) if "types" in entry else _ANY_TYPE
    names, silent_names, related, asked, german = (
        tuple(entry.get(key, ())) for key in ("words", "named", "said", "asked", "de")
    )
    is_generic = bool(entry.get("generic"))
    return _SynonymGroup(
        names=names,
        silent_names=silent_names,
        related_words=related,
        question_phrases=tuple(phrase if QUESTION_GAP in phrase else f"{phrase} {QUESTION_GAP}" for phrase in asked),
        german_words=german,
        types=types,
        is_generic=is_generic,
    )


def _yaml_loader() -> Any:
    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)
