"""The roles of a bucket's fields: which hold persons, places, dates or amounts, and which a word of a family names."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from functools import cached_property

from agent.english.amount_names import rank_amount_name
from agent.english.date_roles import BIRTH_WORDS
from agent.english.function_words import FILLER_WORDS, RATE_NOUNS, STOP_WORDS
from agent.english.inflection import root_of_word
from storage.quantities.units import convert_unit
from storage.search.analyser import fold_text
from storage.search.ids import FieldName
from storage.search.index import FieldVocabulary
from storage.search.schema import FieldType, Schema, SchemaField
from storage.text.noun_classes import PARTY_NOUNS, PERSON_NOUNS, PLACE_NOUNS

_RANK_NOUNS = frozenset("rating score rank ranking grade stars points mark quality review".split())
_COORDINATE_NOUNS = frozenset(
    "latitude longitude lat lon lng year yr yrs vintage vint postcode zip code number id".split()
)
_CODE_NOUNS = frozenset("inv invoice ref reference tel telephone phone mobile ext extension".split())
_PERSON_ATTRIBUTES = BIRTH_WORDS | frozenset(
    "salary wage pay hired joined department employer gender nationality age position".split()
)
_FIRST_NAME_LABELS = frozenset({"first name", "firstname", "forename", "given name", "vorname", "prénom", "nombre"})
_LAST_NAME_LABELS = frozenset(
    {"last name", "lastname", "surname", "family name", "nachname", "familienname", "nom", "apellido", "apellidos"}
)
_AMOUNT_NAMES = frozenset("amount total gross net sum price turnover revenue sales".split())
_PART_AMOUNT_NAMES = frozenset("cost costs fee fees due paid vat tax balance outstanding charge payment salary".split())
_DURATION_NOUNS = frozenset("duration hours days weeks months minutes runtime".split())
_SIZE_UNITS = ("meter**2", "meter**3", "meter", "kilogram")
_TIME_UNITS = ("day",)
_CLOCK_TIME = re.compile(r"\d{1,2}[:.]\d{2}(?:\s?[ap]\.?m\.?)?|\d{1,2}\s?[ap]\.?m\.?", re.IGNORECASE)
_NAMING_TYPES = (FieldType.CATEGORY, FieldType.TEXT, FieldType.LIST)
_NUMERIC_TYPES = (FieldType.NUMBER, FieldType.MONEY)
_LABELS_OF_HOLDERS = frozenset((word, "to") for word in "assigned issued allocated loaned lent handed given".split())
# Words of labels of fields that say what a document is, or how it stands; nobody is called by their values.
_KIND_WORDS = frozenset("type kind category class sort status state priority severity level stage phase colour".split())
_MIN_NAME_WORDS, _MAX_NAME_WORDS = 2, 4
_NAME_SHARE = 0.8  # of the values that must look like names of persons
_SAMPLED_VALUES = 40
_FIRST_YEAR, _LAST_YEAR = 1000, 2100
_MIN_ROOT_LETTERS = 3


class FieldRoles:
    """The fields with values by what they hold. Columns of rows are left out."""

    def __init__(
        self,
        schema: Schema,
        vocabularies: Mapping[FieldName, FieldVocabulary],
        is_identifying: Callable[[FieldName], bool],
    ) -> None:
        self._fields = [field for field in schema.fields if field.name in vocabularies]
        self._vocabularies = vocabularies
        self._is_identifying = is_identifying

    @cached_property
    def persons(self) -> tuple[FieldName, ...]:
        """Fields that name a person, by a noun for one ("owner"), by "by" ("approved by"), or by their values."""
        return self._names_where(lambda field: field.type in _NAMING_TYPES and self._names_person(field))

    @cached_property
    def people(self) -> tuple[FieldName, ...]:
        """Fields with persons, first one that identifies the documents: the tenants of a list of tenancies.

        The last word of the label says what the values are: a "staff house" is no person.
        """
        named = self._names_where(
            lambda field: (
                field.type in _NAMING_TYPES
                and (
                    (fold_text(field.label).split() or [""])[-1] in PERSON_NOUNS | {"by"}
                    or (self._has_person_values(field) and field.name not in self.places)
                )
            )
        )
        return tuple(sorted(named, key=lambda name: not self._is_identifying(name)))

    @cached_property
    def parties(self) -> tuple[FieldName, ...]:
        """Categories with names of somebody or something, which are not places: firms, makers, owners."""
        return self._names_where(
            lambda field: (
                field.type is FieldType.CATEGORY
                and field.name not in self.places
                and not _label_words_of(field) & _KIND_WORDS
                and self._has_proper_names(field)
                and not self._is_identifying(field.name)
                and all(value.value[:1].isupper() for value in self._vocabularies[field.name].values[:_SAMPLED_VALUES])
                and not any(value.value.isupper() for value in self._vocabularies[field.name].values[:_SAMPLED_VALUES])
            )
        )

    @cached_property
    def holds_people(self) -> bool:
        """Whether the documents are people: they have a first and a last name, or the names of persons beside a birth
        date, a salary or the like.
        """
        if self._has_split_names():
            return True
        names = (
            field
            for field in self._fields
            if field.type in _NAMING_TYPES and self._is_identifying(field.name) and not self.has_codes(field)
        )
        own_name = next(names, None)  # a contact behind the name of a firm is not what the row is
        if own_name is None or own_name.name in self.places or not self._has_person_values(own_name):
            return False
        return any(_words_of(field) & _PERSON_ATTRIBUTES for field in self._fields)

    def has_codes(self, field: SchemaField) -> bool:
        """Whether most values hold a digit, as numbers of employees do."""
        values = [value.value for value in self._vocabularies[field.name].values[:_SAMPLED_VALUES]]
        return 2 * sum(any(map(str.isdigit, value)) for value in values) > len(values)

    def _has_split_names(self) -> bool:
        """Whether one column has first names and another last names, and no column says whose they are."""
        labels = {" ".join(fold_text(field.label).split()) for field in self._fields if field.type in _NAMING_TYPES}
        return not labels.isdisjoint(_FIRST_NAME_LABELS) and not labels.isdisjoint(_LAST_NAME_LABELS)

    @cached_property
    def places(self) -> tuple[FieldName, ...]:
        return self._names_where(lambda field: field.type in _NAMING_TYPES and self._names_place(field))

    def fields_of_role(self, noun: str) -> tuple[FieldName, ...]:
        """ "Branch", "people": returns the fields for places if the noun is one for a place, or those for persons."""
        forms = {noun, noun.removesuffix("s"), noun.removesuffix("es")}
        if forms & PLACE_NOUNS:
            called = self._names_where(lambda field: bool(_label_words_of(field) & PLACE_NOUNS))
            return tuple(name for name in self.places if name in called) or self.places
        return self.persons if forms & (PERSON_NOUNS | {"people"}) else ()

    @cached_property
    def dates(self) -> tuple[FieldName, ...]:
        return self._names_where(lambda field: field.type is FieldType.DATE)

    @cached_property
    def clock_times(self) -> tuple[FieldName, ...]:
        """Categories whose values are times of day: "18:00", "6.30 pm"."""
        return self._names_where(lambda field: field.type in _NAMING_TYPES and self._has_clock_times(field))

    def _has_clock_times(self, field: SchemaField) -> bool:
        values = [value.value for value in self._vocabularies[field.name].values[:_SAMPLED_VALUES]]
        return bool(values) and sum(_CLOCK_TIME.fullmatch(value) is not None for value in values) >= _NAME_SHARE * len(
            values
        )

    @cached_property
    def years(self) -> tuple[FieldName, ...]:
        """Numbers that are years, by their values: "founded"."""
        return self._names_where(lambda field: field.type is FieldType.NUMBER and self._holds_years(field))

    def _holds_years(self, field: SchemaField) -> bool:
        low, high = self._vocabularies[field.name].low, self._vocabularies[field.name].high
        if field.unit or not isinstance(low, (int, float)) or not isinstance(high, (int, float)):
            return False
        return _FIRST_YEAR <= low <= high <= _LAST_YEAR

    @cached_property
    def births(self) -> tuple[FieldName, ...]:
        return self._names_where(lambda field: field.type is FieldType.DATE and bool(_words_of(field) & BIRTH_WORDS))

    @cached_property
    def amounts(self) -> tuple[FieldName, ...]:
        """Money fields; the total alone, if one of them is called so, and none that is only a part of another."""
        return self.main_amounts_among(self._names_where(lambda field: field.type is FieldType.MONEY))

    @cached_property
    def sums_of_money(self) -> tuple[FieldName, ...]:
        """The amounts, or else numbers that are called so: "Amount" without a currency."""
        return self.amounts or self.main_amounts_among(
            self._names_where(
                lambda field: (
                    field.type is FieldType.NUMBER and not field.unit and bool(_label_words_of(field) & _AMOUNT_NAMES)
                )
            )
        )

    @cached_property
    def amounts_without_currency(self) -> frozenset[FieldName]:
        """The numbers that are called as amounts are, in a table that says no currency."""
        if self._names_where(lambda field: field.type is FieldType.MONEY):
            return frozenset()
        return frozenset(
            self._names_where(
                lambda field: (
                    field.type is FieldType.NUMBER
                    and not field.unit
                    and bool(_label_words_of(field) & (_AMOUNT_NAMES | _PART_AMOUNT_NAMES))
                )
            )
        )

    @cached_property
    def main_amounts(self) -> frozenset[FieldName]:
        """The amounts, with a currency or without, that are what the whole record costs or earns."""
        return frozenset(self.amounts or self.main_amounts_among(self.amounts_without_currency))

    def main_amounts_among(self, names: Iterable[FieldName]) -> tuple[FieldName, ...]:
        """Returns the amounts whose names say that they are the whole; all if the names do not tell."""
        allowed = set(names)
        ranks = {
            field.name: rank_amount_name(_label_words_of(field)) for field in self._fields if field.name in allowed
        }
        return tuple(name for name, rank in ranks.items() if rank == max(ranks.values()))

    @cached_property
    def durations(self) -> tuple[FieldName, ...]:
        return self.fields_in_units(_TIME_UNITS) or self._names_where(
            lambda field: (
                field.type is FieldType.NUMBER and not field.unit and bool(_label_words_of(field) & _DURATION_NOUNS)
            )
        )

    @cached_property
    def ranks(self) -> tuple[FieldName, ...]:
        return self._names_where(lambda field: field.type is FieldType.NUMBER and bool(_words_of(field) & _RANK_NOUNS))

    @cached_property
    def numbers(self) -> tuple[FieldName, ...]:
        """Numbers and amounts that can be compared; no codes, years or coordinates."""
        return self._names_where(
            lambda field: (
                field.type in _NUMERIC_TYPES
                and not _label_words_of(field) & _COORDINATE_NOUNS
                and field.name not in self.codes
            )
        )

    def fields_of_words(self, words: frozenset[str]) -> tuple[FieldName, ...]:
        """Returns the numbers and amounts whose label has one of the words."""
        return tuple(name for name in self.numbers if words & _split_words(name))

    @cached_property
    def codes(self) -> tuple[FieldName, ...]:
        """Numbers that only name something, by the last word of their labels: "their inv", "phone ext"."""
        return self._names_where(
            lambda field: field.type is FieldType.NUMBER and not field.unit and _ends_in_code_noun(field)
        )

    @cached_property
    def sizes(self) -> tuple[FieldName, ...]:
        """Fields for an extent: an area, a length, a weight, or a number of things."""
        measured = {*self.fields_in_units(_SIZE_UNITS)}
        return self._names_where(
            lambda field: (
                field.name in measured
                or (
                    field.type is FieldType.NUMBER
                    and not field.unit
                    and field.name in self.numbers
                    and not _words_of(field) & (RATE_NOUNS - {"size"} | _DURATION_NOUNS)
                )
            )
        )

    def fields_in_units(self, units: Iterable[str]) -> tuple[FieldName, ...]:
        """Returns the fields of the first dimension that any field has."""
        for unit in units:
            found = self._names_where(
                lambda field, unit=unit: bool(field.unit) and convert_unit(Decimal(1), unit, field.unit) is not None
            )
            if found:
                return found
        return ()

    def fields_of_family(self, word: str, among: Iterable[FieldName] | None = None) -> tuple[FieldName, ...]:
        """ "Inspected": returns the fields that a word of its family names ("inspector"); else describes."""
        root = root_of_word(word)
        if len(root) < _MIN_ROOT_LETTERS or word in STOP_WORDS:
            return ()
        allowed = None if among is None else set(among)
        for fields_by_root in self._fields_by_root:
            found = tuple(name for name in fields_by_root.get(root, ()) if allowed is None or name in allowed)
            if found:
                return found
        return ()

    @cached_property
    def _fields_by_root(self) -> tuple[Mapping[str, tuple[FieldName, ...]], ...]:
        """The fields by the roots of their labels, of their synonyms, and of their descriptions."""
        return (
            self._index_roots(lambda field: f"{field.label} {field.name}"),
            self._index_roots(lambda field: " ".join(field.plain_synonyms)),
            self._index_roots(lambda field: field.description),
        )

    def _index_roots(self, text_of: Callable[[SchemaField], str]) -> Mapping[str, tuple[FieldName, ...]]:
        fields: dict[str, dict[FieldName, None]] = defaultdict(dict)
        for field in self._fields:
            for word in _split_words(text_of(field)) - STOP_WORDS - FILLER_WORDS:
                fields[root_of_word(word)][field.name] = None
        return {root: tuple(names) for root, names in fields.items()}

    def _names_where(self, accepts: Callable[[SchemaField], bool]) -> tuple[FieldName, ...]:
        return tuple(field.name for field in self._fields if accepts(field))

    def _names_person(self, field: SchemaField) -> bool:
        label_words = fold_text(field.label).split()
        if self._is_identifying(field.name) and not (set(label_words) & PERSON_NOUNS and self._follows_key(field)):
            return False
        if label_words[-1:] == ["by"] or set(label_words) & PERSON_NOUNS or tuple(label_words) in _LABELS_OF_HOLDERS:
            return True
        return field.name not in self.places and self._has_person_values(field)  # "Castle Street" is not a person

    def _names_place(self, field: SchemaField) -> bool:
        """Whether the label has a noun for a place, or a synonym of it has and the label names no party and no state:
        one buys of a vendor and at a shop, but nothing is kept there.
        """
        label_words = _label_words_of(field)
        is_other = bool(label_words & (PARTY_NOUNS | _KIND_WORDS))
        return bool(label_words & PLACE_NOUNS) or (not is_other and bool(_words_of(field) & PLACE_NOUNS))

    def _follows_key(self, field: SchemaField) -> bool:
        """Whether an earlier field identifies the documents too: "Owner" behind "Berth" names nobody's record."""
        earlier = self._fields[: self._fields.index(field)]
        return any(other.type in _NAMING_TYPES and self._is_identifying(other.name) for other in earlier)

    def _has_proper_names(self, field: SchemaField) -> bool:
        """Whether most values of several words end in a capitalised word: "Strand Electrical", not "Motor cruiser"."""
        values = [value.value.split() for value in self._vocabularies[field.name].values[:_SAMPLED_VALUES]]
        endings = [words[-1][:1] for words in values if len(words) > 1]
        return not endings or 2 * sum(map(str.isupper, endings)) >= len(endings)

    def _has_person_values(self, field: SchemaField) -> bool:
        values = [value.value for value in self._vocabularies[field.name].values[:_SAMPLED_VALUES]]
        return bool(values) and sum(map(_looks_like_person, values)) >= _NAME_SHARE * len(values)


def _looks_like_person(value: str) -> bool:
    """Whether the value is two to four capitalised words, as names of persons are; the last name may come first."""
    words = (value.replace(",", " ") if value.count(",") == 1 else value).replace(".", ". ").split()
    return _MIN_NAME_WORDS <= len(words) <= _MAX_NAME_WORDS and all(
        word[:1].isupper() and word.strip(".-'’").replace("-", "").replace("'", "").replace("’", "").isalpha()
        for word in words
    )


def _words_of(field: SchemaField) -> set[str]:
    return _split_words(" ".join((field.label, field.name, *field.plain_synonyms)))


def _ends_in_code_noun(field: SchemaField) -> bool:
    words = field.label.casefold().split()
    return bool(words) and words[-1] in _CODE_NOUNS


def _label_words_of(field: SchemaField) -> set[str]:
    return _split_words(f"{field.label} {field.name}")


def _split_words(text: str) -> set[str]:
    return set(fold_text(text).replace("_", " ").replace("-", " ").replace("/", " ").replace(",", " ").split())
