"""Makes fields of the labels that recur in a bucket's documents."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from storage.ingest.extract.labels.document_kinds import (
    is_kind_label,
    nouns_of_kinds,
    read_alternating_kinds,
    select_recurring_kinds,
)
from storage.ingest.extract.labels.forms.letter_parts import DATE_LABEL
from storage.ingest.extract.labels.kind_labels import WRITTEN_KIND_KEYS, LabelsByKind
from storage.ingest.extract.labels.label_joining import (
    header_key_of,
    join_labels,
    share_a_kind,
    stemmed_words_of,
    words_of_label,
)
from storage.ingest.extract.labels.labelled_texts import LabelledText, is_label, label_key_of
from storage.ingest.extract.labels.plain_values import plain_value_of
from storage.ingest.extract.labels.prose_values import is_function_word, says_little
from storage.ingest.extract.labels.recurring_labels import LabelTally, RecurringLabel
from storage.ingest.extract.labels.template_matching import match_templates
from storage.ingest.extract.labels.value_members import are_lists_of_people, members_of
from storage.ingest.schemas.inference import currency_suffix_of, infer_schema
from storage.ingest.schemas.literals import is_free_of_charge, is_missing_value, is_open_end
from storage.ingest.schemas.profile import ValueProfile, add_to_profiles
from storage.ingest.schemas.values import RawValue, field_name_for
from storage.quantities.days import detect_day_first, parse_date
from storage.quantities.money import parse_money
from storage.quantities.numbers import parse_number
from storage.quantities.units import parse_quantity, parse_unit
from storage.search.conditions import RESERVED_FIELDS
from storage.search.ids import BucketId, FieldName
from storage.search.schema import FieldType, Schema, SchemaField

_MIN_FLAG_SHARE = 0.9  # of the documents that say yes or no; else an absent flag would mean no
_MIN_COUNT_SHARE = 0.9  # of the values that are a number with the same noun
_COUNT_WITH_NOUN = re.compile(r"(?P<number>\d{1,6})(?:\s+(?P<noun>[^\W\d_]{3,20}?)s?)?")
_HEADER_TITLES = {"sender": "Sender", "recipient": "Recipient", "subject": "Subject", "date": "Date"}
_MAX_FIELDS = 80
_MEASURES = (("day",), ("money", "number"), ("quantity", "number"))
_MIN_MEASURED, _MIN_MEASURED_SHARE = 3, 0.7  # values of a measure from which the others are misread
_MIN_CERTAIN_SHARE = 0.5  # of the days that can be read in one way only
_MIN_TITLE_SHARE = 0.3  # of the documents with the commonest label that must have the one in the title
_MAX_ACRONYM_LETTERS = 3  # `VAT` stays in capitals
_SCRATCH_BUCKET = BucketId("labels")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledField:
    """A field of one or several labels. `values_by_document` has the raw value of each document that has a label."""

    name: FieldName
    labels: tuple[str, ...]  # the commonest first
    title: str
    values_by_document: Mapping[int, RawValue]
    is_kind: bool = False
    kinds: frozenset[str] = frozenset()  # of the documents that have it; empty: all


@dataclass(frozen=True, slots=True)
class LabelledFields:
    """The fields found in a bucket's texts, with profiles of their values by name."""

    fields: Sequence[LabelledField] = ()
    document_count: int = 0  # documents that were read
    profiles: Mapping[FieldName, ValueProfile] = field(default_factory=dict[FieldName, ValueProfile])
    nouns: Sequence[str] = ()  # for the documents, by the kind that most headings give
    # the kinds whose texts label a field that the bucket has already; None: all
    kinds_of_taken: Mapping[FieldName, frozenset[str] | None] = field(
        default_factory=dict[FieldName, "frozenset[str] | None"]
    )

    def add_details(self, schema: Schema) -> Schema:
        """Returns the schema, inferred from the profiles, with labels, notations and kinds; one currency is fixed."""
        by_name = {labelled.name: labelled for labelled in self.fields}
        detailed = [
            self._with_details(schema_field, by_name[schema_field.name])
            if schema_field.name in by_name
            else schema_field
            for schema_field in schema.fields
        ]
        dropped = {schema_field.currency_field for schema_field in schema.fields if schema_field.currency_field}
        kept = {schema_field.currency_field for schema_field in detailed if schema_field.currency_field}
        generated = dropped - kept - self.profiles.keys()
        detailed = _with_label_synonyms(detailed)
        names = {label_key_of(word) for each in detailed for word in (each.name, *each.synonyms)}
        nouns = [noun for noun in self.nouns if noun not in schema.synonyms and noun not in names]
        fields = tuple(each for each in detailed if each.name not in generated)
        return replace(schema, fields=fields, synonyms=(*schema.synonyms, *nouns))

    def _with_details(self, schema_field: SchemaField, labelled: LabelledField) -> SchemaField:
        profile = self.profiles[labelled.name]
        title = labelled.title if not schema_field.unit else schema_field.title
        detailed = replace(schema_field, labels=labelled.labels, title=title)
        if schema_field.type is FieldType.DATE:
            return replace(detailed, month_first=profile.notation_style.day_first is False)
        if schema_field.type is FieldType.MONEY and schema_field.currency_field and len(profile.currencies) == 1:
            return replace(detailed, currency=next(iter(profile.currencies)), currency_field=None)
        if schema_field.type is FieldType.FLAG and profile.value_count < _MIN_FLAG_SHARE * self.document_count:
            return replace(detailed, type=FieldType.CATEGORY, values={}, facet=True)
        if labelled.is_kind:
            return replace(
                detailed, values={kind: schema_field.values.get(kind, ()) for kind in sorted(profile.samples)}
            )
        return detailed


def _with_label_synonyms(fields: Sequence[SchemaField]) -> list[SchemaField]:
    """Returns the fields with the labels beside their title as synonyms, without words that say too little."""
    claims = Counter(key for each in fields for key in {label_key_of(label) for label in each.labels})
    names = Counter(
        label_key_of(word) for each in fields for word in {each.name, each.label, *map(label_key_of, each.synonyms)}
    )

    def add_labels(each: SchemaField) -> SchemaField:
        own = {label_key_of(word) for word in (each.name, each.label, *each.synonyms)}
        keys = dict.fromkeys(label_key_of(label) for label in each.labels)
        added = [key for key in keys if key not in own and claims[key] == 1 and not names[key] and not says_little(key)]
        return replace(each, synonyms=(*each.synonyms, *added)) if added else each

    return list(map(add_labels, fields))


def fields_of_labels(
    tally: LabelTally,
    taken_names: Collection[str] = (),
    kind_by_document: Mapping[int, str] | None = None,
    *,
    are_of_one_kind: bool = False,
) -> LabelledFields:
    """Returns the fields of the labels that recur. `taken_names` are names of fields that the bucket has already.

    With `kind_by_document`, labels that recur in the documents of a kind become fields of this kind. The documents get
    no field for their kind if they have one, or if they are all of one kind.
    """
    taken = {stemmed_words_of(label_key_of(name.replace("_", " "))): FieldName(name) for name in taken_names}
    by_kind = LabelsByKind(tally, kind_by_document or {})
    recurring = read_alternating_kinds(
        [label for label in by_kind.recurring_labels() if label.key not in RESERVED_FIELDS]
    )
    if kind_by_document:
        recurring = [label for label in recurring if not is_kind_label(label) and label.key not in WRITTEN_KIND_KEYS]
    nouns = () if kind_by_document else nouns_of_kinds(recurring, tally.document_count)
    if are_of_one_kind:
        recurring = [label for label in recurring if not is_kind_label(label)]
    rare = tally.rare_labels(label.key for label in recurring)
    label_fields = _LabelFields()
    groups = match_templates(
        join_labels(recurring, rare, label_fields.field_of, by_kind.kinds_of),
        lambda label: label_fields.field_of(label)[0],
        words_of_label,
        lambda group, others: all(share_a_kind(label, others, by_kind.kinds_of) for label in group),
    )
    found = [
        replace(labelled, kinds=frozenset[str]().union(*map(by_kind.kinds_of, group)))
        for group in groups
        if (labelled := _field_of_group(group, tally.document_count))
    ]
    fields = [labelled for labelled in found if stemmed_words_of(label_key_of(labelled.title)) not in taken]
    kinds_of_taken = {
        taken[words]: labelled.kinds or None
        for labelled in found
        if (words := stemmed_words_of(label_key_of(labelled.title))) in taken
    }
    chosen = sorted(fields, key=lambda labelled: -len(labelled.values_by_document))[:_MAX_FIELDS]
    shown = sorted((labelled for labelled in fields if labelled in chosen), key=lambda each: each.title != DATE_LABEL)
    named = list(_with_unique_names(shown, taken_names))  # the document's own date first: it is the natural order
    return LabelledFields(named, tally.document_count, _profiles_of(named), nouns, kinds_of_taken)


class _LabelFields:
    """The field that each label would be by itself; computed once."""

    def __init__(self) -> None:
        self._fields = dict[str, tuple[SchemaField, ValueProfile]]()

    def field_of(self, label: RecurringLabel) -> tuple[SchemaField, ValueProfile]:
        if label.key not in self._fields:
            name = field_name_for(label.spelling)
            profiles = dict[FieldName, ValueProfile]()
            for value in _raw_values([label]).values():
                add_to_profiles({name: value}, profiles)
            schema = infer_schema(_SCRATCH_BUCKET, profiles)
            self._fields[label.key] = schema.by_name[name], profiles[name]
        return self._fields[label.key]


def _profiles_of(fields: Sequence[LabelledField]) -> dict[FieldName, ValueProfile]:
    profiles = dict[FieldName, ValueProfile]()
    for labelled in fields:
        for value in labelled.values_by_document.values():
            add_to_profiles({labelled.name: value}, profiles)
    return profiles


def _field_of_group(group: Sequence[RecurringLabel], document_count: int) -> LabelledField | None:
    values, is_kind = _raw_values(group), is_kind_label(group[0])
    if is_kind:
        values = select_recurring_kinds(group[0], values, document_count)
    if not values:
        return None
    header = _HEADER_TITLES.get(header_key_of(group[0]))
    title = header or _title_of(_clearest_label_of(group).spelling)
    labels = tuple(dict.fromkeys(label.spelling for label in group))
    return LabelledField(
        name=field_name_for(title), labels=labels, title=title, values_by_document=values, is_kind=is_kind
    )


def _clearest_label_of(group: Sequence[RecurringLabel]) -> RecurringLabel:
    """Returns the commonest label; of a joined group the commonest that is more than "From", "No." or "Who rents"."""
    least = _MIN_TITLE_SHARE * len(group[0].texts_by_document)
    usual = (label for label in group if len(label.texts_by_document) >= least)
    return next((label for label in usual if not is_function_word(label.key) and is_label(label.spelling)), group[0])


def _title_of(spelling: str) -> str:
    """Returns a label as a title: `MONTHLY RENT` and `monthly_rent` are `Monthly rent`."""
    words = spelling.replace("_", " ").strip()
    is_shouted = words.isupper() and sum(map(str.isalpha, words)) > _MAX_ACRONYM_LETTERS
    words = words.lower() if is_shouted else words
    return words[:1].upper() + words[1:]


def _raw_values(group: Sequence[RecurringLabel]) -> dict[int, RawValue]:
    """Returns the value of each document as metadata would have it."""
    texts_by_document: dict[int, Sequence[LabelledText]] = {}
    for label in group:
        texts_by_document.update(label.texts_by_document)
    are_lists = _are_lists(group, [texts[0] for texts in texts_by_document.values()])
    values: dict[int, RawValue] = {
        document: _members_in(texts) if are_lists else _with_currency(plain_value_of(texts[0].text), texts[0].label)
        for document, texts in sorted(texts_by_document.items())
    }
    given = {document: value for document, value in values.items() if value and not _is_missing(value)}
    return given if are_lists else _as_certain_days(_without_misreadings(_counts_of_nouns(given)))


def _as_certain_days(values: dict[int, RawValue]) -> dict[int, RawValue]:
    """Returns days such as `05/12/2031` as they are read, the day first, where most other values are certain days.

    If the month is first in a value, all stay as they are.
    """
    days = {document: parse_date(str(value), day_first=True) for document, value in values.items()}
    certain = [document for document, value in values.items() if parse_date(str(value)) is not None]
    is_month_first = any(detect_day_first(str(value)) is False for value in values.values())
    if is_month_first or len(certain) < _MIN_CERTAIN_SHARE * len(values):
        return values
    return {document: day.isoformat() if (day := days[document]) else value for document, value in values.items()}


def _without_misreadings(values: dict[int, RawValue]) -> dict[int, RawValue]:
    """Returns the values without the few that are not days, amounts or numbers where most are: these were misread."""
    measures = {document: _measure_in(value) for document, value in values.items()}
    for kinds in _MEASURES:
        fitting = {document: value for document, value in values.items() if measures[document] in kinds}
        if len(fitting) >= max(_MIN_MEASURED, _MIN_MEASURED_SHARE * len(values)):
            return {
                document: value for document, value in values.items() if document in fitting or _is_word_of_value(value)
            }
    return values


def _measure_in(value: RawValue) -> str | None:
    """Returns what a value is measured in: "day", "money", "quantity" or "number"; None for words."""
    text = str(value)
    if parse_date(text, day_first=True) or parse_date(text, day_first=False):
        return "day"
    if parse_number(text) is not None:
        return "number"
    if parse_money(text) is not None:
        return "money"
    return "quantity" if parse_quantity(text) is not None else None


def _is_word_of_value(value: RawValue) -> bool:
    return isinstance(value, str) and (is_free_of_charge(value) or is_open_end(value))


def _with_currency(plain: str, label: str) -> str:
    """Returns a bare number of a label such as `Fee (EUR)` with the currency, which other labels of the field lack."""
    currency = currency_suffix_of(label)
    return f"{plain} {currency}" if currency and parse_number(plain) is not None else plain


def _is_missing(value: RawValue) -> bool:
    return isinstance(value, str) and is_missing_value(value)


def _are_lists(group: Sequence[RecurringLabel], first_texts: Sequence[LabelledText]) -> bool:
    values = [plain_value_of(labelled.text) for labelled in first_texts]
    if sum(_measure_in(value) is not None for value in values) >= _MIN_MEASURED_SHARE * len(values):
        return False
    has_items = any(labelled.items for labelled in first_texts)
    is_repeated = any(label.is_repeated for label in group)
    return has_items or is_repeated or are_lists_of_people(labelled.text for labelled in first_texts)


def _members_in(texts: Sequence[LabelledText]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(member for labelled in texts for member in labelled.items or members_of(labelled.text)))


def _counts_of_nouns(values: dict[int, RawValue]) -> dict[int, RawValue]:
    """Returns `3 bedrooms` as 3 where nearly all values are a number of the same things."""
    matches = {document: _COUNT_WITH_NOUN.fullmatch(str(value)) for document, value in values.items()}
    nouns = Counter(
        match["noun"] for match in matches.values() if match and match["noun"] and _is_no_unit(match["noun"])
    )
    noun = nouns.most_common(1)[0][0] if nouns else ""
    fitting = {
        document: int(match["number"]) for document, match in matches.items() if match and match["noun"] in (noun, None)
    }
    return {**values, **fitting} if noun and len(fitting) >= _MIN_COUNT_SHARE * len(values) else values


def _is_no_unit(noun: str) -> bool:
    return parse_unit(noun) is None and parse_unit(f"{noun}s") is None and parse_money(f"1 {noun}s") is None


def _with_unique_names(fields: Sequence[LabelledField], taken_names: Collection[str]) -> Iterator[LabelledField]:
    used = set[str](taken_names)
    for labelled in fields:
        name, copy = labelled.name, 1
        while name in used:
            copy += 1
            name = FieldName(f"{labelled.name[:90]} {copy}")
        used.add(name)
        yield replace(labelled, name=name)
